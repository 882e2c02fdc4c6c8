"""Recursive dataflow from scratch, in plain Python and numpy.

Read this file from top to bottom: it builds, in some 300 lines of code, the idea on
which the whole library stands (Jeong et al., EuroSys 2018, sections 3 to 5). A
*SubGraph* is a dataflow graph that may contain calls of itself. Every call that runs
is an *invocation*, and its *path*, the call sites that lead to it from the root, names
it. Forward values stay in a *backprop cache* under that path. The gradient is the
mirrored recursion: it visits the same paths and reads the cache.

    with SubGraph("fib") as fib:
        n = fib.input()
        fib.output(cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))

    value, tape = fib.run(10)

It is also the oracle of the tests, so it shares no code with the library. It is
sequential and slow on purpose: one obvious meaning, to which the fast ones are held.
`python docs/from_scratch.py` shows it at work.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Path = tuple[int, ...]
# Work that may have to wait for invocations: a generator that yields each of them, is
# sent its result, and returns a result of its own. `_drive` in section 6 runs it.
Running = Generator[Any, Any, list[Any]]


# --- 1. Operations -------------------------------------------------------------------
#
# An operation is a pair of numpy functions: the value, and the vector-Jacobian product
# that turns the cotangent of the result into those of the arguments. Applying it to
# nodes computes nothing. It appends a step to the body that is being traced.


def operation(
    forward: Callable[..., Any], backward: Callable[..., Iterable[Any]] | None = None
) -> Callable[..., Node]:
    """Returns a function from nodes to a node.

    >>> cosine = operation(np.cos, lambda g, y, x: (-g * np.sin(x),))

    Args:
        forward: From the arguments' values to the result's.
        backward: From the result's cotangent, the result's value and the arguments'
            values to one cotangent, or None, an argument. It may ignore broadcasting,
            and that integers have no gradient: `GradientActivation.add` sees to both.
    """

    def apply(*arguments: Any) -> Node:
        inputs, output = [_node(x) for x in arguments], Node(_body().owner)
        _body().steps.append(_Compute(forward, backward, inputs, output))
        return output

    return apply


def _swapped(binary: Callable[..., Node]) -> Callable[..., Node]:
    return lambda x, y: binary(y, x)


def _matmul_backward(g: Array, _: Array, x: Array, y: Array) -> tuple[Array, Array]:
    rows, columns = np.atleast_2d(x), y[:, None] if y.ndim == 1 else y
    g = g[..., None] if y.ndim == 1 else g
    g = g[..., None, :] if x.ndim == 1 else g
    dx = _unbroadcast(g @ np.swapaxes(columns, -1, -2), rows.shape)
    dy = _unbroadcast(np.swapaxes(rows, -1, -2) @ g, columns.shape)
    return dx.reshape(x.shape), dy.reshape(y.shape)


def _scatter(g: Any, x: Array, key: Any) -> Array:
    result = np.zeros_like(x)
    np.add.at(result, key, g)
    return result


add = operation(np.add, lambda g, z, x, y: (g, g))
subtract = operation(np.subtract, lambda g, z, x, y: (g, -g))
multiply = operation(np.multiply, lambda g, z, x, y: (g * y, g * x))
divide = operation(np.true_divide, lambda g, z, x, y: (g / y, -g * z / y))
matmul = operation(np.matmul, _matmul_backward)
negative = operation(np.negative, lambda g, y, x: (-g,))
tanh = operation(np.tanh, lambda g, y, x: (g * (1.0 - y * y),))
sigmoid = operation(  # Never overflows, as 1 / (1 + exp(-x)) can.
    lambda x: 0.5 * (1.0 + np.tanh(0.5 * x)), lambda g, y, x: (g * y * (1.0 - y),)
)
exp = operation(np.exp, lambda g, y, x: (g * y,))
log = operation(np.log, lambda g, y, x: (g / x,))
floor_divide, modulo = operation(np.floor_divide), operation(np.mod)
less, less_equal, equal = map(operation, (np.less, np.less_equal, np.equal))
# gather(table, index): the row of `table`, or the rows, at the integers `index`.
gather = operation(lambda x, i: x[i], lambda g, y, x, i: (_scatter(g, x, i), None))


def item(x: Any, key: Any) -> Node:
    """Returns `x[key]`, for a key that is known while tracing, e.g. `slice(0, 3)`."""
    return operation(lambda x: x[key], lambda g, y, x: (_scatter(g, x, key),))(x)


def split(x: Any, count: int) -> list[Node]:
    """Cuts the last axis into equal parts."""
    parts = operation(
        lambda x: np.stack(np.split(x, count, -1)),
        lambda g, y, x: (np.concatenate(list(g), -1),),
    )(x)
    return [item(parts, k) for k in range(count)]


def concat(parts: Sequence[Any], axis: int = -1) -> Node:
    """Joins arrays along an axis."""

    def backward(g: Array, _: Array, *parts: Array) -> list[Array]:
        return np.split(g, np.cumsum([x.shape[axis] for x in parts])[:-1], axis)

    return operation(lambda *parts: np.concatenate(parts, axis), backward)(*parts)


def reduce_sum(x: Any, axis: int | None = None) -> Node:
    """Sums over one axis, or over all."""

    def backward(g: Array, _: Array, x: Array) -> tuple[Array]:
        g = g if axis is None else np.expand_dims(g, axis)
        return (np.broadcast_to(g, x.shape),)

    return operation(lambda x: np.sum(x, axis), backward)(x)


# --- 2. Nodes and captures -----------------------------------------------------------
#
# A node stands for a value that each invocation will have. A capture is an outer array
# that a body uses without its being an input (the paper's outer reference): it belongs
# to no SubGraph, is not handed from call to call, and has one value for the whole run.


class Node:
    """A value in a SubGraph. Operators on it append steps to the body being traced."""

    __array_ufunc__ = None  # So that `array * node` is ours, not numpy's.
    __iter__ = None
    __add__, __radd__ = add, _swapped(add)
    __sub__, __rsub__ = subtract, _swapped(subtract)
    __mul__, __rmul__ = multiply, _swapped(multiply)
    __truediv__, __rtruediv__ = divide, _swapped(divide)
    __matmul__, __rmatmul__ = matmul, _swapped(matmul)
    __floordiv__, __rfloordiv__ = floor_divide, _swapped(floor_divide)
    __mod__, __rmod__ = modulo, _swapped(modulo)
    __lt__, __le__ = less, less_equal
    __gt__, __ge__ = _swapped(less), _swapped(less_equal)
    __neg__, __getitem__ = negative, item

    def __init__(self, owner: SubGraph | None):
        self.owner = owner

    def __bool__(self) -> bool:
        raise TypeError("A node has no value while tracing: branch on it with cond().")


class Capture(Node):
    """An outer array: a weight, or data. Bare arrays and numbers become one too.

    A run takes a copy of `value`, which may be changed between runs.
    """

    def __init__(self, value: Any):
        super().__init__(owner=None)
        self.value = _array(value)


def _array(value: Any) -> Array:
    array: Array = np.asarray(value)
    return array.astype(np.float64, copy=False) if array.dtype.kind == "f" else array


def _node(value: Any) -> Node:
    node = value if isinstance(value, Node) else Capture(value)
    user = _body().owner
    if node.owner not in (None, user):
        raise ValueError(f"{user.name!r} uses another's node: make it an input.")
    return node


# --- 3. SubGraphs: tracing -----------------------------------------------------------
#
# Tracing runs the user's Python once, and what remains is a list of steps. A recursive
# call is one of the steps and *names* its callee, so tracing ends although the callee
# has no body yet: that is all a forward declaration is. The branches of a conditional
# are bodies of their own, which see the nodes of the enclosing one.


class Body:
    """Steps in an order in which they can run, and the nodes that are the result."""

    def __init__(self, owner: SubGraph):
        self.owner, self.outputs = owner, list[Node]()
        self.steps: list[_Compute | _Call | _Conditional | _Push] = []

    def __enter__(self) -> Any:
        _tracing.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _tracing.pop()

    def forward(self, here: Activation) -> Running:
        """Runs the steps for one activation; returns the outputs' values."""
        for step in self.steps:
            yield from step.forward(here)
        return [here[node] for node in self.outputs]

    def backward(self, here: GradientActivation, cotangents: list[Any]) -> Running:
        """The mirror: from the outputs' cotangents, the steps in reverse."""
        here.add(self.outputs, cotangents)
        for step in reversed(self.steps):
            yield from step.backward(here)
        return []


