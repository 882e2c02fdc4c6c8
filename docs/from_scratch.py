"""Recursive dataflow from scratch, in plain Python and numpy.

Read this file from top to bottom: it builds, in some 200 lines of code and 30 of
example, the idea on which the library stands (Jeong et al., EuroSys 2018, sections 3 to
5). With what explains them it is one file of over 400 lines, to be read in one go.

A *SubGraph* is a dataflow graph that may contain calls of itself. Every call that
runs is an *invocation*, and its *path*, the call sites that lead to it from the root,
names it. Forward values stay in a *backprop cache* under that path. The gradient is the
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

import itertools
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]
Path = tuple[int, ...]
Running = Generator[Any, Any, list[Any]]  # Work to do: see `_drive` in section 5.


# --- 1. Operations -------------------------------------------------------------------
#
# An operation is a pair of numpy functions: the value, and the vector-Jacobian product
# that turns the result's cotangent, and the arguments, into the arguments' cotangents.
# Applied to nodes it computes nothing: `_step` (section 3) notes it down for later.


def operation(function: Function, vjp: Function | None = None) -> Function:
    """Returns a function from nodes to a node, e.g. `tanh` below.

    The vector-Jacobian product may ignore broadcasting, and that integers have no
    gradient: `Activation.add` sees to both. Piecewise constants need none.
    """

    def forward(_: Activation, *values: Array) -> list[Any]:
        return [function(*values)]

    def backward(_: Activation, cotangents: list[Any], *values: Array) -> Any:
        (g,) = cotangents
        return [None] * len(values) if g is None or vjp is None else vjp(g, *values)

    return lambda *arguments: _step(arguments, 1, forward, backward)


def _swapped(binary: Function) -> Function:
    return lambda x, y: binary(y, x)


def _matmul_vjp(g: Array, x: Array, y: Array) -> list[Array]:
    rows, columns = np.atleast_2d(x), y.reshape(len(y), -1)
    g = g.reshape(len(rows), -1)
    return [(g @ columns.T).reshape(x.shape), (rows.T @ g).reshape(y.shape)]


def _gather_vjp(g: Array, table: Array, index: Array) -> list[Any]:
    result = np.zeros_like(table)
    np.add.at(result, index, g)
    return [result, None]


add = operation(np.add, lambda g, x, y: [g, g])
subtract = operation(np.subtract, lambda g, x, y: [g, -g])
multiply = operation(np.multiply, lambda g, x, y: [g * y, g * x])
matmul = operation(np.matmul, _matmul_vjp)  # Of vectors and matrices.
negative = operation(np.negative, lambda g, x: [-g])
tanh = operation(np.tanh, lambda g, x: [g * (1.0 - np.tanh(x) ** 2)])
reduce_sum = operation(np.sum, lambda g, x: [np.full(x.shape, g)])
modulo = operation(np.mod, lambda g, x, y: [g, -g * (x // y)])
floor_divide = operation(np.floor_divide)
less, less_equal, equal = map(operation, (np.less, np.less_equal, np.equal))
# gather(table, index): the row of `table`, or the rows, at the integers `index`.
gather = operation(lambda table, index: table[index], _gather_vjp)


def sigmoid(x: Any) -> Any:
    """Returns 1 / (1 + exp(-x)), and does not overflow."""
    return 0.5 * tanh(0.5 * x) + 0.5


def split(x: Any, count: int) -> list[Node]:
    """Cuts the last axis into equal parts."""

    def vjp(g: Array, _: Array) -> list[Array]:
        return [np.concatenate(g, -1)]

    parts = operation(lambda x: np.split(x, count, -1), vjp)(x)
    return [gather(parts, k) for k in range(count)]


def concat(parts: Sequence[Any], axis: int = -1) -> Any:
    """Joins arrays along an axis."""

    def vjp(g: Array, *parts: Array) -> list[Array]:
        return np.split(g, np.cumsum([x.shape[axis] for x in parts])[:-1], axis)

    return operation(lambda *parts: np.concatenate(parts, axis), vjp)(*parts)


# --- 2. Nodes and captures -----------------------------------------------------------
#
# A node stands for a value that each invocation will have. A capture is an outer array
# that is used without being an input (the paper's outer reference): it belongs to no
# SubGraph, is not handed from call to call, and has one value for the whole run.


class Node:
    """A value in a SubGraph."""

    __array_ufunc__ = None  # So that `array * node` is ours, not numpy's.
    __add__, __radd__ = add, _swapped(add)
    __sub__, __rsub__ = subtract, _swapped(subtract)
    __mul__, __rmul__ = multiply, _swapped(multiply)
    __matmul__, __rmatmul__ = matmul, _swapped(matmul)
    __floordiv__, __mod__, __neg__ = floor_divide, modulo, negative
    __lt__, __gt__ = less, _swapped(less)
    __le__, __ge__ = less_equal, _swapped(less_equal)

    def __bool__(self) -> bool:
        raise TypeError("A node has no value while tracing: branch on it with cond().")


class Capture(Node):
    """An outer array: a weight, or data. Bare arrays and numbers become one too.

    From a run to the last of its gradients, leave `value` as it is.
    """

    def __init__(self, value: Any):
        self.value = _array(value)


def _array(value: Any) -> Array:
    array: Array = np.asarray(value)
    return array.astype(np.float64, copy=False) if array.dtype.kind == "f" else array


# --- 3. SubGraphs --------------------------------------------------------------------
#
# Tracing runs the user's Python once, and what remains is a list of steps. A recursive
# call is one of the steps and *names* its callee, so tracing ends although the callee
# has no outputs yet: that is all a forward declaration is. A step has inputs, outputs,
# and two functions that are mirror images:
#
#     forward(activation, *input values) -> output values
#     backward(activation, output cotangents, *input values) -> input cotangents
#
# A step that calls a SubGraph returns a `Running` instead, which will return the same.
# `SubGraph.forward` and `.backward`, which run the steps, are the heart of it all.

Step = tuple[list[Node], list[Node], Function, Function]
_tracing: list[SubGraph] = []


class SubGraph:
    """A dataflow graph that may be called, and may contain such calls.

    A call returns `num_outputs` values: one node, or a tuple of several. The branches
    of a conditional are SubGraphs too. They run in the activation of their `owner`.
    """

    def __init__(self, name: str = "subgraph", num_outputs: int = 1, owner: Any = None):
        self.name, self.num_outputs, self.owner = name, num_outputs, owner or self
        self.inputs, self.outputs = list[Node](), list[Node]()
        self.steps, self.sites = list[Step](), itertools.count()

    def __enter__(self) -> SubGraph:
        _tracing.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _tracing.pop()

    def input(self) -> Node:
        """Declares the next input."""
        self.inputs.append(Node())
        return self.inputs[-1]

    def output(self, *values: Any) -> None:
        """Defines the outputs. `output(a, b)` is `output((a, b))`."""
        self.outputs = _nodes(values[0] if isinstance(values[0], tuple) else values)

    def __call__(self, *arguments: Any) -> Any:
        """Calls it from the SubGraph that is being traced."""
        site = next(_tracing[-1].owner.sites)

        def forward(here: Activation, *values: Array) -> Running:
            return self.forward(here.callee(site), values)

        def backward(here: Activation, cotangents: list[Any], *_: Array) -> Running:
            return self.backward(here.callee(site), cotangents)

        return _step(arguments, self.num_outputs, forward, backward)

    def push(self, name: str, value: Any, *, index: Any, size: Any) -> None:
        """Makes `value` row `index` of the run's array `name`, of `size` rows."""

        def forward(here: Activation, value: Array, row: Any, size: Any) -> list[Any]:
            rows = here.tape.pushed.setdefault(name, np.zeros((size, *value.shape)))
            if (name, int(row)) in here.tape.taken or not 0 <= row < len(rows):
                raise IndexError(f"Row {row} of {name!r} is taken or does not exist.")
            here.tape.taken.add((name, int(row)))
            rows[row] = value
            return []

        def backward(here: Activation, _: Any, *values: Array) -> list[Any]:
            rows = here.gradients.pushed.get(name)
            return [None if rows is None else rows[values[1]], None, None]

        _step([value, index, size], 0, forward, backward)

    def forward(self, here: Activation, arguments: Iterable[Any]) -> Running:
        """One invocation: from the inputs' values to the outputs'."""
        if not self.outputs:
            raise ValueError(f"{self.name!r} is called but output() was never given.")
        here.put(self.inputs, arguments)
        for inputs, outputs, forward, _ in self.steps:
            here.put(outputs, (yield forward(here, *here[inputs])))
        return here[self.outputs]

    def backward(self, here: Activation, cotangents: list[Any]) -> Running:
        """The mirror: from the outputs' cotangents to the inputs', in reverse."""
        here.add(self.outputs, cotangents)
        for inputs, outputs, _, backward in reversed(self.steps):
            cotangents = [here.cotangents.get(node) for node in outputs]
            here.add(inputs, (yield backward(here, cotangents, *here[inputs])))
        return [here.cotangents.get(node) for node in self.inputs]

    def run(self, *arguments: Any, mapped: bool = False) -> tuple[Any, Tape]:
        """Calls it, if mapped once a row; returns the outputs' values and the tape."""
        tape = Tape(self, [_array(x) for x in arguments], mapped)
        return _structure(tape.outputs), tape


