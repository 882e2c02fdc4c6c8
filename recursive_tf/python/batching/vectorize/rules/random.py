"""Rules of random numbers, which each activation draws from a key of its own."""

from collections.abc import Sequence

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import register_vectorization
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock

# TensorFlow's numbers for Philox, and for what it takes on the CPU, which is Philox.
_PHILOX = (1, 3)

# The ops that draw for all activations what TensorFlow's draw for one, bit by bit.
_ROWS = {
    "StatelessRandomNormalV2": library.recursive_normal_rows,
    "StatelessRandomUniformFullIntV2": library.recursive_full_int_rows,
    "StatelessRandomUniformV2": library.recursive_uniform_rows,
    "StatelessTruncatedNormalV2": library.recursive_truncated_normal_rows,
}


@register_vectorization("RecursiveMixKey")
def mix_key(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """A number that all activations share stays one."""
    shape = op.outputs[0].shape.as_list()
    return block.add_like(
        op,
        [
            block.tensor(operand)
            if not operand.is_row and operand.rank == 0
            else block.all_rows(operand, shape)
            for operand in inputs
        ],
    )


@register_vectorization("StatelessRandomGetKeyCounter")
def key_and_counter(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Each activation has its seed."""
    del op
    return list(library.recursive_key_rows(seed=block.all_rows(inputs[0])))


@register_vectorization(*_ROWS)
def draw(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """As many numbers for each activation, of its key."""
    _check_algorithm(op, inputs[3])
    rows = _ROWS[op.type](
        shape=block.shared(op, 0, inputs),
        key=block.all_rows(inputs[1]),
        counter=block.all_rows(inputs[2]),
        dtype=op.outputs[0].dtype,
    )
    return [rows]


@register_vectorization("StatelessRandomUniformIntV2")
def draw_integers(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The same, of the range of each activation."""
    _check_algorithm(op, inputs[3])
    rows = library.recursive_int_rows(
        shape=block.shared(op, 0, inputs),
        key=block.all_rows(inputs[1]),
        counter=block.all_rows(inputs[2]),
        minval=block.all_rows(inputs[4]),
        maxval=block.all_rows(inputs[5]),
    )
    return [rows]


def _check_algorithm(op: tf.Operation, algorithm: Operand) -> None:
    number = None if algorithm.is_row else static_value(algorithm.tensor)
    if number not in _PHILOX:
        raise CannotBatchError(
            op,
            'its algorithm is not "philox". Say alg="philox", or use the dataflow '
            "executor.",
        )
