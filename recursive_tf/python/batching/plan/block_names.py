"""What blocks are called: for people, and where a policy knows them again."""

import pathlib
from collections.abc import Sequence

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.flatten.branch_names import unique_among
from recursive_tf.python.batching.plan.blocks import Block


def block_names(blocks: Sequence[Block]) -> list[str]:
    """Returns for each block its procedure and a line of the user's code.

    E.g. "tree_lstm/internal recursive.py:24"; no two are the same.
    """
    names: list[str] = []
    for block in blocks:
        names.append(unique_among(names, _name_of(block)))
    return names


def block_places(blocks: Sequence[Block]) -> list[str]:
    """Returns for each block its procedure and the stage of it.

    E.g. "tree_lstm/internal 1"; no two are the same. Another definition of the same
    program has the same, wherever in a file it stands.
    """
    places: list[str] = []
    for block in blocks:
        place = f"{block.procedure.name} {block.stage}"
        places.append(unique_among(places, place))
    return places


def _name_of(block: Block) -> str:
    places = map(tf_compat.place_in_user_code, block.ops)
    place = next(filter(None, places), None)
    # Of a program that was loaded, no line is known.
    where = f"stage {block.stage}" if place is None else pathlib.PurePath(place).name
    return f"{block.procedure.name} {where}"
