"""The command line of every system: what to run, and one line of JSON for it.

    python -m benchmarks.peers.NAME --model treelstm.npz --batch 25 --mode training
    python -m benchmarks.peers.NAME --model treelstm.npz --check
    python -m benchmarks.peers.NAME --model treelstm.npz --serve

The model is a file that `python -m benchmarks.works.making` writes. With `--serve`, a
process says that it is there, and answers requests, each a line of JSON on its standard
input; so several systems can be measured in turn, each still warm. NumPy is all that
this file needs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from benchmarks.works import work as works
from benchmarks.works.work import Work

MODES = ("training", "inference")
OPTIMIZERS = ("sgd", "adagrad")
# A step of training computes gradients alone.
NO_OPTIMIZER = "none"
# Of both optimizers. AdaGrad begins with sums of squares of START, and divides by
# sqrt(sum) + EPSILON.
RATE = 0.005
START = 0.1
EPSILON = 1e-7
CHECKED_TREES = 25
# TensorFlow takes each op of a graph for an expensive one, which it hands to a thread
# of its own, until it ran some ninety times: the estimate of what it costs begins with
# 10^8 cycles, and each run replaces a tenth. A slow system is warm after some time.
WARM_STEPS = 100
WARM_S = 3.0


class System(Protocol):
    """A program of some framework, made of a work and the name of an optimizer.

    A call takes the numbers of some trees; it makes a batch of them, which is host work
    that is timed too, runs it, and waits for the result. A system that runs several
    steps a call has `train_all` and `infer_all`, which take a list of batches and
    return the last loss.
    """

    def train(self, trees: np.ndarray) -> float:
        """Runs a step of training; returns the loss of the batch before it."""

    def infer(self, trees: np.ndarray) -> float:
        """Returns the loss of the batch; keeps nothing for gradients."""

    def gradients(self, trees: np.ndarray) -> tuple[float, dict[str, float]]:
        """Returns the loss, and the norm of its gradient for each of the weights.

        Nothing is updated. That of the embedding is of rows that are summed up.
        """


class Server:
    """Answers requests about one system.

    Args:
        system: What is measured.
        work: What it was made of.
    """

    def __init__(self, system: System, work: Work) -> None:
        self._system = system
        self._work = work
        self._is_warm: set[tuple[str, int]] = set()
        self._steps = dict.fromkeys(MODES, 0)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Returns what `check` or `measure` does."""
        if request.get("check"):
            return self.check()
        return self.measure(request["mode"], request["batch"], request["seconds"])

    def check(self) -> dict[str, Any]:
        """Returns loss and norms of gradients of one fixed batch."""
        count = min(CHECKED_TREES, len(self._work.trees))
        trees = np.arange(count)
        loss, norms = self._system.gradients(trees)
        return {"loss": loss, "inferred": self._system.infer(trees), "norms": norms}

    def measure(self, mode: str, size: int, seconds: float) -> dict[str, Any]:
        """Runs whole passes for some time, one at least.

        Before the first pass of a batch size one is run that is not timed, or several
        until the mode is warm; before others one step.
        """
        batches = self._work.batches(size)
        if (mode, size) in self._is_warm:
            self._pass_of(mode)(batches[:1])
        else:
            self._run_passes(
                mode,
                batches,
                lambda spent: self._steps[mode] < WARM_STEPS and spent < WARM_S,
            )
            self._is_warm.add((mode, size))
        steps, spent, loss = self._run_passes(
            mode, batches, lambda spent: spent < seconds
        )
        if not np.isfinite(loss):
            raise ValueError(f"The loss became {loss}.")
        return {"mode": mode, "batch": size, "steps": steps, "seconds": spent}

    def _run_passes(
        self, mode: str, batches: list[np.ndarray], goes_on: Callable[[float], bool]
    ) -> tuple[int, float, float]:
        """Runs whole passes, one at least, as long as `goes_on(seconds)`.

        Returns:
            How many steps there were, how long they took, and the last loss.
        """
        run_all = self._pass_of(mode)
        steps, start = 0, time.perf_counter()
        while True:
            loss = run_all(batches)
            steps += len(batches)
            self._steps[mode] += len(batches)
            spent = time.perf_counter() - start
            if not goes_on(spent):
                return steps, spent, loss

    def _pass_of(self, mode: str) -> Callable[[list[np.ndarray]], float]:
        """Returns what runs a step for each of some batches."""
        name = {"training": "train", "inference": "infer"}[mode]
        step = getattr(self._system, name)

        def step_by_step(batches: list[np.ndarray]) -> float:
            for trees in batches:
                loss = step(trees)
            return loss

        return getattr(self._system, f"{name}_all", step_by_step)


def main(
    make: Callable[[Work, str], System], versions: Callable[[], dict[str, str]]
) -> None:
    """Runs the command line of a system.

    Args:
        make: Makes it of a work and the name of an optimizer.
        versions: Says what it is made with, e.g. {"torch": "2.9.0"}.
    """
    asked = _parse()
    work = works.load(asked.model)
    server = Server(make(work, asked.optimizer), work)
    about = {"versions": versions(), "processors": len(os.sched_getaffinity(0))}
    if not asked.serve:
        request = {"check": True} if asked.check else _measurement(asked)
        print(json.dumps(about | server.answer(request)))
        return
    print(json.dumps(about), flush=True)
    for request in map(json.loads, sys.stdin):
        print(json.dumps(server.answer(request)), flush=True)


def _measurement(asked: argparse.Namespace) -> dict[str, Any]:
    return {"mode": asked.mode, "batch": asked.batch, "seconds": asked.seconds}


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True, help="file of a work")
    optimizers = (*OPTIMIZERS, NO_OPTIMIZER)
    parser.add_argument("--optimizer", choices=optimizers, default="sgd")
    parser.add_argument("--batch", type=int, default=25, help="trees of a batch")
    parser.add_argument("--mode", choices=MODES, default="training")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--check", action="store_true", help="loss and gradients")
    parser.add_argument("--serve", action="store_true", help="requests on stdin")
    return parser.parse_args()