_tracing: list[Body] = []


def _body() -> Body:
    if not _tracing:
        raise RuntimeError("Nodes are made inside `with SubGraph()`; run() runs one.")
    return _tracing[-1]


def _nodes(values: Any) -> list[Node]:
    return [_node(x) for x in (values if isinstance(values, tuple) else (values,))]


def _structure(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def cond(
    predicate: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]
) -> Any:
    """Returns what one of two functions returns: a node, or a tuple of nodes."""
    owner, branches = _body().owner, []
    for branch_fn in (true_fn, false_fn):
        with Body(owner) as branch:
            branch.outputs = _nodes(branch_fn())
        branches.append(branch)
    if len(branches[0].outputs) != len(branches[1].outputs):
        raise ValueError("The branches of cond() must return equally many values.")
    outputs = [Node(owner) for _ in branches[0].outputs]
    _body().steps.append(_Conditional(_node(predicate), branches, outputs))
    return _structure(outputs)


class SubGraph(Body):
    """A body with inputs, which bodies may call.

    Args:
        name: For error texts.
        num_outputs: How many values a call returns: one node, or a tuple of several.
    """

    def __init__(self, name: str = "subgraph", num_outputs: int = 1):
        super().__init__(owner=self)
        self.name, self.inputs = name, list[Node]()
        self.num_outputs, self.num_sites = num_outputs, 0

    def input(self) -> Node:
        """Declares the next input."""
        self.inputs.append(Node(self))
        return self.inputs[-1]

    def output(self, *values: Any) -> None:
        """Defines the outputs. `output(a, b)` is `output((a, b))`."""
        self.outputs = _nodes(_structure(values))
        if len(self.outputs) != self.num_outputs:
            raise ValueError(f"{self.name!r} promised {self.num_outputs} output(s).")

    def push(self, name: str, value: Any, *, index: Any, size: Any) -> None:
        """Makes `value` row `index` of the run's array `name`, of `size` rows."""
        _body().steps.append(_Push(name, _node(value), _node(index), _node(size)))

    def __call__(self, *arguments: Any, mapped: bool = False) -> Any:
        """Calls this SubGraph from the body being traced."""
        caller = _body().owner
        outputs = [Node(caller) for _ in range(self.num_outputs)]
        inputs, site = [_node(x) for x in arguments], (caller.num_sites,)
        _body().steps.append(_Call(self, site, mapped, inputs, outputs))
        caller.num_sites += 1
        return _structure(outputs)

    def map(self, *columns: Any) -> Any:
        """Calls it once a row of `columns`, and stacks the results."""
        return self(*columns, mapped=True)

    def run(self, *arguments: Any, mapped: bool = False) -> tuple[Any, Tape]:
        """Calls it from outside: returns the outputs' values, and the tape.

        Args:
            *arguments: Numbers and arrays.
            mapped: Whether to call once a row of the arguments, as `map` does.
        """
        outputs = [Node(self) for _ in range(self.num_outputs)]
        tape = Tape(_Call(self, (), mapped, [Capture(x) for x in arguments], outputs))
        return _structure(tape.outputs), tape


