"""What may be used where a statement of a random program stands."""

from __future__ import annotations

import dataclasses
from typing import Any

from tests.properties.syntax import Expression, Header, Var


@dataclasses.dataclass
class Scope:
    """What may be used where a statement stands.

    Attributes:
        header: The SubGraph's.
        node: Its node.
        fuel: What it counts down, if it does.
        callable: The SubGraphs that may be called here.
        children: Those of the node that may be handed to a call.
        num_known: How many children the node has at least.
        num_given: How many of the node's children this scope, or one within it, had.
        tables: What may still be pushed.
        helpers: Which SubGraphs that do not recurse may still be called.
        nesting: In how many branches and loops this is.
        may_define: A SubGraph may be defined here.
    """

    header: Header
    node: Var
    fuel: Var | None
    variables: list[Var]
    growing: set[str]
    callable: dict[str, Header]
    children: list[Expression]
    num_known: int
    tables: list[str]
    helpers: list[str]
    nesting: int
    may_define: bool
    num_given: int = 0

    def inside(self, **changes: Any) -> Scope:
        """Returns the scope of a branch."""
        copies = {
            "variables": list(self.variables),
            "growing": set(self.growing),
            "callable": dict(self.callable),
            "children": list(self.children),
            "tables": list(self.tables),
            "helpers": list(self.helpers),
            "nesting": self.nesting + 1,
        }
        return dataclasses.replace(self, **{**copies, **changes})

    def keep_what_is_left_in(self, branches: list[Scope]) -> None:
        """What one branch uses up is used up after the conditional."""
        for name in ("children", "tables", "helpers"):
            left = [getattr(branch, name) for branch in branches]
            own = getattr(self, name)
            setattr(self, name, [x for x in own if all(x in other for other in left)])
        self.num_given = max(branch.num_given for branch in branches)
