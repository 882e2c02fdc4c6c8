"""Lookups that prepare the calls of a branch, with ids that are out of range.

The batched executor looks up with the condition, for all activations: see
recursive_tf/python/batching/plan/stages.py. Who takes the branch gets the error that
the dataflow executor gives, and who does not gets none.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import failure_of

SIZE = 4
CHOICES = {
    "dataflow": {"executor": "dataflow"},
    "compiled": {"executor": "batched", "options": rtf.Options(blocks="compiled")},
    "tensorflow": {"executor": "batched", "options": rtf.Options(blocks="tensorflow")},
}
# Looked up, because that is not computed before it is wanted.
SECOND = tf.Variable([1])
# A step from a place to the next, in the branch for true or for false.
STEPS = {
    "then": lambda place, go_on, stop: tf.cond(place >= 0, go_on, stop),
    "else": lambda place, go_on, stop: tf.cond(place < 0, stop, go_on),
    "first case": lambda place, go_on, stop: tf.switch_case(
        tf.cast(place < 0, tf.int32), [go_on, stop]
    ),
    "middle case": lambda place, go_on, stop: tf.switch_case(
        tf.where(place < 0, 2, 1), [stop, go_on, stop]
    ),
    "last case": lambda place, go_on, stop: tf.switch_case(
        tf.where(place < 0, 0, 7), [stop, go_on]
    ),
    "a branch of a branch": lambda place, go_on, stop: tf.cond(
        place < -1, stop, lambda: tf.cond(place < 0, stop, go_on)
    ),
    "a branch that all take": lambda place, go_on, stop: tf.cond(
        place < 0, stop, lambda: tf.switch_case(tf.gather(SECOND, 0), [stop, go_on])
    ),
}
LOOKUPS = {
    "gather": tf.gather,
    "index": lambda table, place: table[place],
    "index of a matrix": lambda table, place: tf.stack([table, -table], 1)[place, 0],
}


def length(step, look_up, choice):
    """Returns a function that counts the steps from each start until one below 0."""

    def count(next_of, starts):
        with rtf.SubGraph("length", **CHOICES[choice]) as steps:
            place = steps.input(tf.int32)

            def go_on():
                return 1 + steps(look_up(next_of, place))

            steps.output(step(place, go_on, lambda: tf.constant(0)))
        return steps.map(starts)

    signature = [tf.TensorSpec([None], tf.int32)] * 2
    return tf.function(count, input_signature=signature)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("look_up", LOOKUPS.values(), ids=LOOKUPS)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_who_wants_a_row_that_is_not_there_is_told(step, look_up, choice):
    count = length(step, look_up, choice)
    far = -(2**31)
    np.testing.assert_array_equal(count([1, 2, -1, far], [0, -9, 3, 2]), [3, 0, 1, 1])
    failure = failure_of(lambda: count([1, SIZE, -1, far], [2, 0, -9]))
    assert failure.startswith("SubGraph 'length' failed at length[row 1] → ")
    assert str(SIZE) in failure
    assert failure.count("call#") == 2


@pytest.mark.parametrize("choice", CHOICES)
def test_two_tables_of_which_one_is_short(choice):
    """A number that is in one of them is looked up without a launch."""

    def sums(values, left, right, starts):
        with rtf.SubGraph("sums", **CHOICES[choice]) as sums:
            node = sums.input(tf.int32)

            def inner():
                return sums(tf.gather(left, node)) + sums(tf.gather(right, node))

            sums.output(
                tf.cond(
                    node >= 2, inner, lambda: tf.gather(values, tf.maximum(node, 0))
                )
            )
        return sums.map(starts)

    left, right = [-1, -1, 0, 1], [-1, -1, 1]
    np.testing.assert_array_equal(sums([3.0, 5.0], left, right, [2, 0]), [8.0, 3.0])
    failure = failure_of(lambda: sums([3.0, 5.0], left, right, [2, 3]))
    assert failure == (
        "SubGraph 'sums' failed at sums[row 1]: indices = 3 is not in [0, 3)"
    )


@pytest.mark.parametrize("choice", CHOICES)
def test_gradients_pass_by_ids_that_nobody_wants(choice):
    values = tf.Variable([1.0, 2.0, 4.0])
    next_of = tf.constant([-5, 0, 1])
    with rtf.SubGraph("product", **CHOICES[choice]) as product:
        place = product.input(tf.int32)

        def go_on():
            value = tf.gather(values, place)
            return value * product(tf.gather(next_of, place))

        product.output(tf.cond(place < 0, lambda: tf.constant(1.0), go_on))
    with tf.GradientTape() as tape:
        found = product.map([2, -7, 1])
    np.testing.assert_array_equal(found, [8.0, 1.0, 2.0])
    gradient = tf.convert_to_tensor(tape.gradient(found, values))
    np.testing.assert_allclose(gradient, [10.0, 5.0, 2.0])
