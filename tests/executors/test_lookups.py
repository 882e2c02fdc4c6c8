"""Blocks that only look up rows of tables that all activations share: no launches."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.values import as_numpy

pytestmark = pytest.mark.executor("batched")

LEFT = [-1, -1, 0, -1, 2, -1, 4, -1]
RIGHT = [-1, -1, 1, -1, 3, -1, 5, -1]
ROOTS = [6, 7]


class Trees:
    """A recursion over nodes, which looks up links and leaves.

    Args:
        number: The dtype of a node's number.
        trains: Whether leaves have gradients.
        choices: Of the SubGraph.
    """

    def __init__(self, number=tf.int32, trains=True, **choices):
        self.left, self.right = tf.constant(LEFT, number), tf.constant(RIGHT, number)
        self.is_leaf = self.left < 0
        self.number = number
        self.how = {"executor": "batched", **choices}
        self.weight = tf.Variable([[0.5, 0.1], [-0.2, 0.3]])
        x = np.linspace(-1, 1, 2 * len(LEFT)).reshape(-1, 2)
        self.x = tf.Variable(x, dtype=tf.float32, trainable=trains)

    def define(self, x):
        spec = tf.TensorSpec([2])
        with rtf.SubGraph("tree", output_signature=spec, **self.how) as tree:
            node = tree.input(self.number)

            def inner():
                children = tree(tf.gather(self.left, node))
                children += tree(tf.gather(self.right, node))
                return tf.tanh(tf.linalg.matvec(self.weight, children))

            leaf = lambda: tf.gather(x, node)  # noqa: E731
            value = tf.cond(tf.gather(self.is_leaf, node), leaf, inner)
            tree.push("values", value, index=node, size=len(LEFT))
            tree.output(value)
        return tree

    def step(self):
        @tf.function
        def step():
            with tf.GradientTape() as tape:
                tree = self.define(tf.convert_to_tensor(self.x))
                values, pushed = tree.map(
                    tf.constant(ROOTS, self.number), with_pushed=True
                )
                loss = tf.reduce_sum(values**2) + tf.reduce_sum(pushed["values"] ** 3)
            variables = [v for v in (self.weight, self.x) if v.trainable]
            gradients = map(tf.convert_to_tensor, tape.gradient(loss, variables))
            return loss, list(gradients), pushed["values"]

        return step

    def infer(self):
        @tf.function
        def infer():
            roots = tf.constant(ROOTS, self.number)
            return self.define(tf.convert_to_tensor(self.x)).map(roots)

        return infer


def launches_of(step):
    step()
    explanation = rtf.explain(step)
    step()
    return sum(explanation.launches.values())


def assert_same(found, expected):
    for one, other in zip(
        tf.nest.flatten(as_numpy(found)),
        tf.nest.flatten(as_numpy(expected)),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("number", [tf.int32, tf.int64])
@pytest.mark.parametrize("trains", [True, False])
@pytest.mark.parametrize("memo", [None, lambda node: node], ids=["calls", "memo"])
def test_nobody_goes_down(number, trains, memo):
    def trees(**choices):
        return Trees(number, trains, memo=memo, **choices)

    launched = trees(options=rtf.Options(blocks="tensorflow"))
    found = trees().step()()
    assert_same(found, launched.step()())
    assert_same(found, trees(executor="dataflow").step()())
    assert_same(trees().infer()(), trees(executor="dataflow").infer()())
    # Inner nodes are of three heights. Leaves are launched for their gradient.
    assert launches_of(trees().step()) == (1 if trains else 0) + 3
    assert launches_of(trees().infer()) == 3
    assert launches_of(launched.step()) == 4 + 1 + 3


@pytest.mark.parametrize("wrong", [8, -1])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_row_that_is_not_there_is_an_error_of_its_invocation(wrong, is_first):
    messages = []
    for blocks in ("auto", "tensorflow"):
        trees = Trees(options=rtf.Options(blocks=blocks))
        if is_first:
            roots = [6, wrong]
        else:
            links = list(RIGHT)
            links[4] = wrong
            trees.right, roots = tf.constant(links), ROOTS
        tree = trees.define(trees.x)
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            tree.map(tf.constant(roots))
        messages.append(str(raised.value))
    where = "tree[row 1]" if is_first else "tree[row 0] → call#0 → call#1"
    for message in messages:
        assert f"= {wrong} is not in [0, 8)" in message
        assert f"failed at {where} in block 'tree test_lookups.py" in message


def test_the_shortest_table_counts():
    with rtf.SubGraph("look", executor="batched") as look:
        node = look.input(tf.int32)
        first, second = tf.constant([1, 2, 3, 4]), tf.constant([5, 6])
        look.output(tf.gather(first, node), tf.gather(second, node))
    found = look.map(tf.constant([1, 0, 1]))
    assert as_numpy(found[0]).tolist() == [2, 1, 2]
    assert as_numpy(found[1]).tolist() == [6, 5, 6]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 2 is not in \[0, 2\)"):
        look.map(tf.constant([1, 2]))


@pytest.mark.parametrize(
    "table",
    [
        np.arange(24, dtype=np.float32).reshape(4, 3, 2),
        np.array([b"a", b"bc", b"", b"d"]),
        np.array([True, False, True, True]),
        np.zeros([4, 0], np.float32),
    ],
    ids=["matrices", "strings", "bools", "empty rows"],
)
def test_rows_of_any_kind_are_looked_up(table):
    with rtf.SubGraph("look", executor="batched") as look:
        node = look.input(tf.int32)
        look.output(tf.gather(tf.constant(table), node))
    rows = [3, 0, 0, 2]
    found = tf.function(lambda: look.map(tf.constant(rows)))
    np.testing.assert_array_equal(as_numpy(found()), table[rows])
    np.testing.assert_array_equal(as_numpy(look(tf.constant(1))), table[1])


def test_no_rows_of_a_root_call_look_up_nothing():
    with rtf.SubGraph("look", executor="batched") as look:
        node = look.input(tf.int32)
        look.output(tf.gather(tf.zeros([0, 2]), node))
    assert look.map(tf.zeros([0], tf.int32)).shape == (0, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 0\)"):
        look.map(tf.zeros([1], tf.int32))


def test_several_numbers_at_once_are_launched():
    table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with rtf.SubGraph("look", executor="batched") as look:
        look.output(tf.gather(table, look.input(tf.int32, [2])))
    rows = np.array([[0, 1], [2, 2], [1, 0]])
    found = look.map(tf.constant(rows, tf.int32))
    np.testing.assert_array_equal(found, table.numpy()[rows])


COMPARISONS = {
    "Less": lambda n: n < 2,
    "LessEqual": lambda n: n <= 2,
    "Greater": lambda n: n > 2,
    "GreaterEqual": lambda n: n >= 2,
    "Equal": lambda n: tf.equal(n, 2),
    "NotEqual": lambda n: tf.not_equal(n, 2),
}


@pytest.mark.parametrize("compare", COMPARISONS.values(), ids=COMPARISONS)
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float32])
def test_what_is_looked_up_may_be_compared(compare, dtype):
    numbers = [1, 3, 2, -2, 2]
    with rtf.SubGraph("look", executor="batched") as look:
        table = tf.constant(numbers, dtype)
        look.output(compare(tf.gather(table, look.input(tf.int32))))
    rows = [4, 0, 1, 3]
    run = tf.function(lambda: look.map(tf.constant(rows)))
    expected = [bool(compare(tf.constant(numbers[row]))) for row in rows]
    assert run().numpy().tolist() == expected
    # Others are compared where they are looked up.
    assert launches_of(run) == (1 if dtype == tf.float32 else 0)


MOST = 512 + 64 * 3


@pytest.mark.parametrize("count", [MOST, MOST + 1])
def test_many_rows_are_computed_ahead_only_if_many_were_wanted(count):
    table = tf.range(count)
    with rtf.SubGraph("look", executor="batched") as look:
        node = look.input(tf.int32)
        look.output(tf.gather(table, node), tf.gather(table, node) < 9)
    run = tf.function(
        look.map, input_signature=[tf.TensorSpec([None], tf.int32)], autograph=False
    )
    few, many = [8, 9, count - 1], list(range(count // 4 + 1))

    def launches(rows):
        numbers, are_less = run(tf.constant(rows))
        assert numbers.numpy().tolist() == rows
        assert are_less.numpy().tolist() == [row < 9 for row in rows]
        return sum(rtf.explain(run).launches.values())

    is_ahead = count <= MOST
    assert [launches(few) for _ in range(2)] == [0 if is_ahead else 1] * 2
    launches(many)
    assert [launches(few) for _ in range(2)] == [0, 0 if is_ahead else 1]


def test_rows_are_indexed_in_any_way():
    left, right = tf.constant(LEFT), tf.constant(RIGHT)
    number = tf.TensorSpec([], tf.int32)
    with rtf.SubGraph("depth", output_signature=number, executor="batched") as depth:
        node = depth.input(tf.int32)

        def inner():
            return 1 + tf.maximum(depth(left[node]), depth(right[node]))

        depth.output(tf.cond(left[node] < 0, lambda: 0, inner))
    run = tf.function(lambda: depth.map(tf.constant([6, 7, 2])))
    assert run().numpy().tolist() == [3, 0, 1]
    # Going up takes a launch for each level, and going down none.
    assert launches_of(run) == 3
    # From the end.
    assert depth.map(tf.constant([-2, -1, -6])).numpy().tolist() == [3, 0, 1]


def test_tables_of_any_length_are_indexed():
    spec = tf.TensorSpec([None], tf.int32)

    @tf.function(input_signature=[spec, spec, spec], autograph=False)
    def depths(left, right, roots):
        number = tf.TensorSpec([], tf.int32)
        with rtf.SubGraph("depth", output_signature=number) as depth:
            node = depth.input(tf.int32)

            def inner():
                return 1 + tf.maximum(depth(left[node]), depth(right[node]))

            depth.output(tf.cond(left[node] < 0, lambda: 0, inner))
        return depth.map(roots)

    def run():
        return depths(tf.constant(LEFT), tf.constant(RIGHT), tf.constant(ROOTS))

    assert run().numpy().tolist() == [3, 0]
    explanation = rtf.explain(depths)
    run()
    assert explanation.not_compiled == {}
    assert sum(explanation.launches.values()) == 3
    # As many nodes as one, whose number is the first and the last.
    one = tf.constant([-1])
    assert depths(one, one, tf.constant([0, -1])).numpy().tolist() == [0, 0]


def test_a_variable_is_read_when_the_call_is_made():
    table = tf.Variable([1, 2, 3])
    with rtf.SubGraph("look", executor="batched") as look:
        look.output(tf.gather(table, look.input(tf.int32)))
    rows = tf.constant([2, 0])
    assert look.map(rows).numpy().tolist() == [3, 1]
    table.assign([4, 5, 6])
    assert look.map(rows).numpy().tolist() == [6, 4]


def chain_of(count, **limits):
    """Returns what goes from a number down to 0."""
    before = tf.constant([-1, *range(count - 1)])
    is_first = before < 0
    with rtf.SubGraph(
        "chain",
        executor="batched",
        output_signature=tf.TensorSpec([], tf.int32),
        options=rtf.Options(**limits),
    ) as chain:
        node = chain.input(tf.int32)
        again = lambda: chain(tf.gather(before, node))  # noqa: E731
        chain.output(tf.cond(tf.gather(is_first, node), lambda: node, again))
    return chain


def test_one_that_is_deep_needs_no_launch():
    chain = chain_of(3000)
    run = tf.function(lambda: chain(tf.constant(2999)))
    assert launches_of(run) == 0
    assert int(run()) == 0


def test_limits_hold():
    assert int(chain_of(100, max_depth=100)(99)) == 0
    with pytest.raises(tf.errors.ResourceExhaustedError, match="max_depth=99"):
        chain_of(100, max_depth=99)(99)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="max_activations=50"):
        chain_of(100, max_activations=50)(99)


def test_a_cycle_ends_at_a_limit():
    following = tf.constant([1, 2, 0])
    with rtf.SubGraph(
        "around",
        executor="batched",
        output_signature=tf.TensorSpec([], tf.int32),
        options=rtf.Options(max_depth=5000),
    ) as around:
        node = around.input(tf.int32)
        again = lambda: around(tf.gather(following, node))  # noqa: E731
        around.output(tf.cond(tf.gather(following, node) < 0, lambda: node, again))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="max_depth=5000"):
        around(0)


@pytest.mark.parametrize("call", ["one", "map"])
def test_a_computed_number_that_is_looked_up_may_be_the_result(call):
    # Nobody else holds it: it lived only as long as the one who looked it up.
    is_end = tf.constant([False, False, True, False, False, False])
    with rtf.SubGraph(
        "count", executor="batched", output_signature=tf.TensorSpec([], tf.int32)
    ) as count:
        node = count.input(tf.int32)
        below = count.input(tf.float32)

        def again():
            following = tf.cast(tf.round(below), tf.int32)
            return count(following, tf.cast(following, tf.float32) - 1.0)

        count.output(tf.cond(tf.gather(is_end, node), lambda: node, again))
    run = count if call == "one" else count.map
    inputs = (tf.constant([5]), tf.constant([4.0]))
    if call == "one":
        inputs = tuple(x[0] for x in inputs)
    assert np.ravel(run(*inputs)).tolist() == [2]
