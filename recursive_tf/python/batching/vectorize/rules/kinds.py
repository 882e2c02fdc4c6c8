"""Rules of kinds of ops, by what an op does with the dimensions of its inputs."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python.batching.graphs.static import static_value
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.rules.table import (
    elementwise,
    register_vectorization,
)
from recursive_tf.python.batching.vectorize.vectorized_block import VectorizedBlock

# Element by element, beside what TensorFlow says is.
ELEMENTWISE = (
    *("Cast", "Equal", "LeakyRelu", "NextAfter", "NotEqual", "PopulationCount"),
    *("PreventGradient", "SelectV2", "StopGradient", "FakeQuantWithMinMaxArgs"),
    *("AsString", "DecodeBase64", "EncodeBase64", "StaticRegexFullMatch"),
    *("StaticRegexReplace", "StringLength", "StringLower", "StringStrip"),
    *("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"),
    *("StringToNumber", "StringUpper", "UnicodeScript", "Bitcast", "Bucketize"),
)
register_vectorization(*ELEMENTWISE)(elementwise)

# The same, but inputs do not broadcast.
ALIKE = (
    *("ApproximateEqual", "Betainc", "StringJoin", "Substr"),
    *("EluGrad", "LeakyReluGrad", "ReciprocalGrad", "Relu6Grad", "ReluGrad"),
    *("RsqrtGrad", "SeluGrad", "SigmoidGrad", "SoftplusGrad", "SoftsignGrad"),
    *("SqrtGrad", "TanhGrad"),
)

# Ops of the last dimensions, with any in front; and how many inputs have these. What
# comes after them must be shared.
_OF_LAST_DIMENSIONS = {
    "Cross": 2,
    "NthElement": 1,
    "TopKV2": 1,
    **dict.fromkeys(("HSVToRGB", "LogSoftmax", "RGBToHSV", "Softmax"), 1),
    **dict.fromkeys(("Cholesky", "LogMatrixDeterminant", "MatrixDeterminant"), 1),
    **dict.fromkeys(("MatrixInverse", "MatrixLogarithm", "MatrixSquareRoot"), 1),
    **dict.fromkeys(("Eig", "Lu", "Qr", "SelfAdjointEigV2", "Svd"), 1),
    **dict.fromkeys(("MatrixSolve", "MatrixSolveLs", "TridiagonalSolve"), 2),
    **dict.fromkeys(("MatrixBandPart", "MatrixDiag", "MatrixDiagPart"), 1),
    **dict.fromkeys(("MatrixDiagPartV3", "MatrixDiagV3"), 1),
    **dict.fromkeys(("MatrixSetDiag", "MatrixSetDiagV3"), 2),
    **dict.fromkeys(("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"), 1),
    **dict.fromkeys(("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D"), 1),
}

# The same of ops with one dimension of examples in front.
_OF_EXAMPLES = {
    **dict.fromkeys(("Conv2D", "Conv3D", "DepthwiseConv2dNative", "Dilation2D"), 1),
    **dict.fromkeys(("AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D", "MaxPoolV2"), 1),
    **dict.fromkeys(("DepthToSpace", "ExtractImagePatches", "LRN", "SpaceToDepth"), 1),
    **dict.fromkeys(("ResizeArea", "ResizeBicubic", "ResizeBilinear"), 1),
    **dict.fromkeys(("InTopK", "InTopKV2", "LowerBound", "UpperBound"), 2),
    "ResizeNearestNeighbor": 1,
    "ReverseSequence": 2,
    "SparseSoftmaxCrossEntropyWithLogits": 2,
}

# Ops along axes: which input has the values, and which the axes. What else they take
# must be shared.
_ALONG_AXES = {
    **dict.fromkeys(("All", "Any", "EuclideanNorm", "Max", "Mean", "Min"), (0, 1)),
    **dict.fromkeys(("Prod", "ReduceJoin", "Sum"), (0, 1)),
    **dict.fromkeys(("ArgMax", "ArgMin", "ReverseV2"), (0, 1)),
    **dict.fromkeys(("Cumprod", "Cumsum", "CumulativeLogsumexp"), (0, 1)),
    "Roll": (0, 2),
    "Split": (1, 0),
    "SplitV": (0, 2),
}


@register_vectorization(*ALIKE)
def alike(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """All inputs are broadcast to the shape of the output."""
    shape = op.outputs[0].shape.as_list()
    return block.add_like(op, [block.all_rows(operand, shape) for operand in inputs])


@register_vectorization(*_OF_LAST_DIMENSIONS)
def of_last_dimensions(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Rows are one more dimension in front."""
    count = _OF_LAST_DIMENSIONS[op.type]
    others = [block.shared(op, i, inputs) for i in range(count, len(inputs))]
    return block.add_like(op, [*map(block.all_rows, inputs[:count]), *others])


@register_vectorization(*_OF_EXAMPLES)
def of_examples(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The examples of all rows are examples."""
    count = _OF_EXAMPLES[op.type]
    others = [block.shared(op, i, inputs) for i in range(count, len(inputs))]
    examples = [merged(block, operand) for operand in inputs[:count]]
    return [
        block.reshaped(result, output.shape.as_list())
        for result, output in zip(
            block.add_like(op, [*examples, *others]), op.outputs, strict=True
        )
    ]


def merged(block: VectorizedBlock, operand: Operand) -> tf.Tensor:
    """Returns all rows with their first two dimensions as one."""
    first, *rest = operand.shape
    return tf.reshape(block.all_rows(operand), [block.num_rows * first, *rest])


@register_vectorization(*_ALONG_AXES)
def along_axes(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """Along the same axes of each row."""
    values, axes = _ALONG_AXES[op.type]
    found = static_value(inputs[axes].tensor)
    if found is None:
        raise CannotBatchError(op, "its axis is computed. Make it a Python number.")
    shifted = np.mod(found, max(inputs[values].rank, 1)) + 1
    given = {
        values: block.all_rows(inputs[values]),
        axes: tf.constant(shifted, inputs[axes].tensor.dtype),
    }
    return block.add_like(
        op,
        [
            given[i] if i in given else block.shared(op, i, inputs)
            for i in range(len(inputs))
        ],
    )
