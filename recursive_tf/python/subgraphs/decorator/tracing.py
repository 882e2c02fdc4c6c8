"""Makes SubGraphs of decorated functions: finds out what they take and return.

A body calls itself, so it cannot be traced before it is known what it returns, which
its trace shows. So it is traced in passes. In the first nothing is known: a call to
itself raises, and conditionals are their other branches (known_branch). What a pass
returned is assumed in the next, and made more general, until a pass returns what was
assumed. The same goes for shapes that a call to itself passes.

Functions that call each other are traced within each other. What was found for an
inner one depends on what was assumed of those around it, and is found again when that
changes.
"""

import contextlib
import re
import sys
import threading
from typing import NoReturn

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.program.effects import only_reads, ops_within
from recursive_tf.python.subgraphs.decorator.arguments import Arguments
from recursive_tf.python.subgraphs.decorator.decorated_function import DecoratedFunction
from recursive_tf.python.subgraphs.decorator.known_branch import NotKnownYetError
from recursive_tf.python.subgraphs.decorator.pattern import Pattern
from recursive_tf.python.subgraphs.subgraph import SubGraph
from recursive_tf.python.tracing.control_flow import outputs_of_sibling, shows_nothing
from recursive_tf.python.tracing.function_graph import CALL, MAP, PUSH, enclosing_body
from recursive_tf.python.tracing.specs import spec_of

# SubGraphs of one function that are traced within each other, for other Python values.
_MAX_NESTED = 16
_CALLS = frozenset((CALL, MAP))
_NEVER = sys.maxsize


class _OutgrownError(Exception):
    """Ends a pass: a call in it needs more general inputs than were assumed."""


class _UnstableError(Exception):
    """Leaves a SubGraph undefined: its body returns something more general."""


class _Stack(threading.local):
    """What this thread is tracing, outermost first."""

    def __init__(self) -> None:
        self.tracings: list[Tracing] = []


_stack = _Stack()


def subgraph_for(function: DecoratedFunction, arguments: Arguments) -> SubGraph:
    """Returns the SubGraph that a call is for; it is traced if need be.

    Raises:
        NotKnownYetError: If that is being traced, and what it returns is not known.
        SubGraphError: If it cannot be made.
    """
    around = _tracings_here()
    _check_place(around)
    found = function.traces.find(arguments.pattern)
    if found is not None:
        return found
    tracing = _find(around, function, arguments.pattern)
    if tracing is None:
        _check_nesting(around, function)
        tracing = Tracing(function, arguments, around)
        tracing.solve()
    return tracing.use(around)


def subgraph_being_traced(function: DecoratedFunction) -> SubGraph | None:
    """Returns the SubGraph in whose body the default graph is, if of `function`."""
    body = enclosing_body(tf_compat.default_graph())
    for tracing in reversed(_stack.tracings):
        if tracing.subgraph._body is body:
            return tracing.subgraph if tracing.function is function else None
    return None


