"""Trials on launch graphs, which find a policy."""

import contextlib
from collections.abc import Callable, Iterator

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.learned.automaton import Automaton, State, Step, encode
from recursive_tf.python.learning.launch_graphs import LaunchGraphs

# How many trials there are between two looks at what was learned. The paper has 50; but
# a table changes much from trial to trial, so that it takes far fewer trials to find a
# good one if each is looked at (docs/policies.md).
_TRIALS_AT_ONCE = 2
# What saves fewer launches than that holds for the recorded runs alone.
_WORTH = 0.98
# What a learned policy is compared with.
_OTHERS = ("critical_path", "agenda", "depth")


class Search:
    """Looks for a policy on launch graphs of a program, and keeps the best one.

    Attributes:
        launches: What the runs take together: by the best policy so far, "fsm", and by
            others; "least" is what no policy needs fewer than.
        num_trials: On each run, so far.

    Args:
        graphs: The runs.
        seed: Of random numbers: one seed gives one policy.
    """

    def __init__(self, graphs: LaunchGraphs, seed: int) -> None:
        self._graphs = graphs
        self._seed = seed
        self._table = "fsm base"
        others = {name: rehearse(graphs, name) for name in _OTHERS}
        # In states that a table lacks.
        self._otherwise = others["critical_path"]
        self.launches = {"fsm": self._otherwise, **others, "least": 0}
        self.num_trials = 0

    def run(self, encoding: str, num_trials: int, tell: Callable[[], None]) -> None:
        """Makes trials, at most so many, until there is nothing left to find.

        Args:
            encoding: What policies look at; see `Automaton`.
            num_trials: On each run.
            tell: Is called when something may have changed.
        """
        with _on_cpu():
            learner, least = library.recursive_policy_learner(
                **self._graphs.tensors(), seed=self._seed, encoding=encoding
            )
        self.launches["least"] = int(least)
        left = num_trials
        while left > 0 and self.launches["fsm"] > int(least):
            count = min(_TRIALS_AT_ONCE, left)
            with _on_cpu():
                found = library.recursive_policy_trials(learner, num_trials=count)
            self._take(int(found.launches), found.table.numpy().decode())
            left -= count
            self.num_trials += count
            tell()

    def _take(self, launches: int, table: str) -> None:
        if launches < self.launches["fsm"] and launches <= _WORTH * self._otherwise:
            self.launches["fsm"], self._table = launches, table

    def automaton(self) -> Automaton:
        """Returns the best policy, with the steps that the runs take with it."""
        _, encoding, *entries = self._table.split()
        choices: dict[State, int] = {}
        for entry in entries:
            state, choice = entry.split(":")
            choices[tuple(map(int, state.split(",")))] = int(choice)
        steps: dict[Step, int] = {}
        for step in _steps(self._graphs, self._table, encoding):
            steps[step] = steps.get(step, 0) + 1
        return Automaton(
            subgraph=self._graphs.subgraph,
            blocks=self._graphs.block_places,
            encoding=encoding,
            choices=choices,
            steps=steps,
            launches=dict(self.launches),
        )


def rehearse(graphs: LaunchGraphs, policy: str) -> int:
    """Returns how many launches the runs take together with a policy.

    Args:
        graphs: The runs.
        policy: A name, or the text of a table.
    """
    with _on_cpu():
        result = library.recursive_rehearse(**graphs.tensors(), policy=policy)
        return int(result.num_launches.numpy().sum())


def _steps(graphs: LaunchGraphs, table: str, encoding: str) -> Iterator[Step]:
    """Yields the steps that all runs take with a table."""
    with _on_cpu():
        run = library.recursive_rehearse(**graphs.tensors(), policy=table)
    ranks = graphs.ranks.tolist()
    waiting = run.waiting.numpy().tolist()
    states = [encode(counts, ranks, encoding) for counts in waiting]
    launched = run.launched.numpy().tolist()
    first = 0
    for count in run.num_launches.numpy().tolist():
        of_run = [*states[first : first + count], ()]
        yield from zip(
            of_run, launched[first : first + count], of_run[1:], strict=False
        )
        first += count


@contextlib.contextmanager
def _on_cpu() -> Iterator[None]:
    with tf.init_scope(), tf.device("CPU:0"):
        yield