# --- 4. Invocations ------------------------------------------------------------------
#
# The root invocation has the path (). Call site s of the invocation p makes p + (s,). A
# mapped site makes one for each row i, p + (s, i); those of a mapped root are (i,).
#
# The two functions at the end are the heart of it all. They are mirror images: the same
# path, and in `Body` the same steps in the opposite order. What the second needs of the
# first it finds under the path, so neither has to know when the other ran.


class Activation:
    """The run-time state of one invocation: its place in the backprop cache."""

    def __init__(self, tape: Tape, path: Path):
        self.tape, self.path = tape, path
        self.values = tape.cache.setdefault(path, {})

    def __getitem__(self, node: Node) -> Array:
        if isinstance(node, Capture):
            return self.tape.capture(node)
        return self.values[node]

    def put(self, nodes: Iterable[Node], values: Iterable[Any]) -> None:
        """Stores values that this invocation has computed or was given."""
        self.values.update(zip(nodes, map(_array, values), strict=True))


class GradientActivation(Activation):
    """The same invocation on the way back: values are read, cotangents are summed.

    The cotangent of a capture does not stay here, to be handed from callee to caller:
    it is added to the one sum that belongs to the root.
    """

    def __init__(self, root: Gradients, path: Path):
        super().__init__(root.tape, path)
        self.root, self.cotangents = root, dict[Node, Array]()

    def add(self, nodes: Iterable[Node], cotangents: Iterable[Any]) -> None:
        """Adds to the nodes' cotangents; None is zero, and integers have none."""
        for node, cotangent in zip(nodes, cotangents, strict=True):
            if cotangent is not None and self[node].dtype.kind == "f":
                outer = isinstance(node, Capture)
                sums = self.root.captures if outer else self.cotangents
                more = _unbroadcast(np.asarray(cotangent), self[node].shape)
                sums[node] = sums.get(node, 0.0) + more


