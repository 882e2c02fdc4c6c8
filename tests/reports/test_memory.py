"""What a run of the batched executor holds at once, by its reports.

They count the values of a run and what is kept for the gradient, which may be views of
the same rows: then these count twice. What is within a block does not count.
"""

from typing import NamedTuple

import pytest
import tensorflow as tf

import recursive_tf as rtf
from examples.tree_lstm import TreeLSTMCell
from recursive_tf.python.batching.encode.gradient_plan import gradient_of
from recursive_tf.python.subgraphs.subgraph import root_call_of

VOCABULARY, EMBEDDING, HIDDEN = 11, 5, 4
NUM_TREES, MAX_WORDS = 300, 30
UNITS = 8
FLOAT_BYTES = INTEGER_BYTES = 4


# --- Training keeps what the gradient reads, and holds little else


def random_forest():
    words = range(1, MAX_WORDS + 1)
    return rtf.data.generate("random", NUM_TREES, words=words, vocabulary=VOCABULARY)


def define_tree_lstm(forest, cell, policy):
    """Returns a SubGraph from a node to its state."""
    tokens, left, right = forest.tokens, forest.left, forest.right
    options = rtf.Options(policy=policy, share_rows=True)
    with rtf.SubGraph("tree", options=options) as tree:
        node = tree.input(tf.int32)

        def leaf():
            return cell.leaf(cell.embed(tf.gather(tokens, node)))

        def internal():
            return cell(tree(tf.gather(left, node)), tree(tf.gather(right, node)))

        tree.output(tf.cond(tf.gather(left, node) < 0, leaf, internal))
    return tree


class Step(NamedTuple):
    """What one training step held.

    Attributes:
        forward_peak: The most bytes at once, in the forward pass.
        backward_peak: The same in the backward pass.
        kept_bytes: For the gradient, in the end.
        kept_row_bytes: The same of one activation, by procedure.
    """

    forward_peak: int
    backward_peak: int
    kept_bytes: int
    kept_row_bytes: dict[str, int]


def run_step(policy):
    """Differentiates a TreeLSTM on a random forest, once."""
    forest = random_forest()
    cell = TreeLSTMCell(VOCABULARY, EMBEDDING, HIDDEN)
    tree = define_tree_lstm(forest, cell, policy)
    explanation = rtf.explain(tree)
    with tf.GradientTape() as tape:
        roots = tree.map(forest.roots)
    assert None not in tape.gradient(roots, cell.trainable_variables)
    row_bytes = kept_row_bytes(root_call_of(tree).compilation_of(mapped=False))
    forward = explanation.forward
    rows = [
        all_of - shared
        for all_of, shared in zip(forward.rows, forward.shared, strict=True)
    ]
    assert sum(forward.shared) > 0
    procedures = [name.partition(" ")[0] for name in explanation.launches]
    return Step(
        forward_peak=forward.peak_bytes,
        backward_peak=explanation.backward.peak_bytes,
        kept_bytes=sum(n * each for n, each in zip(rows, row_bytes, strict=True)),
        kept_row_bytes=dict(zip(procedures, row_bytes, strict=True)),
    )


def kept_row_bytes(compilation):
    """Returns how much a launch of each block keeps for each of its rows."""
    found = []
    blocks = zip(compilation.blocks, compilation.training().blocks, strict=True)
    for block, training in blocks:
        inputs = training.forward.inputs[: len(block.inputs)]
        values = [*inputs, *training.forward.outputs]
        kept = [values[index] for index in gradient_of(training).kept]
        found.append(sum(t.dtype.size * t.shape[1:].num_elements() for t in kept))
    return found


@pytest.fixture(scope="module", params=["critical_path", "agenda", "depth"])
def training(request):
    return run_step(request.param)


def test_what_is_kept_of_a_node_is_what_its_gradient_reads(training):
    # Gates and tanh(c); of an inner node h and c of both children, else the word.
    internal = 5 * HIDDEN + HIDDEN + 2 * (HIDDEN + HIDDEN)
    leaf = 3 * HIDDEN + HIDDEN + EMBEDDING
    assert training.kept_row_bytes == {
        "tree": 0,
        "tree/internal": internal * FLOAT_BYTES,
        "tree/leaf": leaf * FLOAT_BYTES + INTEGER_BYTES,
    }


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_pass_in_training_holds_at_most_twice_what_it_keeps(training, direction):
    peak = getattr(training, f"{direction}_peak")
    assert training.kept_bytes < peak <= 2 * training.kept_bytes


# --- Nothing else grows with the depth


def define_way_down(step):
    """Returns a SubGraph that takes n steps from x, each before it calls itself."""
    with rtf.SubGraph("way_down") as way_down:
        n, x = way_down.input(tf.int32), way_down.input(tf.float32, [UNITS])
        more = lambda: way_down(n - 1, step(x))  # noqa: E731
        way_down.output(tf.cond(n < 1, lambda: x, more))
    return way_down


def define_way_up(step):
    """Returns a SubGraph that takes n steps from x, each after its call returned."""
    with rtf.SubGraph("way_up") as way_up:
        n, x = way_up.input(tf.int32), way_up.input(tf.float32, [UNITS])
        more = lambda: step(way_up(n - 1, x))  # noqa: E731
        way_up.output(tf.cond(n < 1, lambda: x, more))
    return way_up


def peaks_of(chain, run):
    """Returns what a forward pass held at most of 1,000 levels, and of 10,000.

    A backward pass lets 4 MB wait for what is deferred.
    """
    explanation = rtf.explain(chain)
    peaks = []
    for length in (1_000, 10_000):
        run(chain, length)
        peaks.append(explanation.forward.peak_bytes)
    return peaks


def infer(chain, length):
    chain(length, tf.ones([UNITS]))


def differentiate(chain, length):
    x = tf.ones([UNITS])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = chain(length, x)
    assert tape.gradient(y, x) is not None


@pytest.fixture
def weight():
    return tf.Variable(tf.random.stateless_normal([UNITS], [1, 2]))


@pytest.fixture(params=[define_way_down, define_way_up], ids=["down", "up"])
def define_chain(request):
    return request.param


def test_inference_holds_no_more_for_a_longer_chain(define_chain, weight):
    chain = define_chain(lambda x: tf.tanh(weight * x))
    short, long = peaks_of(chain, infer)
    assert UNITS * FLOAT_BYTES <= long <= 1.5 * short


def test_training_holds_more_where_the_gradient_reads_rows(define_chain, weight):
    chain = define_chain(lambda x: tf.tanh(weight * x))
    _, long = peaks_of(chain, differentiate)
    assert long >= 10_000 * UNITS * FLOAT_BYTES


def test_training_holds_no_more_where_the_gradient_reads_none(define_chain, weight):
    chain = define_chain(lambda x: weight + x)
    short, long = peaks_of(chain, differentiate)
    assert UNITS * FLOAT_BYTES <= long <= 1.5 * short
