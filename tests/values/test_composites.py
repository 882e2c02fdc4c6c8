"""Values that consist of several tensors: as inputs, outputs, captures, rows."""

from functools import partial

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.unrolled import assert_close, define_repeat, unroll
from tests.language.features import feature

feature = partial(feature, "Ragged, sparse and other composite tensors")

SHAPE_VARIES = "its shape, …, may differ between activations"
RAGGED = tf.RaggedTensorSpec([None, None], tf.float32)
SPARSE = tf.SparseTensorSpec([None, 3], tf.float32)
ROWS = [[0.5], [-1.0, 2.0], [], [3.0]]


class Masked(tf.experimental.ExtensionType):
    """Values, and which of them count."""

    values: tf.Tensor
    counts: tf.Tensor
    label: str = "masked"


class Point(tf.experimental.BatchableExtensionType):
    """A point in the plane."""

    x: tf.Tensor
    y: tf.Tensor


def assert_same_composites(recurse, loop, tensors):
    """Checks that two functions have the same value, and gradients by some tensors."""
    found, expected = (differentiated(f, tensors) for f in (recurse, loop))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other)


def differentiated(function, tensors):
    """Returns the tensors of what a function returns, and the gradients of a sum."""
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        parts = tf.nest.flatten(function(), expand_composites=True)
        floats = [part for part in parts if part.dtype == tf.float32]
        total = tf.add_n([tf.reduce_sum(tf.sin(part)) for part in floats])
    return parts + tape.gradient(total, tensors)


# --- Inputs and outputs


@pytest.mark.parametrize("way", [lambda f: f, tf.function], ids=["eager", "function"])
@feature("`RaggedTensor` in and out", gradients=True, refused=SHAPE_VARIES)
def test_ragged_tensors(way):
    values, weight = tf.ragged.constant(ROWS).flat_values, tf.Variable(2.0)
    splits = tf.ragged.constant(ROWS).row_splits

    def step(y, n):
        return tf.sin(y) * weight + tf.cast(n, tf.float32)

    repeat = define_repeat(step, RAGGED)

    def through(run):
        return way(lambda v: run(3, tf.RaggedTensor.from_row_splits(v, splits)))(values)

    sources = [values, weight]
    loop = partial(through, partial(unroll, step))
    assert_same_composites(partial(through, repeat), loop, sources)


@feature("`SparseTensor` in and out", gradients=True, refused=SHAPE_VARIES)
def test_sparse_tensors():
    x, weight = tf.sparse.from_dense([[1.0, 0, 2], [0, 0, -1]]), tf.Variable(2.0)

    def step(y, n):
        del n
        return tf.sparse.map_values(lambda v: tf.sin(v) * weight, y)

    repeat = define_repeat(step, SPARSE)
    sources = [x.values, weight]
    assert_same_composites(lambda: repeat(3, x), lambda: unroll(step, 3, x), sources)


@feature("extension types in and out", gradients=True)
def test_extension_types():
    values, weight = tf.constant([0.5, -1.0]), tf.Variable(2.0)
    x = Masked(values, [True, False])

    def step(y, n):
        del n
        new = tf.where(y.counts, tf.sin(y.values) * weight, y.values)
        return Masked(new, tf.logical_not(y.counts))

    repeat = define_repeat(step, tf.type_spec_from_value(x))
    assert isinstance(repeat(1, x), Masked)
    sources = [values, weight]
    assert_same_composites(lambda: repeat(3, x), lambda: unroll(step, 3, x), sources)


@feature("composite tensors in nested structures", gradients=True, refused=SHAPE_VARIES)
def test_composites_in_structures():
    values, weight = tf.ragged.constant(ROWS).flat_values, tf.Variable(2.0)
    x = {"rows": tf.ragged.constant(ROWS).with_flat_values(values), "sum": 0.0}

    def step(y, n):
        del n
        rows = tf.sin(y["rows"]) * weight
        return {"rows": rows, "sum": y["sum"] + tf.reduce_sum(rows)}

    repeat = define_repeat(step, {"rows": RAGGED, "sum": tf.float32})
    sources = [values, weight]
    assert_same_composites(lambda: repeat(3, x), lambda: unroll(step, 3, x), sources)