def _unbroadcast(cotangent: Array, shape: tuple[int, ...]) -> Array:
    """Sums over the axes along which an argument of this shape was repeated."""
    cotangent = cotangent.sum(tuple(range(cotangent.ndim - len(shape))))
    repeated = (k for k, n in enumerate(shape) if n == 1 != cotangent.shape[k])
    summed: Array = cotangent.sum(tuple(repeated), keepdims=True)
    return summed


def _invoke(callee: SubGraph, tape: Tape, path: Path, arguments: list[Any]) -> Running:
    """One invocation: from the inputs' values to the outputs'."""
    if not callee.outputs:
        raise ValueError(f"{callee.name!r} is called but output() was never given.")
    here = Activation(tape, path)
    here.put(callee.inputs, arguments)
    return (yield from callee.forward(here))


def _invoke_gradient(
    callee: SubGraph, root: Gradients, path: Path, cotangents: list[Any]
) -> Running:
    """Its gradient: from the outputs' cotangents to the inputs'."""
    here = GradientActivation(root, path)
    yield from callee.backward(here, cotangents)
    return [here.cotangents.get(node) for node in callee.inputs]


# --- 5. Steps ------------------------------------------------------------------------
#
# Each kind of step has a forward and its mirror. Either may yield invocations and wait;
# those that need not return nothing to wait for.


@dataclasses.dataclass(frozen=True)
class _Compute:
    """An operation, applied."""

    rule: Callable[..., Any]
    backward_rule: Callable[..., Iterable[Any]] | None
    inputs: list[Node]
    output: Node

    def forward(self, here: Activation) -> Iterable[Any]:
        here.put([self.output], [self.rule(*(here[node] for node in self.inputs))])
        return ()

    def backward(self, here: GradientActivation) -> Iterable[Any]:
        if self.output in here.cotangents:
            if self.backward_rule is None:
                raise TypeError(f"A gradient reached {self.rule}, which has none.")
            values = (here[node] for node in (self.output, *self.inputs))
            cotangent = here.cotangents[self.output]
            here.add(self.inputs, self.backward_rule(cotangent, *values))
        return ()


@dataclasses.dataclass(frozen=True)
class _Conditional:
    """One of two bodies, run in the activation of the enclosing one.

    The mirror finds the predicate in the cache, and so takes the branch that was taken.
    """

    predicate: Node
    branches: list[Body]
    outputs: list[Node]

    def forward(self, here: Activation) -> Running:
        here.put(self.outputs, (yield from self._taken(here).forward(here)))
        return []

    def backward(self, here: GradientActivation) -> Running:
        cotangents = [here.cotangents.get(node) for node in self.outputs]
        return (yield from self._taken(here).backward(here, cotangents))

    def _taken(self, here: Activation) -> Body:
        return self.branches[0 if here[self.predicate] else 1]


