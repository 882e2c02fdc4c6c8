"""What a SubGraph takes and returns: written, read, checked."""

from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.tracing.signature import Signature
from recursive_tf.python.tracing.specs import (
    as_spec,
    format_spec,
    format_structure,
    source_line,
    spec_of,
)

INT = tf.TensorSpec([], tf.int32)
VECTOR = tf.TensorSpec([3], tf.float32)
ROWS = tf.TensorSpec([None, 3], tf.float32)
ANYTHING = tf.TensorSpec(None, tf.string)


class State(NamedTuple):
    h: tf.TensorSpec
    c: tf.TensorSpec


STRUCTURES = [
    INT,
    (INT,),
    (INT, VECTOR),
    [INT, [VECTOR]],
    {"n": INT, "rows": {"x": ROWS}},
    State(VECTOR, (ROWS, ANYTHING)),
    (),
]


def signature_of(*inputs, outputs=None):
    signature = Signature("f", outputs)
    signature.inputs.extend(inputs)
    return signature


def refusal(signature, *args, mapped=False):
    with pytest.raises(SubGraphError) as error:
        signature.flatten_arguments(args, mapped=mapped)
    return str(error.value)


# --- Specs as text


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (INT, "int32[]"),
        (VECTOR, "float32[3]"),
        (ROWS, "float32[?, 3]"),
        (ANYTHING, "string[...]"),
    ],
)
def test_a_spec_is_shown_with_its_dtype_and_dimensions(spec, text):
    assert format_spec(spec) == text


def test_a_structure_is_shown_with_its_keys():
    shown = format_structure({"n": INT, "pair": (VECTOR, [ROWS])})
    assert shown == "{n: int32[], pair: (float32[3], (float32[?, 3]))}"


def test_something_else_in_a_structure_is_shown_as_it_is():
    assert format_structure((INT, None)) == "(int32[], None)"


@pytest.mark.parametrize("structure", STRUCTURES, ids=str)
def test_a_source_line_is_python_that_gives_the_structure(structure):
    found = eval(source_line(structure), {"tf": tf, "State": State})
    assert found == structure
    assert type(found) is type(structure)


@pytest.mark.parametrize("dtype", [tf.bool, tf.string, tf.variant, tf.bfloat16])
def test_a_source_line_names_every_dtype(dtype):
    spec = tf.TensorSpec([1], dtype)
    assert eval(source_line(spec), {"tf": tf}) == spec


# --- Specs


def test_the_spec_of_a_tensor_has_no_name():
    assert spec_of(tf.zeros([3])) == VECTOR


def test_a_dtype_alone_is_a_scalar():
    assert as_spec(tf.int32) == INT


@pytest.mark.parametrize("dtype", ["int32", np.int32, tf.int32])
def test_a_dtype_may_be_anything_that_tensorflow_takes(dtype):
    assert as_spec(dtype) == INT


def test_a_spec_keeps_its_own_shape():
    assert as_spec(VECTOR) == VECTOR
    assert as_spec(VECTOR, shape=[3]) == VECTOR


# --- Arguments


def test_arguments_become_tensors_in_order():
    tensors = signature_of(INT, VECTOR).flatten_arguments((1, [1, 2, 3]), mapped=False)
    assert [spec_of(t) for t in tensors] == [INT, VECTOR]


def test_structures_are_flattened_in_order():
    signature = signature_of({"n": INT, "x": (VECTOR,)}, INT)
    args = ({"x": (tf.zeros([3]),), "n": 1}, 2)
    tensors = signature.flatten_arguments(args, mapped=False)
    assert [spec_of(t) for t in tensors] == [INT, VECTOR, INT]


def test_a_mapped_argument_has_rows_in_front():
    (tensor,) = signature_of(VECTOR).flatten_arguments((tf.zeros([5, 3]),), mapped=True)
    assert tensor.shape == [5, 3]


def test_too_few_arguments_are_refused():
    message = refusal(signature_of(INT, VECTOR), 1)
    assert "takes 2 input(s) (int32[], float32[3]), but was called with 1" in message


def test_another_dtype_is_refused():
    message = refusal(signature_of(INT), tf.constant(1.5))
    assert "Input 0 of SubGraph 'f' is int32[], but the argument is not" in message
    assert message.endswith("Cast it before the call.")


def test_another_shape_is_refused():
    message = refusal(signature_of(INT, VECTOR), 1, tf.zeros([4]))
    assert "Input 1 of SubGraph 'f' is float32[3], but the argument is" in message


def test_another_structure_is_refused():
    message = refusal(signature_of({"n": INT}), {"m": 1})
    assert "has the structure {n: int32[]}, but the argument has another" in message


def test_a_mapped_argument_without_rows_is_refused():
    message = refusal(signature_of(INT), 1, mapped=True)
    assert "is int32[?], but the argument is int32[]" in message
    assert "`.map` takes one row for each invocation" in message


def test_an_unknown_dimension_takes_any_size():
    tensors = signature_of(ROWS).flatten_arguments((tf.zeros([7, 3]),), mapped=False)
    assert tensors[0].shape == [7, 3]


# --- Outputs


def test_outputs_are_unknown_at_first():
    assert signature_of(INT).outputs is None


def test_the_first_outputs_are_taken():
    signature = signature_of(INT)
    signature.check_outputs({"h": VECTOR})
    assert signature.outputs == {"h": VECTOR}


def test_declared_outputs_are_specs_of_dtypes():
    assert signature_of(outputs=(tf.int32, VECTOR)).flat_outputs == [INT, VECTOR]


def test_observed_outputs_may_be_more_special_than_declared():
    signature = signature_of(outputs=ROWS)
    signature.check_outputs(tf.TensorSpec([2, 3], tf.float32))
    assert signature.outputs == ROWS


@pytest.mark.parametrize(
    "observed", [INT, tf.TensorSpec([4]), tf.TensorSpec([None]), (VECTOR,)], ids=str
)
def test_observed_outputs_unlike_the_declared_are_refused(observed):
    with pytest.raises(SubGraphError, match="its output_signature says float32\\[3\\]"):
        signature_of(outputs=VECTOR).check_outputs(observed)


def test_a_refusal_of_outputs_shows_the_line_to_pass():
    with pytest.raises(SubGraphError) as error:
        signature_of(outputs=VECTOR).check_outputs((INT, ROWS))
    line = str(error.value).rsplit("output_signature=", maxsplit=1)[1]
    assert eval(line, {"tf": tf}) == (INT, ROWS)


def test_a_refusal_says_that_outputs_were_guessed():
    signature = signature_of(outputs=VECTOR)
    signature.guessed = True
    with pytest.raises(SubGraphError, match="took from a sibling branch"):
        signature.check_outputs(INT)