class Tracing:
    """The SubGraph that is being made for some calls of a function.

    Args:
        function: What is traced.
        arguments: Of the call that needs it.
        around: In whose bodies that call stands, outermost first.

    Attributes:
        function: As given.
        pattern: What it can be called with.
        outputs: What it returns, as far as that is known.
        subgraph: What the last pass defined.
        depth: How many are around it.
        lowest: The least depth of those of which the last pass assumed something.
        lacks: The least depth of those of which it lacked what they return.
        solved: Those found in the last pass that assume something of it, or of others
            around it.
    """

    def __init__(
        self,
        function: DecoratedFunction,
        arguments: Arguments,
        around: list["Tracing"],
    ) -> None:
        self.function = function
        self.pattern = arguments.pattern
        self.outputs = function.outputs
        self.subgraph = function.new_subgraph(None, arguments)
        self.depth = len(around)
        self.lowest = self.depth
        self.lacks = _NEVER
        self.solved: list[Tracing] = []
        self._arguments = arguments
        self._around = around
        self._found_before: list[Tracing] = []
        self._is_used = False
        self._is_outgrown = False
        self._start_from_before()

    def solve(self) -> None:
        """Traces until nothing changes, or until those around must be known first."""
        _stack.tracings.append(self)
        try:
            while self._pass():
                pass
        finally:
            _stack.tracings.pop()
        self._check_it_does_something()
        if self.lowest < self.depth:
            self._around[-1].solved += [self, *self.solved]
            return
        for tracing in (self, *self.solved):
            tracing.function.traces.add(tracing.pattern, tracing.subgraph)

    def use(self, around: list["Tracing"]) -> SubGraph:
        """Returns the SubGraph, for a call in the bodies of `around`.

        Raises:
            NotKnownYetError: If it is not known what it returns.
        """
        is_traced = self in around
        self._is_used = self._is_used or is_traced
        assumes = self.depth if is_traced else self.lowest
        for tracing in around[assumes + 1 :]:
            tracing.lowest = min(tracing.lowest, assumes)
        if self.outputs.specs is None:
            if is_traced and _nobody_uses_what_is_called_here():
                return self.subgraph
            lacks = self.depth if is_traced else self.lacks
            for tracing in around[lacks:]:
                tracing.lacks = min(tracing.lacks, lacks)
            raise NotKnownYetError(
                f"What SubGraph '{self.function.name}' returns is not known yet."
            )
        return self.subgraph

    def find(self, function: DecoratedFunction, call: Pattern) -> "Tracing | None":
        """Returns what a call in the body is for: this one, or one found in this pass.

        Raises:
            _OutgrownError: If this one must become more general for it.
        """
        if self.function is function and self.pattern.is_kin_of(call):
            if not self.pattern.fits(call):
                self.pattern = self.pattern.joined(call)
                self._is_outgrown = True
                raise _OutgrownError
            return self
        return _first(self.solved, function, call)

    def _start_from_before(self) -> None:
        """Takes over what the last passes of those around found."""
        for tracing in reversed(self._around):
            before = _first(tracing._found_before, self.function, self.pattern)
            if before is not None:
                self.pattern = before.pattern
                self.outputs = before.outputs
                return

    def _pass(self) -> bool:
        """Traces the body once; returns whether it must be traced again."""
        self._found_before, self.solved = self.solved, []
        self._is_used, self._is_outgrown = False, False
        self.lowest, self.lacks = self.depth, _NEVER
        assumed = self.outputs
        try:
            self._trace()
        except NotKnownYetError:
            if self.lacks >= self.depth:
                self._raise_endless()
        except Exception as error:
            if not self._is_outgrown:
                self._explain(error)
                raise
        was_assumed = self._is_used or assumed.specs is not None
        is_new = was_assumed and self.outputs.specs != assumed.specs
        return is_new or self._is_outgrown

    def _trace(self) -> None:
        """Defines a SubGraph, or leaves it undefined if it returns something new."""
        assumed = self.outputs
        self.subgraph = self.function.new_subgraph(assumed.specs, self._arguments)
        with contextlib.suppress(_UnstableError), self.subgraph:
            tensors = [self.subgraph.input(spec) for spec in self.pattern.specs]
            values = self._arguments.values(tensors)
            result = assumed.convert(self.function.call_converted(values))
            self.outputs = assumed.joined(result)
            if assumed.specs is not None and assumed.specs != self.outputs.specs:
                raise _UnstableError
            self.subgraph.output(result)

    def _check_it_does_something(self) -> None:
        """Raises if it returns nothing and has no effect: a `return` is forgotten."""
        body, specs = self.subgraph._body, self.outputs.specs
        if specs is None or body is None or tf.nest.flatten(specs) != [spec_of(None)]:
            return
        own = self.subgraph._id
        if not any(op.type == PUSH or _is_effect(op, own) for op in ops_within(body)):
            raise SubGraphError(
                f"SubGraph '{self.function.name}' returns None, which is not a tensor, "
                "and has no effect: it pushes nothing, and changes nothing. Does each "
                "path through its body end in `return`?"
            )

    def _raise_endless(self) -> NoReturn:
        name = self.function.name
        raise SubGraphError(
            f"SubGraph '{name}' calls itself on every way through its body that "
            "tracing sees, so it is not known what it returns. Give it a base case: a "
            "branch that returns without a call. If it has one that is a loop of no "
            "turns, or a branch of tf.switch_case, annotate what it returns, e.g.\n"
            f"    def {name}(...) -> tf.TensorSpec([150], tf.float32):"
        ) from None

    def _explain(self, error: Exception) -> None:
        """Raises an error that says more than one that tracing ended with.

        AutoGraph makes others of errors, whose texts are those of the whole stack.
        """
        name, text = self.function.name, f"{type(error).__name__}: {error}"
        if "RecursionError" in text:
            functions = dict.fromkeys(re.findall(r"in (\S+)  \*", text))
            calls = f" ({', '.join(functions)})" if functions else ""
            raise SubGraphError(
                f"Tracing SubGraph '{name}' calls Python functions{calls} without end. "
                "A recursion that depends on tensors must go through a name that "
                "@rtf.subgraph decorates; one that depends on Python values must end "
                "by them."
            ) from None
        if "handle:0 belongs to the body" in text:
            _raise_in_a_function(name)


def _nobody_uses_what_is_called_here() -> bool:
    """Says whether a call stands in a branch of a conditional that returns nothing."""
    shown = outputs_of_sibling()
    return shown is not None and shows_nothing(shown)


def _is_effect(op: tf.Operation, own: int) -> bool:
    """Says whether `op` changes or checks something, or calls who may, but itself."""
    if op.type in _CALLS:
        return bool(op.get_attr("subgraph") != own)
    return op.type == "Assert" or not only_reads(op)


def _tracings_here() -> list[Tracing]:
    """Returns those in whose bodies the default graph is, outermost first."""
    graphs = list(tf_compat.graph_chain(tf_compat.default_graph()))
    return [t for t in _stack.tracings if t.subgraph._body in graphs]


def _find(
    around: list[Tracing], function: DecoratedFunction, call: Pattern
) -> Tracing | None:
    found = (tracing.find(function, call) for tracing in reversed(around))
    return next((tracing for tracing in found if tracing is not None), None)


def _first(
    tracings: list[Tracing], function: DecoratedFunction, call: Pattern
) -> Tracing | None:
    fitting = (t for t in tracings if t.function is function and t.pattern.fits(call))
    return next(fitting, None)


def _check_place(around: list[Tracing]) -> None:
    """Checks that no call stands in a function that keeps what it was traced to.

    The body is traced several times, and each time the call is to something else.
    """
    if around and tf_compat.is_tracing_a_function(within=Tracing._trace):
        _raise_in_a_function(around[-1].function.name)


def _raise_in_a_function(name: str) -> NoReturn:
    raise SubGraphError(
        f"The body of SubGraph '{name}' calls a tf.function that calls a SubGraph. "
        "Leave out @tf.function: AutoGraph converts Python functions too."
    ) from None


def _check_nesting(around: list[Tracing], function: DecoratedFunction) -> None:
    nested = [t.pattern for t in around if t.function is function]
    if len(nested) < _MAX_NESTED:
        return
    values = "; ".join(
        ", ".join(map(repr, pattern.static_values)) for pattern in nested[-3:]
    )
    raise SubGraphError(
        f"SubGraph '{function.name}' calls itself with other Python values each time "
        f"({values}), which makes a SubGraph for each of them, and does not end. Pass "
        "as a tensor what changes, or end it by a Python condition."
    )
