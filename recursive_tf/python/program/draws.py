"""Ops of a traced body that draw random numbers, and what they become.

TensorFlow's and Keras's generators have a state, which each draw changes: so numbers
would depend on the order of invocations, which run in parallel or all at once. In a
closed program each draw has a key instead: of the seed, which a root call takes of the
generator once, of the invocation's path, and of the draw's place in the body.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.captures import (
    Capture,
    DrawnSeed,
    GeneratorSeed,
    KerasSeed,
    Place,
)
from recursive_tf.python.program.effects import only_reads
from recursive_tf.python.program.graph_copy import (
    CONDITIONALS,
    FUNCTION_CALLS,
    LOOPS,
    GraphCopy,
    branch_graphs,
)
from recursive_tf.python.program.hoist import hoist
from recursive_tf.python.tf_compat import FuncGraph

# TensorFlow's number for the algorithm of its stateful random ops.
_PHILOX = 1
# The ops whose functions are copied when a program is closed.
_PARTS = CONDITIONALS | FUNCTION_CALLS | LOOPS
# The counters from which a key's numbers count.
_START = (0, 0)

# Returns the numbers that take the place of what an op draws.
Draw = Callable[[GraphCopy, tf.Operation, tf.Tensor], tf.Tensor]


def is_draw(op: tf.Operation) -> bool:
    """Says whether `op`, of a traced body, draws numbers or a seed for them."""
    if op.type in _STATEFUL:
        return True
    if op.type == "RngReadAndSkip":
        return bool(tf.get_static_value(op.inputs[1]) == _PHILOX)
    return op.type == "ReadVariableOp" and tf_compat.is_of_keras_seed(op)


def is_step_of_generator(op: tf.Operation) -> bool:
    """Says whether `op` only prepares a generator of Keras for its next draw."""
    return op.type == "AssignVariableOp" and tf_compat.is_of_keras_seed(op)


def draws_something(graph: FuncGraph) -> bool:
    """Says whether there is a draw in a traced graph, or in a part that is copied."""
    return any(is_draw(op) or draws_within(op) for op in graph.get_operations())


def draws_within(op: tf.Operation) -> bool:
    """Says whether there is a draw in a part that `op` names."""
    return op.type in _PARTS and any(map(draws_something, branch_graphs(op)))


def changes_something(graph: FuncGraph, *, is_copied: bool = True) -> bool:
    """Says whether a traced graph has an effect, that another op could see, left.

    Args:
        graph: The graph.
        is_copied: Whether closing the program copies its ops. What draws in another
            function, e.g. of an op that nothing is put in place of, stays what it is.
    """
    for op in graph.get_operations():
        replaced = is_copied and (is_draw(op) or is_step_of_generator(op))
        if not replaced and not only_reads(op):
            return True
        part = is_copied and op.type in _PARTS
        if any(changes_something(g, is_copied=part) for g in branch_graphs(op)):
            return True
    return False


def seed_of(copy: GraphCopy, op: tf.Operation) -> Capture:
    """Returns the seed of what `op` draws."""
    if op.type in _STATEFUL:
        return DrawnSeed(tf_compat.op_seed_of(op))
    outermost, handle = copy.origin(op.inputs[0])
    external = outermost.outside.external_of(handle)
    assert external is not None, "the state of a generator is made in a body"
    if op.type == "RngReadAndSkip":
        return GeneratorSeed(external, _PHILOX)
    return KerasSeed(external, op.outputs[0].dtype, _next_state(copy, op))


def drawn(copy: GraphCopy, op: tf.Operation, key: tf.Tensor) -> tf.Tensor:
    """Returns what takes the place of the output of `op`, in the default graph.

    Args:
        copy: Of the graph that `op` is in.
        op: It draws.
        key: uint64, another for each draw.
    """
    if op.type == "RngReadAndSkip":
        state = [tf.constant(_START, tf.int64), [tf.bitcast(key, tf.int64)]]
        return tf.concat(state, 0)
    if op.type == "ReadVariableOp":
        return tf.cast(tf.bitcast(key, tf.uint32), op.outputs[0].dtype)
    numbers = _STATEFUL[op.type](copy, op, key)
    numbers.set_shape(op.outputs[0].shape)
    return numbers


def _next_state(copy: GraphCopy, read: tf.Operation) -> Callable[[Place], tf.Tensor]:
    """Returns what computes the state of Keras's generator after that which was read.

    That is the same where Keras only looks at shapes: then it does not draw.
    """
    ops = read.graph.get_operations()
    after = (op for op in ops[ops.index(read) :] if is_step_of_generator(op))
    steps = [op.inputs[1] for op in after if op.inputs[0] is read.inputs[0]]
    following = steps[0] if steps else read.outputs[0]
    what = "The state of a Keras SeedGenerator"
    return lambda place: hoist(copy, following, place, what)


def _philox(key: tf.Tensor) -> dict[str, Any]:
    """Returns what TensorFlow's stateless ops take of a key."""
    counter = tf.constant(_START, tf.uint64)
    return {"key": tf.reshape(key, [1]), "counter": counter, "alg": _PHILOX}


