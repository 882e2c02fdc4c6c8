"""The language of the random programs: recursive, typed, and with nothing hidden.

A program is several SubGraphs that walk over a forest, or count down fuel, with what
they capture. The same program is text for the library (`source.py`), and steps for the
oracle (`oracle.py`), which share nothing but this file and `operations.py`.

Every SubGraph takes a node first, one that counts down its fuel next, then its inputs.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

FLOATS = ("float32", "float64", "float16", "bfloat16")
COARSE = ("float16", "bfloat16")
# The complex numbers of two floats.
COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}
INTEGERS = ("int32", "int64")


@dataclasses.dataclass(frozen=True)
class Type:
    """A dtype and a static shape; a dimension None is unknown while tracing."""

    dtype: str
    shape: tuple[int | None, ...] = ()

    @property
    def is_differentiable(self) -> bool:
        """Says whether it may have a gradient."""
        return self.dtype in FLOATS or self.is_complex

    @property
    def is_complex(self) -> bool:
        """Says whether it has two floats for each number."""
        return self.dtype in COMPLEX_OF.values()


INT32, BOOL = Type("int32"), Type("bool")


# --- Expressions: they call nothing, and fail nowhere


@dataclasses.dataclass(frozen=True)
class Var:
    """An input, a result, a capture, or the data of a forest."""

    name: str
    type: Type


@dataclasses.dataclass(frozen=True)
class Const:
    """A number, as often as the shape says; an unknown dimension is one long."""

    value: Any
    type: Type


@dataclasses.dataclass(frozen=True)
class Apply:
    """One of `operations.OPERATIONS`."""

    operation: str
    args: tuple[Expression, ...]
    type: Type


Expression = Var | Const | Apply


# --- Statements


@dataclasses.dataclass(frozen=True)
class Block:
    """Statements, and what they are for. A body, a branch, or a step of a loop."""

    statements: tuple[Statement, ...]
    results: tuple[Expression, ...]


@dataclasses.dataclass(frozen=True)
class Let:
    """Gives a value a name, so that it may be used many times."""

    target: Var
    value: Expression


@dataclasses.dataclass(frozen=True)
class Call:
    """Invokes a SubGraph.

    Attributes:
        targets: One for each output of the callee.
        child: Which child of this node it is for; None is this node.
        fuel: What a callee that counts down gets.
    """

    targets: tuple[Var, ...]
    callee: str
    child: Expression | None
    fuel: Expression | None
    args: tuple[Expression, ...]


@dataclasses.dataclass(frozen=True)
class Map:
    """Invokes a SubGraph for each child of this node, and adds up what that gives.

    Attributes:
        targets: One for each output of the callee: a sum, of booleans whether any is.
        is_loop: It is a `tf.map_fn` of a function that only calls, else a `.map`.
        fuel: What each invocation gets, if the callee counts down.
        args: The same for each child.
    """

    targets: tuple[Var, ...]
    callee: str
    is_loop: bool
    fuel: Expression | None
    args: tuple[Expression, ...]


@dataclasses.dataclass(frozen=True)
class Conditional:
    """A `tf.cond` if `selector` is a bool, else a `tf.switch_case`.

    Branches are in the order of the selector: the one for False is first.
    """

    targets: tuple[Var, ...]
    selector: Expression
    branches: tuple[Block, ...]


@dataclasses.dataclass(frozen=True)
class Loop:
    """A `tf.while_loop` that runs `step` for each `index` below `count`."""

    targets: tuple[Var, ...]
    index: Var
    count: Expression
    carried: tuple[Var, ...]
    start: tuple[Expression, ...]
    step: Block


@dataclasses.dataclass(frozen=True)
class Push:
    """Makes a value the row of this node in a table."""

    table: str
    value: Expression


@dataclasses.dataclass(frozen=True)
class Draw:
    """Draws numbers at random, which are the row of this node in a table, too."""

    target: Var
    table: str


@dataclasses.dataclass(frozen=True)
class Count:
    """An effect: adds one to a variable that is read after the root call."""


@dataclasses.dataclass(frozen=True)
class Define:
    """Defines a SubGraph here, with what is here as its captures."""

    subgraph: SubGraph


Statement = Let | Call | Map | Conditional | Loop | Push | Draw | Count | Define


# --- Programs


@dataclasses.dataclass(frozen=True)
class Nest:
    """How values stand in a structure: its Python text, and the way to each value."""

    text: str
    paths: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Header:
    """What a call has to know of a SubGraph.

    Attributes:
        kind: "tree" recurses to children, "fuel" counts down, "plain" does not recurse,
            "shared" recurses to children and is memoized: one invocation a node, and
            for each value of a boolean that it may take.
        packed: All inputs after the node and the fuel are one structure; None is each
            on its own.
        pushes: The tables it pushes to.
        is_declared: It has an `output_signature`, so that it is known everywhere.
    """

    name: str
    kind: str
    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]
    nest: Nest
    packed: Nest | None
    pushes: tuple[str, ...] = ()
    is_declared: bool = True


@dataclasses.dataclass(frozen=True)
class SubGraph:
    """A header, names for its inputs, and what it does."""

    header: Header
    node: Var
    fuel: Var | None
    inputs: tuple[Var, ...]
    body: Block


@dataclasses.dataclass(frozen=True)
class Capture:
    """An outer value that is not part of a forest.

    Attributes:
        var: Its name and type.
        is_variable: A `tf.Variable`, else a tensor.
    """

    var: Var
    is_variable: bool


@dataclasses.dataclass(frozen=True)
class Program:
    """SubGraphs, of which the first is the root's, and the way they are run.

    Attributes:
        arity: The most children that a node has.
        is_full: A node has that many or none.
        width: The length of a vector.
        tables: The names and the types of what is pushed, a row.
        drawn: The names of those tables whose rows are drawn at random.
        seed: Of the numbers in captures.
        is_mapped: The root is a `.map` over trees, else a call.
        form: "inside" defines SubGraphs in the `tf.function` that calls them, "outside"
            before it, "eager" calls without one.
        order: 2 differentiates the gradient, too.
    """

    subgraphs: tuple[SubGraph, ...]
    captures: tuple[Capture, ...]
    tables: tuple[tuple[str, Type], ...]
    arity: int
    is_full: bool
    width: int
    dtype: str
    seed: int
    is_mapped: bool
    form: str
    drawn: tuple[str, ...] = ()
    order: int = 1

    @property
    def root(self) -> Header:
        """What the root call invokes."""
        return self.subgraphs[0].header

    @functools.cached_property
    def mentioned(self) -> frozenset[Var]:
        """All variables that any SubGraph names."""
        return frozenset(p for p in walk(self.subgraphs) if isinstance(p, Var))

    @property
    def features(self) -> Var:
        """A vector for each node."""
        return Var("features", Type(self.dtype, (None, self.width)))

    @property
    def sources(self) -> tuple[Var, ...]:
        """All that the loss has a gradient for, if it is used."""
        captures = [c.var for c in self.captures if c.var.type.is_differentiable]
        return (self.features, *captures, *self.float_arguments)

    @property
    def arguments(self) -> tuple[Var, ...]:
        """What the root call gets after the node."""
        return tuple(Var(f"x{i}", t) for i, t in enumerate(self.root.inputs))

    @property
    def float_arguments(self) -> tuple[Var, ...]:
        """Those that may have a gradient."""
        return tuple(x for x in self.arguments if x.type.is_differentiable)

    @functools.cached_property
    def dtypes(self) -> frozenset[str]:
        """The dtypes of everything in it, which each run on a forest asks for."""
        found = {part.type.dtype for part in walk(self.subgraphs) if _has_type(part)}
        return frozenset(found | {self.dtype})


CHILDREN = Var("children", Type("int32", (None, None)))
COUNTS = Var("counts", Type("int32", (None,)))
WORDS = Var("words", Type("int32", (None,)))


def _has_type(part: Any) -> bool:
    return isinstance(part, Var | Const | Apply)


def walk(part: Any) -> Iterator[Any]:
    """Yields a part of a program, and all parts of it, from outside in."""
    if dataclasses.is_dataclass(part):
        yield part
        for field in dataclasses.fields(part):
            yield from walk(getattr(part, field.name))
    elif isinstance(part, tuple):
        for item in part:
            yield from walk(item)