@dataclasses.dataclass(frozen=True)
class _Call:
    """A call site: one invocation, or if mapped one for each row of the inputs.

    The mirror calls the gradient of the callee, at the same paths.
    """

    callee: SubGraph
    site: Path
    mapped: bool
    inputs: list[Node]
    outputs: list[Node]

    def forward(self, here: Activation) -> Running:
        columns, results = [here[node] for node in self.inputs], []
        for path, row in self._invocations(here):
            arguments = [column[row] for column in columns]
            results.append((yield _invoke(self.callee, here.tape, path, arguments)))
        stacked = [[result[k] for result in results] for k in range(len(self.outputs))]
        here.put(self.outputs, stacked if self.mapped else results[0])
        return []

    def backward(self, here: GradientActivation) -> Running:
        columns = [here[node] for node in self.inputs]
        stacked = [here.cotangents.get(node) for node in self.outputs]
        for path, row in reversed(self._invocations(here)):
            cotangents = [None if g is None else g[row] for g in stacked]
            grads = yield _invoke_gradient(self.callee, here.root, path, cotangents)
            for node, column, g in zip(self.inputs, columns, grads, strict=True):
                here.add([node], [None if g is None else _scatter(g, column, row)])
        return []

    def _invocations(self, here: Activation) -> list[tuple[Path, Any]]:
        """Returns their paths, and where in the inputs and outputs their values are."""
        path = (*here.path, *self.site)
        if not self.mapped:
            return [(path, ...)]
        (count,) = {len(here[node]) for node in self.inputs}
        return [((*path, row), row) for row in range(count)]


@dataclasses.dataclass(frozen=True)
class _Push:
    """A value of this invocation that becomes a row of an array of the run.

    The mirror takes the cotangent of that row.
    """

    name: str
    value: Node
    index: Node
    size: Node

    def forward(self, here: Activation) -> Iterable[Any]:
        value, row, size = here[self.value], int(here[self.index]), int(here[self.size])
        zeros = np.zeros((size, *value.shape), value.dtype)
        rows = here.tape.pushed.setdefault(self.name, zeros)
        taken = here.tape.pushed_rows.setdefault(self.name, set())
        if not 0 <= row < size or row in taken or rows.shape != zeros.shape:
            raise IndexError(f"Row {row} of {self.name!r} is taken or does not fit.")
        rows[row] = value
        taken.add(row)
        return ()

    def backward(self, here: GradientActivation) -> Iterable[Any]:
        if self.name in here.root.pushed:
            here.add([self.value], [here.root.pushed[self.name][here[self.index]]])
        return ()


# --- 6. The root: one run forward, any number of times back --------------------------
#
# Invocations that ran their callees on Python's own stack would end at depth 1,000. So
# a caller only yields them and rests, and `_drive` keeps the stack in a list.

# A runaway recursion stops here. The paths of a chain of depth d, being plain tuples,
# take d^2 / 2 words together.
MAX_DEPTH = 5_000


def _drive(running: Running) -> None:
    stack, result = [running], None
    while stack:
        if len(stack) > MAX_DEPTH:
            raise RecursionError(f"The recursion is deeper than {MAX_DEPTH}.")
        try:
            stack.append(stack[-1].send(result))
            result = None
        except StopIteration as returned:
            stack.pop()
            result = returned.value


class Tape:
    """One root call, with all that its gradient needs.

    Attributes:
        outputs: The values of the root's outputs.
        cache: The backprop cache: for the path of every invocation, the values of its
            nodes. Gradients only read it. Under () are also the outputs of the root
            call, and if it is mapped only those.
        pushed: By name, the arrays of which a row was pushed; the other rows are zeros.
    """

    def __init__(self, call: _Call):
        self.call, self.cache = call, dict[Path, dict[Node, Array]]()
        self.pushed: dict[str, Array] = {}
        self.pushed_rows: dict[str, set[int]] = {}
        self._captures: dict[Capture, Array] = {}
        outside = Activation(self, ())
        _drive(call.forward(outside))
        self.outputs = [outside[node] for node in call.outputs]

    def capture(self, node: Capture) -> Array:
        """Returns an outer value: read once, however many invocations use it."""
        if node not in self._captures:
            self._captures[node] = node.value.copy()
        return self._captures[node]

    def gradient(
        self, *cotangents: Any, pushed: dict[str, Any] | None = None
    ) -> Gradients:
        """Runs the gradient recursion.

        Args:
            *cotangents: One for each output, broadcast to its shape, or None for zeros.
                None at all if only pushed values enter the loss.
            pushed: The same for pushed arrays, by name, e.g. `{"h": np.ones([n, d])}`.
        """
        return Gradients(self, cotangents, pushed or {})


