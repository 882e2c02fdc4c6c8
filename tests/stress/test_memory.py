"""Steps of forests of changing size hold no more at the end than at the start.

And a root call that has a limit on its bytes takes not much more. `--steps=N` takes N.
"""

import pathlib
import sys

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.figures import tell
from tests.helpers.memory import IS_WATCHED, MEGABYTE, Peak, resident_memory
from tests.helpers.programs import Program

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
@pytest.mark.traces_only
@pytest.mark.parametrize("what", ["run", "train"])
@pytest.mark.parametrize("chosen", ["dataflow", "batched"])
def test_what_a_root_call_takes_is_near_its_limit_of_bytes(what, chosen, tmp_path):
    # In a process of its own: others have memory left, which a call would take first.
    program = Program(pathlib.Path(__file__), [chosen, what], tmp_path / "log")
    share = float(program.finish(300).split()[-1])
    tell(f"{what}: {share:.2f} of max_bytes, executor {chosen}")
    assert 0.25 < share < 2


def share_of_limit(executor, what):
    """Returns how much of its limit of bytes a recursion without end takes."""
    limit = 64 * MEGABYTE
    options = rtf.Options(max_bytes=limit, max_depth=None)
    with rtf.SubGraph("endless", executor=executor, options=options) as endless:
        x = endless.input(tf.TensorSpec([1024]))
        endless.output(tf.cond(x[0] < 0.0, lambda: x, lambda: endless(x * 0.5) + x))

    @tf.function(input_signature=[tf.TensorSpec([1024])])
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(endless(x))
        return (y, tape.gradient(y, x)) if what == "train" else y

    step(tf.fill([1024], -1.0))  # What is made once.
    peak = Peak()
    with pytest.raises(tf.errors.ResourceExhaustedError, match="max_bytes="):
        step(tf.ones([1024]))
    return peak.get() / limit


if __name__ == "__main__":
    sys.stdout.write(f"{share_of_limit(*sys.argv[1:])}\n")
