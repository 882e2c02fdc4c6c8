"""What is measured, in a process of its own: `python workload.py SETTINGS`.

It runs under any revision, with that revision's folder as PYTHONPATH, so it is one file
and uses public names of `recursive_tf` alone. A line of JSON on stdin is an order, and
one on stdout its answer; what else is printed goes to stderr. The first answer says
what was imported.

Each timed piece comes after one call that is not timed, and is the median of the calls
that fit into some time. Results are fetched within the clock.
"""

import ctypes
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import keras
import tensorflow as tf

import recursive_tf as rtf

Work = Callable[[], Any]
Step = Callable[[Any], tf.Tensor]

CLASSES = 5
LEAST_CALLS = 3
LEAST_TREES = 32  # Of a pass; it has at least one batch.
_PR_SET_PDEATHSIG = 1


def fib_calls(n: int) -> int:
    """Returns how many calls `fib(n)` is, e.g. 21,891 for 20."""
    return 1 if n < 2 else 1 + fib_calls(n - 1) + fib_calls(n - 2)


def make_fib() -> Callable[..., tf.Tensor]:
    """Returns `fib(n) * x`, of the dataflow executor."""

    @tf.function(autograph=False)
    def run(n: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        with rtf.SubGraph("fib", executor="dataflow") as fib:
            k, value = fib.input(tf.int32), fib.input(tf.float32)
            fib.output(
                tf.cond(
                    k < 2,
                    lambda: tf.cast(k, tf.float32) * value,
                    lambda: fib(k - 1, value) + fib(k - 2, value),
                )
            )
        return fib(n, x)

    return run


def fib_work(n: int) -> dict[str, Work]:
    """Returns fib(n), and its gradient, which must be the same number."""
    program = make_fib()

    @tf.function(autograph=False)
    def gradient(n: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = program(n, x)
        return tape.gradient(y, x)

    arguments = tf.constant(n), tf.constant(1.0)
    if program(*arguments).numpy() != gradient(*arguments).numpy():
        raise ValueError(f"fib({n}) and its gradient differ; a speed of them is none.")
    return {
        "inference": lambda: program(*arguments).numpy(),
        "training": lambda: gradient(*arguments).numpy(),
    }


def read_trees(path: str) -> tuple[Any, int]:
    """Returns the trees of a file as the treebank has them, and how many words."""
    trees = rtf.data.read_sst(path).load()
    words = rtf.data.vocabulary(trees)
    trees = rtf.data.encode(trees, tokens=words)
    return trees.replace(
        labels=tf.cast(trees.labels, tf.int32)
    ), words.vocabulary_size()


def make_steps(vocabulary: int, hidden: int, embedding: int) -> dict[str, Step]:
    """Returns the steps of a TreeLSTM that labels every node, with its variables."""
    keras.utils.set_random_seed(0)
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.TreeLSTMCell(hidden),
        keras.layers.Embedding(vocabulary, embedding),
        return_nodes=True,
    )
    classify = keras.layers.Dense(CLASSES)
    encoder.build(None)
    classify.build((None, hidden))
    variables = encoder.trainable_variables + classify.trainable_variables
    optimizer = rtf.optimizers.SparseAdagrad(1e-3)
    optimizer.build(variables)

    @tf.function(reduce_retracing=True, autograph=False)
    def train(forest: Any) -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits = classify(encoder(forest, training=True))
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(forest.labels, logits)
            )
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    @tf.function(reduce_retracing=True, autograph=False)
    def infer(forest: Any) -> tf.Tensor:
        return classify(encoder(forest, training=False))

    return {"training": train, "inference": infer}


def seconds_a_call(work: Work, least_seconds: float) -> float:
    """Returns the median time of calls, after one that is not timed."""
    work()
    times: list[float] = []
    while len(times) < LEAST_CALLS or sum(times) < least_seconds:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Workload:
    """All pieces, over the same trees and model; each is made when first asked for."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._fib: dict[str, Work] = {}
        self._trees: Any = None
        self._steps: dict[str, Step] = {}
        self._forests: dict[int, list[Any]] = {}

    def load(self) -> None:
        """Reads the trees and makes a model."""
        size = self._settings
        self._trees, vocabulary = read_trees(size["trees"])
        self._steps = make_steps(vocabulary, size["hidden"], size["embedding"])

    def warm(self, batches: list[int]) -> None:
        """Traces everything, in the same order in every process, twice for shapes."""
        self.load()
        self._fib = fib_work(self._settings["fib"])
        for _ in range(2):
            for batch in batches:
                for kind in self._steps:
                    self._pass(kind, batch)

    def first(self, kind: str) -> float:
        """Returns the seconds of tracing and the first step, of one tree."""
        self.load()
        (tree, *_) = self._batches(1)
        start = time.perf_counter()
        self._steps[kind](tree).numpy()
        return time.perf_counter() - start

    def calls(self, kind: str) -> float:
        """Returns the microseconds of a call of fib."""
        seconds = seconds_a_call(self._fib[kind], self._settings["seconds"])
        return 1e6 * seconds / fib_calls(self._settings["fib"])

    def trees(self, kind: str, batch: int) -> float:
        """Returns trees/s."""
        seconds = seconds_a_call(
            lambda: self._pass(kind, batch), self._settings["seconds"]
        )
        return sum(map(len, self._batches(batch))) / seconds

    def train(self, batch: int) -> float:
        """Takes some training steps, for somebody who watches the memory."""
        for _ in range(LEAST_CALLS):
            self._pass("training", batch)
        return 0.0

    def _pass(self, kind: str, batch: int) -> None:
        for forest in self._batches(batch):
            self._steps[kind](forest).numpy()

    def _batches(self, size: int) -> list[Any]:
        if size not in self._forests:
            few = max(1, LEAST_TREES // size)
            made = rtf.data.batches(self._trees, size).take(few)
            self._forests[size] = list(made)
        return self._forests[size]


def own_stdout() -> TextIO:
    """Returns stdout, to which from now on nobody else prints."""
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


def say(answers: TextIO, answer: dict[str, Any]) -> None:
    """Writes one line."""
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def what_runs() -> dict[str, Any]:
    """Returns what the other side has to know of this process."""
    threading = tf.config.threading
    return {
        "package": rtf.__file__,
        "recursive_tf": rtf.__version__,
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
        # 0 is a thread for each processor.
        "inter_op_threads": threading.get_inter_op_parallelism_threads(),
        "intra_op_threads": threading.get_intra_op_parallelism_threads(),
    }


def main() -> None:
    """Answers orders until there are no more."""
    # A stopped process does not see that its stdin ended.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    answers = own_stdout()
    workload = Workload(json.loads(sys.argv[1]))
    say(answers, what_runs())
    for line in sys.stdin:
        order = json.loads(line)
        say(answers, {"figure": getattr(workload, order.pop("do"))(**order)})


if __name__ == "__main__":
    main()
