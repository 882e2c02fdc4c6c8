"""What is known of values: the dtypes and shapes of what they consist of.

A leaf of a structure is a tensor or a composite: a RaggedTensor, SparseTensor, an
extension type. To calls, a composite is the tensors that it consists of.
"""

import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError

# Names of specs that `repr` writes without their module.
_BARE_NAMES = re.compile(
    r"(?<![\w.])(?=(IndexedSlices|RaggedTensor|SparseTensor|Tensor)(Spec|Shape)\()"
)


class _Scalar:
    """What stands for the shape of a scalar where nobody said a shape."""

    def __repr__(self) -> str:
        return "()"


SCALAR = _Scalar()
_NONE_SPEC = tf.type_spec_from_value(None)
_NO_TENSOR_ARRAY = (
    "A SubGraph takes and returns no tf.TensorArray. Use what its .stack() returns."
)


def is_composite(value: Any) -> bool:
    """Says whether a value consists of tensors, and is none itself."""
    # A variable does too, of its handle; here it stands for its value.
    is_variable = isinstance(value, tf.Variable)
    return isinstance(value, tf.__internal__.CompositeTensor) and not is_variable


def spec_of(value: Any) -> tf.TypeSpec:
    """Returns the dtype and static shape of a tensor, or the spec of a composite.

    None has a spec too: that of a composite of no tensors.
    """
    if value is None or is_composite(value):
        return tf.type_spec_from_value(value)
    return tf.TensorSpec(value.shape, value.dtype)


def as_output(leaf: Any) -> Any:
    """Returns a tensor or composite that is a body's own, for what it outputs.

    Raises:
        SubGraphError: If that is neither, nor None.
    """
    if leaf is None:
        return None
    if is_composite(leaf):
        return tf.nest.map_structure(tf.identity, leaf, expand_composites=True)
    if isinstance(leaf, tf.TensorArray):
        raise SubGraphError(_NO_TENSOR_ARRAY)
    return tf.identity(tf.convert_to_tensor(leaf))


def flat_tensors(structure: Any) -> list[tf.Tensor]:
    """Returns the tensors of a structure, those of composites one by one."""
    flat = tf.nest.flatten(structure)
    leaves = [v if is_composite(v) else tf.convert_to_tensor(v) for v in flat]
    return tensor_parts(leaves)


def output_tensors(structure: Any) -> list[tf.Tensor]:
    """Returns the tensors of what a body outputs, in which None has none."""
    return [tensor for tensor in tensor_parts(structure) if tensor is not None]


def with_rows(spec: tf.TensorSpec, count: int | None = None) -> tf.TensorSpec:
    """Returns what a map takes or returns: `count` rows like `spec`, or any number."""
    shape = tf.TensorShape([count]).concatenate(spec.shape)
    return tf.TensorSpec(shape, spec.dtype)


def count_of_rows(tensors: Sequence[tf.Tensor]) -> int | None:
    """Returns how many rows the arguments of a map have, if that is known."""
    counts = (t.shape[0] for t in tensors if t.shape.rank)
    return next((count for count in counts if count is not None), None)


def leaves_like(specs: Any, value: Any) -> list[Any]:
    """Returns what stands in a structure for each spec of another, e.g. a list.

    Raises:
        TypeError: If the structures differ.
        ValueError: The same.
    """
    try:
        tf.nest.assert_same_structure(specs, value)
        return list(tf.nest.flatten(value))
    except (TypeError, ValueError) as error:
        if isinstance(value, (tf.Tensor, tf.Variable)):
            raise
        try:
            return list(tf.__internal__.nest.flatten_up_to(specs, value))
        except (TypeError, ValueError):
            raise error from None


