"""What blocks are called: for people, and where a policy knows them again."""

import dataclasses
import pathlib
from collections.abc import Sequence

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.branch_names import unique_among
from recursive_tf.python.batching.flatten.flat_program import FlatProcedure
from recursive_tf.python.batching.flatten.procedure_names import procedure_names
from recursive_tf.python.batching.plan.blocks import Block


@dataclasses.dataclass(frozen=True)
class Names:
    """What the parts of a compiled program are called, of whichever SubGraphs it is.

    Attributes:
        procedures: Each flat procedure: its SubGraph, with the branch.
        blocks: Each block: its procedure and a line of the user's code, e.g.
            "tree_lstm/internal recursive.py:24"; no two are the same.
        places: Each block: its procedure and the stage of it, e.g.
            "tree_lstm/internal 1"; no two are the same. Another definition of the same
            program has the same, wherever in a file it stands.
    """

    procedures: list[str]
    blocks: list[str]
    places: list[str]


def names_of(
    procedures: Sequence[FlatProcedure],
    blocks: Sequence[Block],
    subgraphs: Sequence[str],
) -> Names:
    """Returns what the parts of a program are called.

    Args:
        procedures: Of the program; those of the SubGraphs first.
        blocks: Of the program.
        subgraphs: What the SubGraphs are called.
    """
    found = procedure_names(procedures, subgraphs)
    name_of = dict(zip(procedures, found, strict=True))
    names: list[str] = []
    places: list[str] = []
    for block in blocks:
        procedure = name_of[block.procedure]
        names.append(unique_among(names, f"{procedure} {_line_of(block)}"))
        places.append(unique_among(places, f"{procedure} {block.stage}"))
    return Names(found, names, places)


def _line_of(block: Block) -> str:
    places = map(tf_compat.place_in_user_code, block.ops)
    place = next(filter(None, places), None)
    # Of a program that was loaded, no line is known.
    return f"stage {block.stage}" if place is None else pathlib.PurePath(place).name
