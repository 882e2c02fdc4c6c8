"""Drafts of the ops that passes add themselves."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.graphs.draft import Draft, Drafted, Shape, Spec
from recursive_tf.python.tf_compat import AttrValue


def like(op: tf.Operation, inputs: Sequence[Drafted], specs: Sequence[Spec]) -> Draft:
    """Returns an op of the kind of `op`; it gives what has `specs`."""
    attrs = tf_compat.attributes_of(op)
    return Draft(op.type, inputs, specs, attrs, name=op.name, source=op)


def constant(
    value: np.ndarray, dtype: tf.DType, source: tf.Operation | None = None
) -> Drafted:
    """Returns a constant."""
    attrs = {
        "dtype": AttrValue(type=dtype.as_datatype_enum),
        "value": AttrValue(tensor=tf.make_tensor_proto(value, dtype, value.shape)),
    }
    specs = [Spec(dtype, value.shape)]
    return Drafted(Draft("Const", [], specs, attrs, source=source, value=value))


def sizes(shape: Sequence[int]) -> np.ndarray:
    """Returns a shape as ops take it: of int32, if it can be."""
    wide = np.array(shape, np.int64)
    narrow = wide.astype(np.int32)
    return narrow if np.array_equal(narrow, wide) else wide


def reshape(
    value: Drafted,
    sizes: Drafted,
    shape: Shape,
    source: tf.Operation | None = None,
) -> Drafted:
    """Returns a value in the shape that `sizes` says."""
    return _one(
        "Reshape",
        [value, sizes],
        Spec(value.dtype, shape),
        source,
        T=_type(value),
        Tshape=_type(sizes),
    )


def total(
    value: Drafted, axes: Drafted, shape: Shape, source: tf.Operation | None
) -> Drafted:
    """Returns the sum along axes, without these."""
    return _one(
        "Sum",
        [value, axes],
        Spec(value.dtype, shape),
        source,
        T=_type(value),
        Tidx=_type(axes),
        keep_dims=AttrValue(b=False),
    )


def einsum(
    factors: Sequence[Drafted],
    equation: str,
    shape: Shape,
    source: tf.Operation | None,
) -> Drafted:
    """Returns a sum of products."""
    return _one(
        "Einsum",
        factors,
        Spec(factors[0].dtype, shape),
        source,
        T=_type(factors[0]),
        N=AttrValue(i=len(factors)),
        equation=AttrValue(s=equation.encode()),
    )


def first_size(value: Drafted) -> Drafted:
    """Returns the first size of the shape that a value has at run time: int32."""
    known = () if value.shape is None else value.shape
    shape = _one(
        "Shape",
        [value],
        Spec(tf.int32, (len(known),)),
        None,
        T=_type(value),
        out_type=AttrValue(type=tf.int32.as_datatype_enum),
    )
    zero, one = (constant(np.array([bound], np.int32), tf.int32) for bound in (0, 1))
    masks = ("begin", "ellipsis", "end", "new_axis")
    return _one(
        "StridedSlice",
        [shape, zero, one, one],
        Spec(tf.int32, ()),
        None,
        T=_type(shape),
        Index=_type(zero),
        shrink_axis_mask=AttrValue(i=1),
        **{f"{mask}_mask": AttrValue(i=0) for mask in masks},
    )


def cast(value: Drafted, dtype: tf.DType) -> Drafted:
    """Returns a value as another type, or as it is if that is its own."""
    if value.dtype == dtype:
        return value
    return _one(
        "Cast",
        [value],
        Spec(dtype, value.shape),
        None,
        SrcT=_type(value),
        DstT=AttrValue(type=dtype.as_datatype_enum),
        Truncate=AttrValue(b=False),
    )


def product(one: Drafted, other: Drafted) -> Drafted:
    """Returns the product of two numbers."""
    return _one("Mul", [one, other], Spec(one.dtype, ()), None, T=_type(one))


def pack(values: Sequence[Drafted]) -> Drafted:
    """Returns numbers as a vector."""
    return _one(
        "Pack",
        values,
        Spec(values[0].dtype, (len(values),)),
        None,
        T=_type(values[0]),
        N=AttrValue(i=len(values)),
        axis=AttrValue(i=0),
    )


def _one(
    op_type: str,
    inputs: Sequence[Drafted],
    spec: Spec,
    source: tf.Operation | None,
    **attrs: AttrValue,
) -> Drafted:
    """Returns what an op with one output gives, named beside what it stands for."""
    scope = "" if source is None else source.name.rpartition("/")[0]
    name = f"{scope}/{op_type}" if scope else op_type
    return Drafted(Draft(op_type, inputs, [spec], attrs, name=name, source=source))


def _type(value: Drafted) -> AttrValue:
    return AttrValue(type=value.dtype.as_datatype_enum)