def format_spec(spec: tf.TypeSpec) -> str:
    """Returns a spec for a person to read.

    >>> format_spec(tf.TensorSpec([None, 150], tf.float32))
    'float32[?, 150]'
    """
    if spec == _NONE_SPEC:
        return "None"
    if not is_tensor_spec(spec):
        return repr(spec)
    if spec.shape.rank is None:
        return f"{spec.dtype.name}[...]"
    dims = ", ".join("?" if d is None else str(d) for d in spec.shape.as_list())
    return f"{spec.dtype.name}[{dims}]"


def format_error(error: Exception) -> str:
    """Returns what an error says, as a sentence.

    >>> format_error(ValueError("it is too long"))
    'it is too long.'
    """
    return f"{str(error).rstrip('.')}."


def format_structure(structure: Any) -> str:
    """Returns a structure of specs for a person to read.

    >>> format_structure({"h": tf.TensorSpec([3]), "n": tf.TensorSpec([], tf.int32)})
    '{h: float32[3], n: int32[]}'
    """
    if isinstance(structure, tf.TypeSpec):
        return format_spec(structure)
    if isinstance(structure, dict):
        items = [f"{k}: {format_structure(v)}" for k, v in structure.items()]
        return "{" + ", ".join(items) + "}"
    if isinstance(structure, (tuple, list)):
        return "(" + ", ".join(format_structure(item) for item in structure) + ")"
    return repr(structure)


def source_line(structure: Any) -> str:
    """Returns Python code for a structure of specs, to paste into a program.

    >>> source_line((tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)))
    '(tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([], tf.int32))'
    """
    if is_tensor_spec(structure):
        shape = None if structure.shape.rank is None else structure.shape.as_list()
        return f"tf.TensorSpec({shape}, tf.{structure.dtype.name})"
    if structure == _NONE_SPEC:
        return "type(None)"
    if isinstance(structure, dict):
        items = [f"{key!r}: {source_line(v)}" for key, v in structure.items()]
        return "{" + ", ".join(items) + "}"
    if not isinstance(structure, (tuple, list)):
        return _BARE_NAMES.sub("tf.", repr(structure))
    items = [source_line(item) for item in structure]
    if hasattr(structure, "_fields"):
        return f"{type(structure).__name__}({', '.join(items)})"
    if isinstance(structure, list):
        return f"[{', '.join(items)}]"
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def as_spec(value: Any, shape: Any = SCALAR) -> tf.TypeSpec:
    """Returns the spec that a dtype and a shape, a spec, or None's type stand for.

    Raises:
        SubGraphError: If no input or output can be of it.
    """
    if value is None or value is type(None):
        return _NONE_SPEC
    if isinstance(value, tf.TensorArraySpec):
        raise SubGraphError(_NO_TENSOR_ARRAY)
    if not isinstance(value, tf.TypeSpec):
        return tf.TensorSpec(() if shape is SCALAR else shape, tf.as_dtype(value))
    if shape is not SCALAR and tf.TensorShape(shape) != getattr(value, "shape", None):
        raise SubGraphError(
            f"An input is declared as {format_spec(value)}, and with shape={shape}. A "
            "spec has a shape: leave out shape=."
        )
    return value


def as_declared(tensor: tf.Tensor, spec: tf.TensorSpec) -> tf.Tensor:
    """Returns `tensor`, with its shape checked when it runs if it is not known before.

    A body is built on what its inputs declare, so another shape would be folded away.
    """
    if covers(spec.shape, tensor.shape):
        return tensor
    return tf.ensure_shape(tensor, spec.shape)


def is_tensor_spec(spec: Any) -> bool:
    """Says whether a spec is of a tensor, not of a composite."""
    return isinstance(spec, tf.TensorSpec)


def tensor_parts(structure: Any) -> list[Any]:
    """Returns the tensors of a structure, or their specs."""
    return list(tf.nest.flatten(structure, expand_composites=True))


def covers(general: tf.TensorShape, special: tf.TensorShape) -> bool:
    """Says whether every tensor of shape `special` is one of shape `general`."""
    return bool(
        tf.TensorSpec(special, tf.float32).is_subtype_of(
            tf.TensorSpec(general, tf.float32)
        )
    )
