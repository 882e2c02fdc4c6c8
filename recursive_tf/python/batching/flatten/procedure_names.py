"""What flat procedures are called.

A program is compiled once for all that are equal to it, whatever their SubGraphs are
called. So these names are no part of what was compiled.
"""

from collections.abc import Sequence

from recursive_tf.python.batching.flatten.branch_names import unique_among
from recursive_tf.python.batching.flatten.flat_program import FlatProcedure


def procedure_names(
    procedures: Sequence[FlatProcedure], subgraphs: Sequence[str]
) -> list[str]:
    """Returns the name of each procedure, e.g. "tree_lstm/internal".

    Args:
        procedures: Of a program; those of the SubGraphs first.
        subgraphs: What these are called.
    """
    numbers = {procedure: number for number, procedure in enumerate(procedures)}
    names: dict[FlatProcedure, str] = {}
    taken = set(subgraphs)

    def named(procedure: FlatProcedure) -> str:
        if procedure not in names:
            names[procedure] = new_name_of(procedure)
            taken.add(names[procedure])
        return names[procedure]

    def new_name_of(procedure: FlatProcedure) -> str:
        if procedure.around is None:
            return subgraphs[numbers[procedure]]
        return unique_among(taken, f"{named(procedure.around)}/{procedure.part}")

    return list(map(named, procedures))