@feature(
    "results that are built on the way up, with `output_signature=`",
    gradients=True,
    refused=SHAPE_VARIES,
)
def test_ragged_results_that_grow():
    signature = tf.RaggedTensorSpec([None, None], tf.float32, row_splits_dtype=tf.int32)
    with rtf.SubGraph("triangle", output_signature=signature) as triangle:
        n, x = triangle.input(tf.int32), triangle.input(tf.float32)

        def longer():
            row = tf.RaggedTensor.from_tensor(
                tf.fill([1, n], x), row_splits_dtype="int32"
            )
            return tf.concat([triangle(n - 1, 2 * x), row], 0)

        def empty():
            return tf.RaggedTensor.from_row_lengths(tf.fill([n], x), tf.fill([n], 1))

        triangle.output(tf.cond(n < 1, empty, longer))
    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = triangle(3, x)
        total = tf.reduce_sum(found)
    assert found.to_list() == [[2.0], [1.0, 1.0], [0.5, 0.5, 0.5]]
    assert float(tape.gradient(total, x)) == 4 + 2 * 2 + 3


@feature(
    "`tf.data.Dataset` as an input",
    refused="a variant goes from one block to another",
)
def test_a_dataset_is_an_input():
    spec = tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    with rtf.SubGraph("total") as total:
        n, numbers = total.input(tf.int32), total.input(spec)

        def added():
            return numbers.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

        more = lambda: 2 * total(n - 1, numbers)  # noqa: E731
        total.output(tf.cond(n < 1, added, more))
    assert int(total(3, tf.data.Dataset.range(5))) == 8 * sum(range(5))


@feature(
    "`tf.TensorArray` in a signature",
    raises=rtf.SubGraphError,
    says="takes and returns no tf.TensorArray. Use what its .stack() returns.",
)
def test_a_tensor_array_is_no_input():
    define_repeat(lambda y, n: y, tf.TensorArraySpec([], tf.float32))


# --- Rows


@feature("`.map` of a batchable extension type of tensors", gradients=True)
def test_rows_of_an_extension_type():
    x, y, depths = (
        tf.constant([0.5, 1.0, -2.0]),
        tf.constant([1.0, 3.0, 0.0]),
        [3, 0, 2],
    )

    def step(point, n):
        return Point(point.y * tf.cast(n, tf.float32), tf.sin(point.x))

    repeat = define_repeat(step, Point.Spec(tf.TensorSpec([]), tf.TensorSpec([])))

    def loop():
        points = [
            unroll(step, n, Point(a, b))
            for n, a, b in zip(depths, tf.unstack(x), tf.unstack(y), strict=True)
        ]
        return Point(tf.stack([p.x for p in points]), tf.stack([p.y for p in points]))

    assert isinstance(repeat.map(depths, Point(x, y)), Point)
    assert_same_composites(lambda: repeat.map(depths, Point(x, y)), loop, [x, y])


@feature(
    "`.map` of ragged or sparse tensors",
    raises=rtf.SubGraphError,
    says="its rows cannot be stacked. Map over the indices of rows",
)
def test_rows_of_a_ragged_tensor():
    repeat = define_repeat(lambda y, n: y, RAGGED)
    repeat.map([1, 2], tf.ragged.constant([ROWS, ROWS[1:]]))


@feature(
    "`.map` over the rows of a captured `RaggedTensor`, element by element",
    gradients=True,
)
def test_rows_of_a_captured_ragged_tensor():
    rows = tf.ragged.constant(ROWS)
    values = rows.flat_values
    with rtf.SubGraph("total") as total:
        place, end = total.input(tf.int64), total.input(tf.int64)

        def more():
            return tf.sin(tf.gather(values, place)) + 2.0 * total(place + 1, end)

        total.output(tf.cond(place < end, more, lambda: 0.0))

    def loop():
        sums = []
        for start, end in zip(rows.row_starts(), rows.row_limits(), strict=True):
            own = enumerate(tf.unstack(values[start:end]))
            sums.append(sum([2.0**i * tf.sin(v) for i, v in own], tf.constant(0.0)))
        return tf.stack(sums)

    recurse = lambda: total.map(rows.row_starts(), rows.row_limits())  # noqa: E731
    assert_same_composites(recurse, loop, [values])


# --- Captures


@feature("rows of a captured `RaggedTensor` as tensors", gradients=True)
def test_a_captured_ragged_tensor():
    rows, x = tf.ragged.constant(ROWS), tf.constant(0.5)

    def step(y, n):
        return tf.sin(y) + tf.reduce_sum(rows[n])

    repeat = define_repeat(step)
    sources = [rows.flat_values, x]
    assert_same_composites(lambda: repeat(3, x), lambda: unroll(step, 3, x), sources)


@feature(
    "products with a captured `SparseTensor`",
    gradients=True,
)
def test_a_captured_sparse_tensor():
    matrix = tf.sparse.from_dense([[1.0, 0, 2], [0, 0, -1], [0.5, 1, 0]])
    x = tf.constant([[0.5], [-1.0], [2.0]])

    def step(y, n):
        del n
        return tf.sin(tf.sparse.sparse_dense_matmul(matrix, y))

    repeat = define_repeat(step, shape=[3, 1])
    sources = [matrix.values, x]
    assert_same_composites(lambda: repeat(3, x), lambda: unroll(step, 3, x), sources)


