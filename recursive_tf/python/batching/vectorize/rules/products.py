"""Rules of matrix products."""

import math
import string
from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import register_vectorization
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock

_MATRIX = 2  # The rank.
_PAIR = 2
_ELLIPSIS = "..."


@register_vectorization("MatMul", "BatchMatMulV2", "BatchMatMulV3")
def product(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Rows times a matrix that all of them share is one product."""
    left, right = inputs
    names = (
        ("transpose_a", "transpose_b") if op.type == "MatMul" else ("adj_x", "adj_y")
    )
    flip_left, flip_right = (op.get_attr(name) for name in names)
    # The adjoint of real numbers is their transpose.
    transposes = op.type == "MatMul" or not op.outputs[0].dtype.is_complex
    transposes = transposes and op.type != "BatchMatMulV3"
    shape = op.outputs[0].shape.as_list()
    if transposes and left.is_row and not right.is_row and right.rank == _MATRIX:
        rows = _transposed(block, left) if flip_left else left.tensor
        flat = _as_matrix(block, rows, len(shape) - 1)
        result = tf.matmul(flat, block.tensor(right), transpose_b=flip_right)
        return [block.reshaped(result, shape)]
    is_vector = right.is_row and not left.is_row and shape[-1] == 1
    if transposes and is_vector and left.rank == right.rank == _MATRIX:
        # A matrix times a vector: the vectors are rows of the other factor.
        vectors = block.reshaped(right.tensor, [math.prod(right.shape)])
        result = tf.matmul(vectors, block.tensor(left), transpose_b=not flip_left)
        return [block.reshaped(result, shape)]
    factors = [block.aligned(operand, len(shape)) for operand in inputs]
    if op.type == "BatchMatMulV3":  # Of another type than its factors.
        return block.add_like(op, factors)
    kind = "transpose" if transposes else "adjoint"
    return [tf.matmul(*factors, **{f"{kind}_a": flip_left, f"{kind}_b": flip_right})]


@register_vectorization("Einsum")
def einsum(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Rows with a tensor that all of them share are one product, if no letter stays.

    The shared tensor is laid out as a matrix once a root call. Two tensors of a row are
    matrices.
    """
    equation = _without_ellipsis(op.get_attr("equation").decode(), inputs)
    left, output = equation.split("->")
    letters = left.split(",")
    if len(inputs) == _PAIR and inputs[0].is_row != inputs[1].is_row:
        first = 0 if inputs[0].is_row else 1
        rows, shared = inputs[first], inputs[1 - first]
        contraction = _as_product(letters[first], letters[1 - first], output)
        if contraction is not None and None not in shared.shape:
            return [_contracted(block, op, contraction, rows, shared)]
    if len(inputs) == _PAIR and all(operand.is_row for operand in inputs):
        product = _product_of_rows(block, equation, inputs)
        if product is not None:
            return [product]
    row = next(c for c in string.ascii_letters if c not in left)
    terms = [
        row * operand.is_row + term
        for operand, term in zip(inputs, letters, strict=True)
    ]
    equation = f"{','.join(terms)}->{row}{output}"
    return [tf.einsum(equation, *(block.tensor(operand) for operand in inputs))]


def _without_ellipsis(equation: str, inputs: list[Operand]) -> str:
    """Returns an equation with letters for `...`, unless that broadcasts."""
    left, output = equation.split("->")
    terms = left.split(",")
    widths = [
        operand.rank - len(term.replace(_ELLIPSIS, ""))
        for operand, term in zip(inputs, terms, strict=True)
    ]
    # As in broadcasting, the last of them are the same.
    spare = [c for c in string.ascii_letters if c not in equation][: max(widths)]
    terms = [
        term.replace(_ELLIPSIS, "".join(spare[len(spare) - width :]))
        for term, width in zip(terms, widths, strict=True)
    ]
    sizes: dict[str, int] = {}
    for operand, term in zip(inputs, terms, strict=True):
        for letter, size in zip(term, operand.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                return equation
    return ",".join(terms) + "->" + output.replace(_ELLIPSIS, "".join(spare))


class _Product(NamedTuple):
    """An einsum as one matrix product, by the order of axes of each factor.

    Attributes:
        kept: How many letters of the rows are not summed.
        rows: The axes of a row: those that stay, then those that are summed.
        shared: The axes of the shared tensor: those that are summed, then the others.
        output: The axes of the product in the order of the output.
    """

    kept: int
    rows: list[int]
    shared: list[int]
    output: list[int]


def _as_product(rows: str, shared: str, output: str) -> _Product | None:
    if len(set(rows)) < len(rows) or len(set(shared)) < len(shared):
        return None  # A diagonal.
    summed = [c for c in rows if c in shared]
    kept = [c for c in rows if c not in summed]
    new = [c for c in shared if c not in summed]
    if not summed or sorted(kept + new) != sorted(output):
        return None
    return _Product(
        len(kept),
        [rows.index(c) for c in kept + summed],
        [shared.index(c) for c in summed + new],
        [(kept + new).index(c) for c in output],
    )


def _contracted(
    block: VectorizedBlock,
    op: tf.Operation,
    product: _Product,
    rows: Operand,
    shared: Operand,
) -> tf.Tensor:
    num_summed = rows.rank - product.kept
    sizes = [shared.shape[axis] for axis in product.shared]
    inner, outer = math.prod(sizes[:num_summed]), math.prod(sizes[num_summed:])

    def as_matrix(tensor: tf.Tensor) -> tf.Tensor:
        return tf.reshape(_permuted(tensor, product.shared), [inner, outer])

    matrix = block.once(as_matrix, shared)
    flat = _as_matrix(block, _permuted_rows(rows.tensor, product.rows), product.kept)
    kept = [rows.shape[axis] for axis in product.rows[: product.kept]]
    result = tf.matmul(flat, block.tensor(matrix))
    result = block.reshaped(result, [*kept, *sizes[num_summed:]])
    result = _permuted_rows(result, product.output)
    assert result.shape[1:] == op.outputs[0].shape
    return result


def _product_of_rows(
    block: VectorizedBlock, equation: str, inputs: list[Operand]
) -> tf.Tensor | None:
    """Returns an einsum as products of matrices, or None if it is something else."""
    terms, output = equation.split("->")
    left, right = terms.split(",")
    # What is last in the output is last in the product: that moves whole runs.
    if output[-1:] in set(left) - set(right):
        left, right, inputs = right, left, inputs[::-1]
    both = [c for c in left if c in right and c in output]
    summed = [c for c in left if c in right and c not in output]
    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]
    product = both + rows + columns
    is_diagonal = any(len(set(term)) < len(term) for term in (left, right))
    if is_diagonal or sorted(product) != sorted(output):
        return None
    stacks = [
        _as_stack(left, both, rows, summed),
        _as_stack(right, both, summed, columns),
    ]
    factors = [
        stack.of(block, operand) for stack, operand in zip(stacks, inputs, strict=True)
    ]
    result = tf.matmul(
        *factors,
        transpose_a=stacks[0].is_transposed,
        transpose_b=stacks[1].is_transposed,
    )
    sizes = {
        letter: size
        for term, operand in zip((left, right), inputs, strict=True)
        for letter, size in zip(term, operand.shape, strict=True)
    }
    result = block.reshaped(result, [sizes[letter] for letter in product])
    return _permuted_rows(result, [product.index(letter) for letter in output])


class _Stack(NamedTuple):
    """How a tensor is a stack of matrices, or of transposed ones.

    Attributes:
        axes: The tensor's axes in the order of the stack's.
        counts: How many of them are in front of the matrices, and their first axis.
        is_transposed: Whether each matrix is.
    """

    axes: list[int]
    counts: tuple[int, int]
    is_transposed: bool

    def of(self, block: VectorizedBlock, operand: Operand) -> tf.Tensor:
        """Returns the stack of each row."""
        sizes = [operand.shape[axis] for axis in self.axes]
        front, end = self.counts[0], sum(self.counts)
        shape = [*sizes[:front], math.prod(sizes[front:end]), math.prod(sizes[end:])]
        return block.reshaped(_permuted_rows(operand.tensor, self.axes), shape)


def _as_stack(
    term: str, front: list[str], rows: list[str], columns: list[str]
) -> _Stack:
    # What is last stays last: that moves whole runs, or nothing at all.
    is_transposed = bool(columns) and term[-1:] in rows
    first, last = (columns, rows) if is_transposed else (rows, columns)
    axes = [term.index(letter) for letter in front + first + last]
    return _Stack(axes, (len(front), len(first)), is_transposed)


def _as_matrix(block: VectorizedBlock, rows: tf.Tensor, num_kept: int) -> tf.Tensor:
    """Returns all rows as one matrix, whose columns are all but some first axes."""
    shape = rows.shape.as_list()[1:]
    height = block.num_rows * math.prod(shape[:num_kept])
    return tf.reshape(rows, [height, math.prod(shape[num_kept:])])


def _permuted(tensor: tf.Tensor, axes: list[int]) -> tf.Tensor:
    return tensor if axes == sorted(axes) else tf.transpose(tensor, axes)


def _permuted_rows(rows: tf.Tensor, axes: list[int]) -> tf.Tensor:
    return _permuted(rows, [0, *(axis + 1 for axis in axes)])


def _transposed(block: VectorizedBlock, operand: Operand) -> tf.Tensor:
    *batch, rows, columns = operand.shape
    if 1 in (rows, columns):
        return block.reshaped(operand.tensor, [*batch, columns, rows])
    return tf.linalg.matrix_transpose(operand.tensor)