def _floating(add: Callable[..., tf.Tensor]) -> Draw:
    def draw(copy: GraphCopy, op: tf.Operation, key: tf.Tensor) -> tf.Tensor:
        shape = copy.resolve(op.inputs[0])
        return add(shape=shape, dtype=op.outputs[0].dtype, **_philox(key))

    return draw


def _integers(copy: GraphCopy, op: tf.Operation, key: tf.Tensor) -> tf.Tensor:
    shape, minval, maxval = map(copy.resolve, op.inputs)
    return tf.raw_ops.StatelessRandomUniformIntV2(
        shape=shape, minval=minval, maxval=maxval, **_philox(key)
    )


def _gamma(copy: GraphCopy, op: tf.Operation, key: tf.Tensor) -> tf.Tensor:
    shape, alpha = _with_parameters(*map(copy.resolve, op.inputs))
    return tf.raw_ops.StatelessRandomGammaV3(shape=shape, alpha=alpha, **_philox(key))


def _poisson(copy: GraphCopy, op: tf.Operation, key: tf.Tensor) -> tf.Tensor:
    shape, rate = _with_parameters(*map(copy.resolve, op.inputs))
    return tf.raw_ops.StatelessRandomPoisson(
        shape=shape, seed=tf.bitcast(key, tf.int32), lam=rate, dtype=op.outputs[0].dtype
    )


def _with_parameters(
    shape: tf.Tensor, parameters: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the shape of numbers for each of some parameters, and these."""
    return tf.concat([shape, tf.shape(parameters, shape.dtype)], 0), parameters


def _categories(copy: GraphCopy, op: tf.Operation, key: tf.Tensor) -> tf.Tensor:
    """Draws by the Gumbel-max trick, of ops that the batched executor knows."""
    logits, count = map(copy.resolve, op.inputs)
    rows, classes = tf.unstack(tf.shape(logits), num=2)
    uniform = _uniform_doubles([rows, count, classes], key)
    scores = tf.cast(logits, tf.float64)[:, tf.newaxis] - tf.math.log(
        -tf.math.log(uniform)
    )
    return tf.argmax(scores, 2, output_type=op.outputs[0].dtype)


def _shuffled(copy: GraphCopy, op: tf.Operation, key: tf.Tensor) -> tf.Tensor:
    """Sorts by random numbers: of 2^52, so hardly ever two are the same."""
    rows = copy.resolve(op.inputs[0])
    return tf.gather(rows, tf.argsort(_uniform_doubles(tf.shape(rows)[:1], key)))


def _uniform_doubles(shape: Any, key: tf.Tensor) -> tf.Tensor:
    return tf.raw_ops.StatelessRandomUniformV2(
        shape=shape, dtype=tf.float64, **_philox(key)
    )


_STATEFUL: dict[str, Draw] = {
    "Multinomial": _categories,
    "RandomGamma": _gamma,
    "RandomPoissonV2": _poisson,
    "RandomShuffle": _shuffled,
    "RandomStandardNormal": _floating(tf.raw_ops.StatelessRandomNormalV2),
    "RandomUniform": _floating(tf.raw_ops.StatelessRandomUniformV2),
    "RandomUniformInt": _integers,
    "TruncatedNormal": _floating(tf.raw_ops.StatelessTruncatedNormalV2),
}
# The types of ops that may be draws, beside reads of the state of Keras's generators.
DRAWS = frozenset((*_STATEFUL, "RngReadAndSkip"))
