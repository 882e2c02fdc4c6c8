"""Steps of forests of changing size hold no more at the end than at the start.

And a root call that has a limit on its bytes takes not much more. `--steps=N` takes N.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.figures import tell
from tests.helpers.memory import IS_WATCHED, MEGABYTE, Peak, resident_memory

pytestmark = [pytest.mark.every_executor, pytest.mark.stress]

SIZE, WORDS, LARGEST = 16, 50, 200
SPEC = tf.TensorSpec([None], tf.int32)


def random_tree(rng, words):
    """Returns left and right of the nodes of a tree; leaves come first, with -1."""
    left, right = [-1] * words, [-1] * words
    tops = list(range(words))
    while len(tops) > 1:
        at = int(rng.integers(len(tops) - 1))
        left.append(tops[at])
        right.append(tops[at + 1])
        tops[at : at + 2] = [len(left) - 1]
    return np.array(left, np.int32), np.array(right, np.int32)


@pytest.fixture(scope="module")
def train(executor):
    """Returns a training step of a tree."""
    weights = tf.Variable(tf.random.stateless_normal([2 * SIZE, SIZE], [1, 2]) / 6)
    table = tf.Variable(tf.random.stateless_normal([WORDS, SIZE], [3, 4]))

    @tf.function(input_signature=[SPEC, SPEC])
    def train(left, right):
        with rtf.SubGraph("tree") as tree:
            node = tree.input(tf.int32)
            leaf = lambda: tf.gather(table, node % WORDS)  # noqa: E731

            def inner():
                children = tree(tf.gather(left, node)), tree(tf.gather(right, node))
                return tf.tanh(tf.matmul(tf.concat(children, 0)[None], weights)[0])

            tree.output(tf.cond(tf.gather(left, node) < 0, leaf, inner))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tree(tf.size(left) - 1) ** 2)
        gradients = tape.gradient(loss, [weights, table])
        weights.assign_sub(1e-3 * gradients[0])
        return loss

    return train


def test_memory_is_flat_over_forests_of_changing_size(train, executor, request):
    rng = np.random.default_rng(0)

    def run(steps):
        for _ in range(steps):
            loss = train(*random_tree(rng, int(rng.integers(1, LARGEST))))
            assert np.isfinite(loss)

    steps = request.config.option.steps // 4
    for _ in range(3):
        train(*random_tree(rng, LARGEST))  # What stays is as large as it gets.
    run(steps // 2)
    warm = resident_memory()
    run(steps)
    growth = (resident_memory() - warm) / MEGABYTE
    tell(f"{growth:.1f} MB more after {steps} training steps, executor {executor}")
    assert IS_WATCHED or growth < 4


@pytest.mark.skipif(IS_WATCHED, reason="a sanitizer takes memory of its own")
@pytest.mark.parametrize("trains", [False, True], ids=["run", "train"])
def test_what_a_root_call_takes_is_near_its_limit_of_bytes(trains, executor):
    limit = 64 * MEGABYTE
    options = rtf.Options(max_bytes=limit, max_depth=None)
    with rtf.SubGraph("endless", options=options) as endless:
        x = endless.input(tf.TensorSpec([1024]))
        endless.output(tf.cond(x[0] < 0.0, lambda: x, lambda: endless(x * 0.5) + x))

    @tf.function(input_signature=[tf.TensorSpec([1024])])
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(endless(x))
        return (y, tape.gradient(y, x)) if trains else y

    assert_reached(step)  # What is made once.
    peak = Peak()
    assert_reached(step)
    share = peak.get() / limit
    what = "training" if trains else "a call"
    tell(f"{what} takes {share:.2f} of max_bytes, executor {executor}")
    assert 0.25 < share < 2


def assert_reached(step):
    with pytest.raises(tf.errors.ResourceExhaustedError, match="max_bytes="):
        step(tf.ones([1024]))