@feature("captured extension types", gradients=True)
def test_a_captured_extension_type():
    values, x = tf.constant([0.5, -1.0]), tf.constant([1.0, 3.0])
    factors = Masked(values, [True, False])

    def step(y, n):
        del n
        return tf.where(factors.counts, tf.sin(y) * factors.values, y)

    repeat = define_repeat(step, shape=[2])
    sources = [values, x]
    assert_same_composites(lambda: repeat(3, x), lambda: unroll(step, 3, x), sources)


# --- What is refused


IS_RAGGED = (
    "Input 1 of SubGraph 'repeat' is "
    "RaggedTensorSpec(TensorShape([None, None]), tf.float32, 1, tf.int64)"
)


@pytest.mark.parametrize(
    ("argument", "found"),
    [
        (tf.ragged.constant([[1]]), "tf.int32, 1, tf.int64)."),
        (tf.ragged.constant([[[1.0]]]), "tf.float32, 2, tf.int64)."),
        (tf.sparse.from_dense([[1.0]]), "SparseTensorSpec("),
        (tf.zeros([1, 2]), "float32[1, 2]."),
        ([[1.0]], "[[1.0]]."),
    ],
    ids=["dtype", "rank", "sparse", "tensor", "list"],
)
def test_another_argument_than_the_ragged_input_is_refused(argument, found):
    repeat = define_repeat(lambda y, n: y, RAGGED)
    message = message_of(lambda: repeat(1, argument))
    assert message.startswith(f"{IS_RAGGED}, but the argument is ")
    assert found in message


def test_another_label_of_an_extension_type_is_refused():
    x = Masked([0.5], [True])
    repeat = define_repeat(lambda y, n: y, tf.type_spec_from_value(x))
    message = message_of(lambda: repeat(1, Masked([0.5], [True], "other")))
    assert "label='masked'), but the argument is Masked.Spec" in message
    assert message.endswith("label='other').")


def test_a_ragged_argument_of_an_input_that_is_a_tensor_is_refused():
    repeat = define_repeat(lambda y, n: y, shape=[None, None])
    message = message_of(lambda: repeat(1, tf.ragged.constant(ROWS)))
    assert "is float32[?, ?], but the argument is RaggedTensorSpec(" in message
    assert message.endswith(
        "Declare an input of that spec, or convert the argument to a tensor."
    )


def test_slices_are_a_tensor_where_one_is_needed():
    repeat = define_repeat(lambda y, n: y, shape=[3])
    slices = tf.IndexedSlices(tf.constant([2.0]), tf.constant([1]), tf.constant([3]))
    assert repeat(1, slices).numpy().tolist() == [0, 2, 0]


def test_an_extension_type_that_is_not_batchable_has_no_rows():
    x = Masked([[0.5]], [[True]])
    with rtf.SubGraph("give") as give:
        give.input(tf.int32)
        give.output(x)
    message = message_of(lambda: give.map([1, 2]))
    assert "`.map` of SubGraph 'give', which takes or returns Masked.Spec(" in message
    assert "or a tf.experimental.BatchableExtensionType of tensors" in message


def test_a_tensor_array_is_no_output():
    def define():
        with rtf.SubGraph("give") as give:
            give.output(tf.TensorArray(tf.float32, 1).write(0, 1.0))

    assert "no tf.TensorArray. Use what its .stack() returns." in message_of(define)


@pytest.mark.parametrize(
    "give", [lambda: tf.zeros([1, 3]), lambda: Masked([1.0], [True])]
)
def test_an_output_unlike_the_declared_one_is_refused_with_the_line_to_pass(give):
    def define():
        with rtf.SubGraph("give", output_signature=(RAGGED,)) as subgraph:
            subgraph.output((give(),))

    line = message_of(define).rsplit("output_signature=", maxsplit=1)[1]
    expected = (tf.type_spec_from_value(give()),)
    assert eval(line, {"tf": tf, "Masked": Masked}) == expected


@pytest.mark.falls_back("an unknown shape")
def test_a_call_before_the_definition_takes_composites():
    later = rtf.SubGraph("later", output_signature=RAGGED)
    with rtf.SubGraph("caller") as caller:
        caller.output(later(caller.input(RAGGED)))
    with later:
        later.output(2.0 * later.input(RAGGED))
    assert caller(tf.ragged.constant(ROWS)).to_list() == [[1], [-2, 4], [], [6]]