def _nodes(values: Iterable[Any]) -> list[Node]:
    return [x if isinstance(x, Node) else Capture(x) for x in values]


def _structure(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _step(inputs: Any, count: int, forward: Function, backward: Function) -> Any:
    outputs = [Node() for _ in range(count)]
    _tracing[-1].steps.append((_nodes(inputs), outputs, forward, backward))
    return _structure(outputs)


def cond(predicate: Any, true_fn: Function, false_fn: Function) -> Any:
    """Returns what one of two functions returns: a node, or a tuple of nodes."""
    branches = list[SubGraph]()
    for function in (false_fn, true_fn):
        with SubGraph("branch", owner=_tracing[-1].owner) as branch:
            branch.input()  # The predicate.
            branch.output(function())
        branches.append(branch)

    def forward(here: Activation, taken: Array) -> Running:
        return branches[bool(taken)].forward(here, [taken])

    def backward(here: Activation, cotangents: list[Any], taken: Array) -> Running:
        return branches[bool(taken)].backward(here, cotangents)

    return _step([predicate], len(branch.outputs), forward, backward)


# --- 4. Invocations ------------------------------------------------------------------
#
# The root invocation has the path (), and those of a mapped root have (row,). Call site
# s of the invocation p makes p + (s,). The gradient of an invocation has the same path,
# and finds there what it needs, so that neither has to know when the other ran.

MAX_DEPTH = 5_000  # A runaway recursion stops here.


class Activation:
    """The run-time state of one invocation, or of its gradient.

    Its values are in the backprop cache. Only a gradient has cotangents; that of a
    capture is not handed from callee to caller, but added to one sum at the root.
    """

    def __init__(self, path: Path, tape: Tape, gradients: Any = None):
        if len(path) > MAX_DEPTH:
            raise RecursionError(f"The recursion is deeper than {MAX_DEPTH}.")
        self.path, self.tape, self.gradients = path, tape, gradients
        self.values = tape.cache.setdefault(path, {})
        self.cotangents: dict[Node, Array] = {}

    def callee(self, site: int) -> Activation:
        """Returns the activation of what a call site here invokes."""
        return Activation((*self.path, site), self.tape, self.gradients)

    def __getitem__(self, nodes: Iterable[Node]) -> list[Array]:
        return [x.value if isinstance(x, Capture) else self.values[x] for x in nodes]

    def put(self, nodes: Iterable[Node], values: Iterable[Any]) -> None:
        """Stores values that this invocation has computed or was given."""
        self.values.update(zip(nodes, map(_array, values), strict=True))

    def add(self, nodes: list[Node], cotangents: Iterable[Any]) -> None:
        """Adds to the nodes' cotangents; None is zero, and integers have none."""
        for node, value, g in zip(nodes, self[nodes], cotangents, strict=True):
            if g is not None and value.dtype.kind == "f":
                capture = isinstance(node, Capture)
                sums = self.gradients.captures if capture else self.cotangents
                sums[node] = sums.get(node, 0.0) + _unbroadcast(g, value.shape)


def _unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sums over the axes along which an argument of this shape was repeated."""
    g = np.sum(g, tuple(range(np.ndim(g) - len(shape))))
    axes = tuple(k for k, n in enumerate(shape) if n != g.shape[k])
    return g.sum(axes, keepdims=True)


# --- 5. The root: one run forward, any number of times back --------------------------
#
# Invocations that ran their callees on Python's own stack would end at depth 1,000. So
# each yields what its steps return. If that is work, `_drive` puts it on a stack of its
# own, and sends back what comes of it. If it is values, it sends them back.


def _drive(running: Running) -> Any:
    stack, result = [running], None
    while stack:
        try:
            result = stack[-1].send(result)
        except StopIteration as returned:
            stack.pop()
            result = returned.value
        if isinstance(result, Generator):
            stack.append(result)
            result = None
    return result


class Tape:
    """One root call, with all that its gradient needs.

    `outputs` are the root's, `cache` is the backprop cache, and `pushed` has the pushed
    arrays by name. Rows that no invocation pushed are zeros.
    """

    def __init__(self, callee: SubGraph, arguments: list[Array], mapped: bool):
        self.callee, self.arguments, self.paths = callee, arguments, list[Path]([()])
        self.cache: dict[Path, dict[Node, Array]] = {}
        self.pushed, self.taken = dict[str, Array](), set[tuple[str, int]]()
        if mapped:
            (count,) = {len(column) for column in arguments}
            self.paths = [(row,) for row in range(count)]
        results = []
        for path in self.paths:  # It is an index, too: x[(row,)] is x[row], x[()] is x.
            row = [column[path] for column in arguments]
            results.append(_drive(callee.forward(Activation(path, self), row)))
        columns = map(np.array, zip(*results, strict=True))
        self.outputs = list(columns) if mapped else results[0]

    def gradient(self, *cotangents: Any, pushed: Any = None) -> Gradients:
        """Runs the gradient recursion from cotangents of the outputs; None is zeros.

        `pushed` has those of pushed arrays, e.g. `{"h": np.ones([n, d])}`.
        """
        return Gradients(self, cotangents or [None] * len(self.outputs), pushed or {})


class Gradients:
    """One run backward: `inputs` are the gradients of the root's inputs."""

    def __init__(self, tape: Tape, cotangents: Iterable[Any], pushed: dict[str, Any]):
        self.captures = dict[Node, Array]()
        self.inputs = [np.zeros(x.shape) for x in tape.arguments]
        self.pushed = {name: _full(g, tape.pushed[name]) for name, g in pushed.items()}
        columns = [_full(g, y) for g, y in zip(cotangents, tape.outputs, strict=True)]
        for path in tape.paths:
            row = [g[path] for g in columns]
            running = tape.callee.backward(Activation(path, tape, self), row)
            for gradient, g in zip(self.inputs, _drive(running), strict=True):
                gradient[path] = 0.0 if g is None else g

    def __getitem__(self, capture: Capture) -> Array:
        """Returns the gradient of a capture: zeros if none reached it."""
        return self.captures.get(capture, np.zeros(capture.value.shape))


def _full(cotangent: Any, value: Array) -> Array:
    return np.broadcast_to(0.0 if cotangent is None else cotangent, value.shape)


# --- 6. A demonstration: a binary TreeLSTM (Tai et al. 2015, eqs 9-14, N = 2) --------


def tree_lstm(tree: dict[str, Any], weights: dict[str, Capture]) -> SubGraph:
    """Returns the SubGraph from a node of a tree to its (h, c). It pushes every h.

    The tree is "left", "right" and "tokens" [n]; a leaf has left and right -1. The
    weights: "embedding" [v, e]; "leaf" [e, 3h] and "leaf_bias" for the gates i, o, u;
    "internal" [2h, 5h] and "internal_bias" for the gates i, fl, fr, o, u.
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
    """Prints a power, by halves, and its derivative."""
    with SubGraph("power") as power:
        x, n = power.input(), power.input()
        k = n // 2
        power.output(cond(n <= 1, lambda: x, lambda: power(x, k) * power(x, n - k)))
    value, tape = power.run(2.0, 3)
    print(f"2^3 = {value}, by the invocations {sorted(tape.cache)}")
    print(f"d x^3 / dx = {tape.gradient(1.0).inputs[0]} at 2")


if __name__ == "__main__":
    main()
