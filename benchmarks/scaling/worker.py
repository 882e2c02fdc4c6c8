"""What one process measures: training steps, alone or with others, and parts of them.

python -m benchmarks.scaling.worker jobs.json results.json
"""

import dataclasses
import pathlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.scaling import trees as all_trees
from benchmarks.scaling.jobs import (
    Exchanging,
    Jobs,
    Results,
    Sharing,
    Steps,
    Training,
    Updating,
    read_jobs,
    write,
)
from benchmarks.scaling.model import ROW, SPARSE
from benchmarks.scaling.network import bytes_sent
from benchmarks.timing import seconds_of
from benchmarks.treelstm_model import CLASSES, Size
from models.running import distribution
from models.running.distribution import Distribution
from models.tree_lstm import TASK
from recursive_tf.distribute.sums import gather_slices

TIMEOUT_S = 60.0
IN_A_CALL = 10  # Exchanges: what a call itself costs is no exchange's.
WARM = 3  # Times that something is done before it is timed.


def make_model(size: Size, words: int, executor: str = "auto") -> keras.Model:
    """Returns the compiled model."""
    settings = dataclasses.replace(
        TASK.given, hidden=size.hidden, embedding=size.embedding, executor=executor
    )
    return TASK.make_model(settings, CLASSES, words)


class Clock(keras.callbacks.Callback):
    """Notes when executions end, and what had been sent by then."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []
        self.sent: list[int] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Is called after each execution."""
        self.times.append(time.perf_counter())
        self.sent.append(bytes_sent())


class Worker:
    """A process that does jobs, alone or as TF_CONFIG says."""

    def __init__(self, jobs: Jobs) -> None:
        is_alone = distribution.cluster_resolver() is None
        kind = distribution.NONE if is_alone else distribution.MULTI_WORKER
        settings = dataclasses.replace(TASK.given, strategy=kind)
        self._here: Distribution = distribution.make_distribution(settings, TIMEOUT_S)
        self._size = Size(*jobs.size)
        self._forest = all_trees.load(jobs.data, jobs.limit, self._size)
        self._words = all_trees.num_words(self._forest)

    @property
    def is_chief(self) -> bool:
        """Whether it is the one that writes."""
        return self._here.is_chief

    def train(self, job: Training) -> Steps:
        """Trains a new model; of its executions the first is not timed."""
        keras.utils.set_random_seed(0)
        with self._here.strategy.scope():
            model = make_model(self._size, self._words, job.executor)
            model.steps_per_execution = job.steps
        steps = job.steps * (1 + job.executions)
        plan = all_trees.in_turn(self._forest, job.batch, steps)
        batches: Any = plan.dataset
        if self._here.is_shared:
            rtf.distribute.enable_fit(model)
            batches = self._shared(batches)
        clock = Clock()
        model.fit(batches, verbose=0, shuffle=False, callbacks=[clock])
        ends = zip(clock.times, clock.times[1:], strict=False)
        nodes = plan.nodes.reshape(-1, job.steps).mean(1)[1:]
        return Steps(
            [(end - start) / job.steps for start, end in ends],
            nodes.tolist(),
            (clock.sent[-1] - clock.sent[0]) / (job.steps * job.executions),
        )

    def _shared(self, batches: tf.data.Dataset) -> Any:
        return rtf.distribute.shards(batches, self._here.strategy)

    def exchange(self, job: Exchanging) -> tuple[float, float]:
        """Returns the seconds of an exchange, and those that it computes."""
        workers = self._here.strategy.num_replicas_in_sync
        counts = tf.fill([workers, 1], job.rows)

        def exchanged(rows: tf.Tensor) -> tf.Tensor:
            if job.kind != SPARSE:
                return rtf.distribute.sum_over_replicas(rows) / workers
            slices = tf.IndexedSlices(rows, tf.range(job.rows))
            [gathered] = gather_slices([slices], counts)
            return gathered.values[: job.rows]

        def of_replica() -> tf.Tensor:
            rows = tf.ones([job.rows, ROW])
            for _ in range(IN_A_CALL):
                rows = exchanged(rows)
            return rows

        some = tf.function(lambda: self._here.strategy.run(of_replica), autograph=False)
        seconds, busy = _times_of_each(some, job.repeats)
        return seconds / IN_A_CALL, busy / IN_A_CALL

    def share(self, job: Sharing) -> float:
        """Returns how much longer a share takes than a batch that is not shared."""
        workers = self._here.strategy.num_replicas_in_sync

        def seconds(batch: int, shared: Callable[[Any], Any]) -> float:
            plan = all_trees.in_turn(self._forest, batch, job.steps + WARM)
            batches = iter(shared(plan.dataset))
            return _seconds_of_each(lambda: next(batches), job.steps)

        alone = seconds(job.batch // workers, lambda dataset: dataset)
        return seconds(job.batch, self._shared) - alone

    def update(self, job: Updating) -> float:
        """Returns the seconds of an update of rows of the embedding."""
        size = self._size.embedding
        table = keras.Variable(tf.zeros([job.distinct, size]))
        optimizer = rtf.optimizers.SparseAdagrad(TASK.given.learning_rate)
        optimizer.build([table])
        indices = tf.range(job.rows) % job.distinct
        slices = tf.IndexedSlices(tf.ones([job.rows, size]), indices)
        once = tf.function(lambda: optimizer.apply([slices]), autograph=False)
        return _seconds_of_each(once, job.repeats)


def _times_of_each(work: Callable[[], object], times: int) -> tuple[float, float]:
    """Returns means of seconds, and of those that this process computes.

    Before it is timed, it is done to trace, and to meet others.
    """

    def some(times: int) -> None:
        for _ in range(times):
            work()

    some(WARM)
    start = time.process_time()
    seconds = seconds_of(lambda: some(times))
    return seconds / times, (time.process_time() - start) / times


def _seconds_of_each(work: Callable[[], object], times: int) -> float:
    seconds, _ = _times_of_each(work, times)
    return seconds


def main(arguments: Sequence[str]) -> None:
    """Reads jobs, and writes what was found."""
    source, target = map(pathlib.Path, arguments)
    jobs = read_jobs(source)
    worker = Worker(jobs)
    found = Results(
        [worker.train(job) for job in jobs.training],
        [worker.exchange(job) for job in jobs.exchanges],
        [worker.share(job) for job in jobs.sharings],
        [worker.update(job) for job in jobs.updates],
    )
    if worker.is_chief:
        write(target, found)


if __name__ == "__main__":
    main(sys.argv[1:])
