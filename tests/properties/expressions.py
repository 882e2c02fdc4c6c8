"""Draws expressions of a given type from what is in scope."""

from __future__ import annotations

import dataclasses
from typing import Any

from tests.properties.forests import NUM_WORDS
from tests.properties.operations import SQUASHING
from tests.properties.picking import pick
from tests.properties.syntax import (
    BOOL,
    COARSE,
    COMPLEX_OF,
    COUNTS,
    INT32,
    INTEGERS,
    WORDS,
    Apply,
    Const,
    Expression,
    Type,
    Var,
)

MAX_EXPRESSION_DEPTH = 3


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The types of a program's tensors.

    Attributes:
        width: The length of a vector, and the rows and columns of a matrix.
        dtype: Of most floats.
        other: Of the other floats; the same if there is only one dtype.
        has_lists: There are lists whose length is known when it runs.
        has_complex: There are complex numbers.
        has_own_slopes: There are gradients that are no slopes.
    """

    width: int
    dtype: str
    other: str
    has_lists: bool = False
    has_complex: bool = False
    has_own_slopes: bool = True

    @property
    def is_coarse(self) -> bool:
        """Says whether floats are too coarse to decide by them what is done."""
        return self.dtype in COARSE or self.other in COARSE

    @property
    def complex(self) -> str:
        """The dtype of complex numbers."""
        return COMPLEX_OF[self.dtype]

    def scalar(self, dtype: str | None = None) -> Type:
        return Type(dtype or self.dtype)

    def vector(self, dtype: str | None = None) -> Type:
        return Type(dtype or self.dtype, (self.width,))

    def matrix(self, dtype: str | None = None) -> Type:
        return Type(dtype or self.dtype, (self.width, self.width))

    def table(self) -> Type:
        return Type(self.dtype, (NUM_WORDS, self.width))

    def wide(self) -> Type:
        return Type(self.dtype, (self.width, 2 * self.width))

    def longer(self, dtype: str | None = None) -> Type:
        """A list whose length is known when it runs."""
        return Type(dtype or self.dtype, (None,))


@dataclasses.dataclass(frozen=True)
class Rule:
    """An operation that makes a type, and what it takes.

    Attributes:
        bounded: Which arguments must not grow: one factor of each product, so that no
            power of a value overflows.
    """

    operation: str
    args: tuple[Type, ...]
    bounded: tuple[int, ...] = ()


def rules(kind: Type, sizes: Sizes) -> list[Rule]:
    """Returns all ways to make a type, the simplest first."""
    if kind.dtype == "bool":
        return _bool_rules(kind, sizes)
    if kind.dtype in INTEGERS:
        return _integer_rules(kind, sizes)
    if kind.is_complex:
        return _complex_rules(kind, sizes)
    own = sizes.scalar(kind.dtype)
    found = [
        *(Rule(name, (kind,)) for name in SQUASHING),
        Rule("multiply", (kind, own), (1,)),
        Rule("add", (own, kind)),
        Rule("negative", (kind,)),
        Rule("steady", (kind,)),
    ]
    if sizes.has_own_slopes:
        found += [Rule("stop_gradient", (kind,)), Rule("slanted", (kind,))]
    if sizes.other != sizes.dtype:
        other = sizes.other if kind.dtype == sizes.dtype else sizes.dtype
        found.append(Rule("cast", (Type(other, kind.shape),)))
    if kind.shape == (None,):
        return found + _list_rules(kind, sizes)
    found += [
        Rule("add", (kind, kind)),
        Rule("subtract", (kind, kind)),
        Rule("where", (BOOL, kind, kind)),
        Rule("multiply", (kind, kind), (1,)),
        Rule("cast", (Type("int32", kind.shape),)),
        Rule("where", (Type("bool", kind.shape), kind, kind)),
    ]
    if sizes.has_complex and kind.dtype == sizes.dtype and len(kind.shape) < 2:
        of_complex = (Type(sizes.complex, kind.shape),)
        found += [Rule("real", of_complex), Rule("imag", of_complex)] * 2
    shaped = {0: _scalar_rules, 1: _vector_rules, 2: _matrix_rules}
    return found + shaped[len(kind.shape)](kind, sizes)


def _complex_rules(kind: Type, sizes: Sizes) -> list[Rule]:
    own, floats = Type(kind.dtype), Type(sizes.dtype, kind.shape)
    found = [
        Rule("bend", (kind,)),
        Rule("complex", (floats, floats)),
        Rule("turn", (kind, own), (1,)),
        Rule("add", (kind, kind)),
        Rule("conj", (kind,)),
        Rule("turn", (kind, kind), (1,)),
    ]
    if not kind.shape:
        vector = Type(kind.dtype, (sizes.width,))
        found += [Rule("dot", (vector, vector), (1,)), Rule("pick", (vector, INT32))]
    return found


def _scalar_rules(kind: Type, sizes: Sizes) -> list[Rule]:
    vector, matrix = sizes.vector(kind.dtype), sizes.matrix(kind.dtype)
    of_lists = [Rule("sum", (sizes.longer(kind.dtype),))] if sizes.has_lists else []
    return [
        Rule("sum", (vector,)),
        Rule("mean", (matrix,)),
        Rule("sum", (matrix,)),
        *of_lists,
        Rule("pick", (vector, INT32)),
        Rule("draw", (INT32,)),
        Rule("cast", (BOOL,)),
        Rule("cast", (Type("int64"),)),
    ]


def _vector_rules(kind: Type, sizes: Sizes) -> list[Rule]:
    scalar, matrix = sizes.scalar(kind.dtype), sizes.matrix(kind.dtype)
    products = ("matvec", "transposed", "row_product", "einsum")
    found = [
        # Twice: what a weight is mostly used for.
        *[Rule(name, (matrix, kind), (0, 1)) for name in products] * 2,
        Rule("sum_rows", (matrix,)),
        Rule("stack", (scalar,) * sizes.width),
        Rule("halves", (kind, kind)),
        Rule("pick", (matrix, INT32)),
    ]
    if kind.dtype == sizes.dtype:
        wide = Rule("wide", (sizes.wide(), kind, kind), (0, 1, 2))
        found += [wide, Rule("pick", (sizes.table(), INT32))] * 2
    return found


def _matrix_rules(kind: Type, sizes: Sizes) -> list[Rule]:
    vector = sizes.vector(kind.dtype)
    return [
        Rule("outer", (vector, vector), (0, 1)),
        Rule("transpose", (kind,)),
        Rule("matmul", (kind, kind), (0, 1)),
    ]


def _list_rules(kind: Type, sizes: Sizes) -> list[Rule]:
    return [
        Rule("concat", (kind, kind)),
        Rule("concat", (kind, sizes.vector(kind.dtype))),
        Rule("flatten", (sizes.matrix(kind.dtype),)),
    ]


def _integer_rules(kind: Type, sizes: Sizes) -> list[Rule]:
    other = INTEGERS[1 - INTEGERS.index(kind.dtype)]
    found = [
        Rule("add_mod", (kind, kind)),
        Rule("multiply_mod", (kind, kind)),
        Rule("cast", (Type(other, kind.shape),)),
        Rule("cast", (Type("bool", kind.shape),)),
    ]
    if not sizes.is_coarse:
        found.append(Rule("truncate", (Type(sizes.dtype, kind.shape),), (0,)))
    if kind == INT32 and sizes.has_lists:
        found.append(Rule("size", (sizes.longer(),)))
    return found


def _bool_rules(kind: Type, sizes: Sizes) -> list[Rule]:
    integers = Type("int32", kind.shape)
    found = [
        Rule("less", (integers, integers)),
        Rule("not", (kind,)),
        Rule("and", (kind, kind)),
        Rule("equal", (integers, integers)),
    ]
    if not sizes.is_coarse:
        found.insert(0, Rule("above", (Type(sizes.dtype, kind.shape),)))
    if kind == BOOL:
        found.append(Rule("any", (Type("bool", (sizes.width,)),)))
    return found


# Every dtype has these floats, without rounding.
CONSTANTS = {
    "bool": (False, True),
    "int": (0, 1, 2, 3),
    "float": (0.453125, -0.203125, 0.703125),
    "bfloat": (0.453125, -0.203125, 0.703125),
    "complex": (0.453125 - 0.203125j, 0.703125j),
}


def constants(kind: Type) -> list[Expression]:
    """Returns some constants of a type."""
    family = kind.dtype.rstrip("0123456789")
    return [Const(value, kind) for value in CONSTANTS[family]]


class Expressions:
    """Draws expressions, with `variables` in scope, the oldest first.

    Attributes:
        variables: What there is.
        growing: The names of those that are not bounded whatever the recursion does.
    """

    def __init__(self, draw: Any, sizes: Sizes, variables: list[Var]) -> None:
        self.draw, self.sizes, self.variables = draw, sizes, variables
        self.growing: set[str] = set()

    def of(self, kind: Type, depth: int = MAX_EXPRESSION_DEPTH) -> Expression:
        """Draws any expression of a type."""
        known = [v for v in reversed(self.variables) if v.type == kind]
        if depth <= 0 or kind.shape in (
            self.sizes.table().shape,
            self.sizes.wide().shape,
        ):
            return pick(self.draw, known or constants(kind))
        # What was defined last is taken most often: it waits for a use.
        choices: list[Any] = known[:3] * 4 + known[3:]
        choices += self._looked_up(kind) + rules(kind, self.sizes)
        if not known:
            choices = [*constants(kind)[:1], *choices]
        found = pick(self.draw, choices)
        return self._apply(found, kind, depth) if isinstance(found, Rule) else found

    def bounded(self, kind: Type, depth: int = MAX_EXPRESSION_DEPTH) -> Expression:
        """Draws an expression that is as small however often it is handed on."""
        found = self.of(kind, depth - 1)
        if not kind.is_differentiable or self.is_bounded(found):
            return found
        squashing = ["bend"] if kind.is_complex else [*SQUASHING, "steady"]
        return Apply(pick(self.draw, squashing), (found,), kind)

    def is_bounded(self, expression: Expression) -> bool:
        match expression:
            case Var(name):
                return name not in self.growing
            case Apply(name, args, _):
                keeps = name in ("stop_gradient", "negative", "row", "conj")
                squashes = name in (*SQUASHING, "steady", "bend")
                return squashes or (keeps and all(map(self.is_bounded, args)))
        return True

    def _apply(self, rule: Rule, kind: Type, depth: int) -> Expression:
        args = [
            self.bounded(arg, depth - 1)
            if i in rule.bounded
            else self.of(arg, depth - 1)
            for i, arg in enumerate(rule.args)
        ]
        return Apply(rule.operation, tuple(args), kind)

    def _looked_up(self, kind: Type) -> list[Expression]:
        """Returns what the forest holds for the nodes in scope."""
        nodes = [v for v in self.variables if v.name.startswith("node")]
        found: list[Expression] = []
        for node in nodes[-2:]:
            if kind == INT32:
                found += [Apply("row", (data, node), INT32) for data in (WORDS, COUNTS)]
            if kind == self.sizes.vector():
                features = Var("features", Type(kind.dtype, (None, *kind.shape)))
                found += [Apply("row", (features, node), kind)] * 2
        return found