class Gradients:
    """One run backward.

    Attributes:
        inputs: The gradients of the root's inputs; those of integers are zeros.
        captures: The gradients of all captures that one reached.
    """

    def __init__(self, tape: Tape, cotangents: Sequence[Any], pushed: dict[str, Any]):
        self.tape, self.captures = tape, dict[Node, Array]()
        shapes = {name: tape.pushed[name].shape for name in pushed}
        self.pushed = {k: np.broadcast_to(g, shapes[k]) for k, g in pushed.items()}
        call, outside = tape.call, GradientActivation(self, ())
        for node, g in zip(call.outputs, cotangents, strict=bool(cotangents)):
            shape = outside[node].shape
            outside.add([node], [None if g is None else np.broadcast_to(g, shape)])
        _drive(call.backward(outside))
        self.inputs = [self[node] for node in call.inputs if isinstance(node, Capture)]

    def __getitem__(self, capture: Capture) -> Array:
        """Returns the gradient of a capture: zeros if none reached it."""
        return self.captures.get(capture, np.zeros(capture.value.shape))


# --- 7. A demonstration: a binary TreeLSTM (Tai et al. 2015, eqs 9-14, N = 2) --------


def tree_lstm(tree: dict[str, Any], weights: dict[str, Capture]) -> SubGraph:
    """Returns the SubGraph from a node of a tree to its (h, c). It pushes every h.

    Args:
        tree: "left", "right" and "tokens" [n]. A leaf's left and right are -1.
        weights: "embedding" [v, e]; "leaf" [e, 3h] and "leaf_bias" for the gates i, o,
            u; "internal" [2h, 5h] and "internal_bias" for i, fl, fr, o, u.
    """
    cell = SubGraph("tree_lstm", num_outputs=2)
    with cell:
        node = cell.input()

        def leaf() -> tuple[Node, Node]:
            x = gather(weights["embedding"], gather(tree["tokens"], node))
            i, o, u = split(x @ weights["leaf"] + weights["leaf_bias"], 3)
            c = sigmoid(i) * tanh(u)
            return sigmoid(o) * tanh(c), c

        def internal() -> tuple[Node, Node]:
            hl, cl = cell(gather(tree["left"], node))
            hr, cr = cell(gather(tree["right"], node))
            gates = concat([hl, hr]) @ weights["internal"] + weights["internal_bias"]
            i, fl, fr, o, u = split(gates, 5)
            c = sigmoid(i) * tanh(u) + sigmoid(fl) * cl + sigmoid(fr) * cr
            return sigmoid(o) * tanh(c), c

        h, c = cond(gather(tree["left"], node) < 0, leaf, internal)
        cell.push("h", h, index=node, size=len(tree["tokens"]))
        cell.output(h, c)
    return cell


def main() -> None:
    """Prints fib, and a gradient of a TreeLSTM beside a finite difference."""
    base = 2
    with SubGraph("fib") as fib:
        n = fib.input()
        fib.output(cond(n < base, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    value, tape = fib.run(10)
    print(f"fib(10) = {value}, in {len(tape.cache)} invocations")

    rng = np.random.default_rng(seed=0)
    shapes = [("embedding", (5, 3)), ("leaf", (3, 6)), ("leaf_bias", (6,))]
    shapes += [("internal", (4, 10)), ("internal_bias", (10,))]
    weights = {name: Capture(rng.normal(size=shape)) for name, shape in shapes}
    # ((4 0) 4): node 4 is the root, and 3 its left child.
    tree = {"left": [-1, -1, -1, 0, 3], "right": [-1, -1, -1, 1, 2]}
    tree["tokens"] = [4, 0, 4, 0, 0]
    cell, root = tree_lstm(tree, weights), 4

    (_, _), tape = cell.run(root)
    print(f"the TreeLSTM's invocations: {sorted(tape.cache)}")
    # The loss is the sum of the root's h, and of the h of all nodes.
    gradients = tape.gradient(1.0, None, pushed={"h": 1.0})

    def loss(step: float) -> float:
        weights["internal"].value[1, 2] += step
        (h, _), tape = cell.run(root)
        weights["internal"].value[1, 2] -= step
        return float(h.sum() + tape.pushed["h"].sum())

    difference = (loss(1e-6) - loss(-1e-6)) / 2e-6
    exact = gradients[weights["internal"]][1, 2]
    print(f"a gradient: {exact:.8f}, by finite difference: {difference:.8f}")


if __name__ == "__main__":
    main()
