"""Whole numbers of which a row has several, as the children of a node."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf

TABLE = np.array([[1, 2], [3, -1], [0, 3], [2, 1]])
ROWS = [[2, 0], [1, 3], [3, 3], [0, -2]]
# Of a row number, and a table of two columns.
SELECTIONS = {
    "one after the other": lambda t, n: tf.gather(t, n)[0] - tf.gather(t, n)[1],
    "unstack": lambda t, n: tf.subtract(*tf.unstack(tf.gather(t, n))),
    "an element": lambda t, n: t[n, 0] * t[n, 1] + t[3 - n][1],
    "an element from the end": lambda t, n: t[-1 - n, 1] - t[n, -1],
    "gather_nd": lambda t, n: tf.gather_nd(t, [n, 3 - n]) + tf.gather_nd(t, [n])[1],
    "an element that another names": lambda t, n: t[t[n, 1] % 4, 0],
}
# Of a row of two numbers.
COMPUTATIONS = {
    "arithmetic": lambda v: 3 * v - v // 2 + v[::-1] % 4,
    "a number with several": lambda v: v[0] + v,
    "comparisons": lambda v: tf.where((v > v[1]) | (v == 0), v, -v),
    "casts": lambda v: tf.cast(tf.cast(v, tf.int64) * 2**33 // 2**32, v.dtype),
    "stack": lambda v: tf.stack([v[1], v[0] + 1, 7]),
    "concat": lambda v: tf.concat([v, v[1:], [5, 6]], 0),
    "slices": lambda v: tf.concat([v, v + 1], 0)[1::2],
    "bools": lambda v: tf.cast([v[0] < v[1], v[0] == 3], v.dtype),
    "as it is": lambda v: v,
    "other rows": lambda v: tf.cast(tf.cast(v, tf.float32) * [1.5, 2.0], v.dtype),
}


def mapped(body, *rows, blocks):
    with rtf.SubGraph("f", executor="batched", options=rtf.Options(blocks=blocks)) as f:
        f.output(body(*(f.input(tf.TensorSpec(r.shape[1:], r.dtype)) for r in rows)))
    explanation = rtf.explain(f)
    return f.map(*rows).numpy(), explanation


def check(body, *rows, is_compiled=True):
    found, explanation = mapped(body, *rows, blocks="compiled")
    expected, _ = mapped(body, *rows, blocks="tensorflow")
    np.testing.assert_array_equal(found, expected)
    assert (explanation.not_compiled == {}) is is_compiled
    return found


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("select", SELECTIONS.values(), ids=SELECTIONS)
def test_numbers_of_a_table(select, dtype):
    table = tf.constant(
        TABLE % 4 if select is SELECTIONS["gather_nd"] else TABLE, dtype
    )
    # Column 3 - n of a table of two is there for the last two rows alone.
    first = 2 if select is SELECTIONS["gather_nd"] else 0
    check(lambda n: select(table, n), tf.range(first, 4))


def test_a_table_whose_size_is_not_known():
    spec = tf.TensorSpec([None, 2], tf.int32)

    @tf.function(input_signature=[spec])
    def run(table):
        with rtf.SubGraph("f", executor="batched") as f:
            n = f.input(tf.int32)
            f.output(table[n, 1] + tf.gather(table, n)[0])
        return f.map(tf.range(tf.shape(table)[0]))

    for table in (TABLE, TABLE[:2], TABLE[::-1]):
        np.testing.assert_array_equal(run(table), table[:, 0] + table[:, 1])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("compute", COMPUTATIONS.values(), ids=COMPUTATIONS)
def test_numbers_that_are_given(compute, dtype):
    check(
        compute,
        tf.constant(ROWS, dtype),
        is_compiled=compute is not COMPUTATIONS["other rows"],
    )


def test_several_numbers_as_floats():
    rows = tf.constant(ROWS)
    check(lambda v, x: x * tf.cast(v, tf.float32), rows, tf.random.normal([4, 2]))


def test_several_numbers_are_handed_on():
    """From an invocation to the next one, and back."""

    def run(blocks):
        options = rtf.Options(blocks=blocks)
        pair = tf.TensorSpec([2], tf.int32)
        with rtf.SubGraph(
            "f", output_signature=pair, executor="batched", options=options
        ) as f:
            v = f.input(pair)
            f.output(
                tf.cond(v[0] <= 0, lambda: v * 10, lambda: f(v - [1, 0]) + v[::-1])
            )
        explanation = rtf.explain(f)
        return f.map(tf.constant(ROWS)).numpy(), explanation

    found, explanation = run("compiled")
    np.testing.assert_array_equal(found, run("tensorflow")[0])
    assert explanation.not_compiled == {}


@pytest.mark.parametrize("number", [4, tf.int64.min], ids=["next", "far"])
@pytest.mark.parametrize("select", ["gather", "element", "column"])
def test_a_row_that_is_not_there_is_an_error(select, number):
    def body(n):
        if select == "gather":
            return tf.gather(TABLE, n)[0]
        return tf.gather_nd(TABLE, [n, 0] if select == "element" else [0, n])

    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"SubGraph 'f' failed at f\[row 2\] in.*: indices\[0\] = ",
    ):
        mapped(body, tf.constant([0, 1, number], tf.int64), blocks="compiled")
