"""Large trees, batches and bodies are right; what is too large is an error.

Each test has a small form; `--large` takes the sizes of docs/reliability.md.
"""

import gc
import weakref

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

pytestmark = pytest.mark.slow

NO_LIMITS = rtf.Options(max_depth=None, max_bytes=None, max_activations=None)


@pytest.fixture
def size(pytestconfig):
    """Returns the first number, or the second one with `--large`."""
    return lambda small, large: large if pytestconfig.option.large else small


def define_sum(forest, w):
    """Returns the sum over a tree's leaves of w, in as many calls as it has nodes."""
    with rtf.SubGraph("leaves", options=NO_LIMITS) as leaves:
        n = leaves.input(tf.int32)
        left, right = tf.gather(forest.left, n), tf.gather(forest.right, n)
        more = lambda: leaves(left) + leaves(right)  # noqa: E731
        leaves.output(tf.cond(left < 0, lambda: w * 1.0, more))
    return leaves


def complete_tree(num_leaves):
    """Returns a tree of 2 * num_leaves - 1 nodes, as flat as there is one."""
    node = np.arange(2 * num_leaves - 1, dtype=np.int32)
    left = np.where(2 * node + 1 < node.size, 2 * node + 1, -1).astype(np.int32)
    right = np.where(left < 0, -1, left + 1).astype(np.int32)
    return rtf.data.Forest(tokens=node, left=left, right=right, roots=0)


@pytest.mark.every_executor
def test_a_tree_of_many_nodes_is_summed_and_differentiated(size):
    num_leaves = size(5_000, 500_000)
    w = tf.Variable(0.5, dtype=tf.float64)
    leaves = define_sum(complete_tree(num_leaves), w)
    with tf.GradientTape() as tape:
        y = leaves(0)
    assert float(y) == num_leaves / 2
    assert float(tape.gradient(y, w)) == num_leaves


def define_chain(**options):
    with rtf.SubGraph("chain", options=rtf.Options(**options)) as chain:
        n = chain.input(tf.int32)
        chain.output(tf.cond(n < 1, lambda: 0.0, lambda: 1.0 + chain(n - 1)))
    return chain


@pytest.mark.every_executor
def test_a_deep_chain_ends_at_the_limit_or_at_its_end(size):
    depth = size(10_000, 1_000_000)
    unlimited = define_chain(max_depth=None, max_bytes=None)
    assert float(unlimited(depth)) == depth
    error = tf.errors.ResourceExhaustedError
    message = message_of(lambda: define_chain()(1_000_000), error)
    assert "the recursion reached max_depth=100000" in message
    assert "pass options=rtf.Options(max_depth=...) to the SubGraph" in message


@pytest.mark.every_executor
def test_a_batch_of_many_trees(size):
    count = size(5_000, 100_000)
    with rtf.SubGraph("fib") as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    found = fib.map(tf.range(count) % 4)
    np.testing.assert_array_equal(found, np.resize([0, 1, 1, 2], count))


@pytest.mark.every_executor
def test_a_body_with_many_call_sites():
    sites = 200
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        more = lambda: tf.add_n([f(n - 1 - i % 3) for i in range(sites)])  # noqa: E731
        f.output(tf.cond(n < 1, lambda: 1, more))
    assert int(f(1)) == sites


@pytest.mark.filterwarnings("ignore:.*defined anew")
@pytest.mark.every_executor
def test_subgraphs_that_are_traced_and_dropped_are_gone(size):
    dropped = []
    for _ in range(size(30, 5_000)):
        chain = define_chain()
        assert float(chain(3)) == 3
        dropped.append(weakref.ref(chain))
    del chain
    gc.collect()
    assert sum(each() is not None for each in dropped) == 0


# --- More than 2^31: rows of no elements take no memory


def define_of_rows():
    with rtf.SubGraph("f") as f:
        f.output(tf.reduce_sum(f.input(tf.TensorSpec([0]))) + 1.0)
    return f


@pytest.mark.every_executor
@pytest.mark.parametrize("num_rows", [2**31 + 3, 2**32 + 3])
def test_more_rows_than_int32_counts_are_an_error(num_rows):
    f = define_of_rows()
    assert f.map(tf.zeros([3, 0])).shape == [3]  # What 2^32 + 3 would be cut to.
    message_of(lambda: f.map(tf.zeros([num_rows, 0])), tf.errors.InvalidArgumentError)


@pytest.mark.every_executor
def test_a_table_of_more_rows_than_int32_counts():
    num_rows = 2**32 + 3
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int64)
        f.push("v", tf.zeros([0]), index=n, size=num_rows)
        f.output(n)
    _, pushed = f(num_rows - 1, with_pushed=True)
    assert pushed["v"].shape == [num_rows, 0]
    message_of(lambda: f(num_rows, with_pushed=True), tf.errors.OutOfRangeError)


@pytest.mark.parametrize("limit", ["max_activations", "max_bytes"])
def test_a_map_in_a_body_over_too_many_rows_takes_no_memory(limit):
    options = rtf.Options(**({"max_activations": None} if limit == "max_bytes" else {}))
    with rtf.SubGraph("f", executor="dataflow", options=options) as f:
        f.output(f.input(tf.TensorSpec([0])))
    with rtf.SubGraph("g", executor="dataflow", options=options) as g:
        n = g.input(tf.int32)
        g.output(tf.reduce_sum(f.map(tf.zeros([n, 0]))))
    assert float(g(3)) == 0.0
    error = tf.errors.ResourceExhaustedError
    assert f"{limit}=" in message_of(lambda: g(2**31 - 1), error)
