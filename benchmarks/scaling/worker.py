"""What one process measures: training steps, alone or with others.

python -m benchmarks.scaling.worker jobs.json steps.json
"""

import dataclasses
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

import keras

import recursive_tf as rtf
from benchmarks.scaling import trees as all_trees
from benchmarks.scaling.jobs import Jobs, Steps, Training, read_jobs, write_steps
from benchmarks.scaling.network import bytes_sent
from benchmarks.treelstm_model import CLASSES, Size
from models.tree_lstm import TASK

TIMEOUT_S = 60.0


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
        is_alone = rtf.distribute.cluster_resolver() is None
        strategy = "none" if is_alone else "multi_worker"
        self._here = rtf.distribute.make_distribution(strategy, timeout_s=TIMEOUT_S)
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
        batches: Any = all_trees.in_turn(self._forest, job.batch, steps)
        if self._here.is_shared:
            rtf.distribute.enable_fit(model)
            batches = rtf.distribute.shards(batches, self._here.strategy)
        clock = Clock()
        model.fit(batches, verbose=0, shuffle=False, callbacks=[clock])
        ends = zip(clock.times, clock.times[1:], strict=False)
        return Steps(
            [(end - start) / job.steps for start, end in ends],
            (clock.sent[-1] - clock.sent[0]) / (job.steps * job.executions),
        )


def main(arguments: Sequence[str]) -> None:
    """Reads jobs, and writes what was found."""
    source, target = map(pathlib.Path, arguments)
    jobs = read_jobs(source)
    worker = Worker(jobs)
    found = [worker.train(job) for job in jobs.training]
    if worker.is_chief:
        write_steps(target, found)


if __name__ == "__main__":
    main(sys.argv[1:])
