"""Trials on launch graphs, which find a policy."""

from collections.abc import Callable, Mapping

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.learned.automaton import Automaton, State, Step, encode
from recursive_tf.python.learning.launch_graphs import LaunchGraphs

# How many trials there are between two looks at what was learned: the paper's 50.
_TRIALS_AT_ONCE = 50
# What saves fewer launches than that holds for the recorded runs alone.
_WORTH = 0.98
# What a learned policy is compared with.
_OTHERS = ("critical_path", "agenda", "depth")


def learn(
    graphs: LaunchGraphs,
    *,
    seed: int,
    encoding: str,
    num_trials: int,
    tell: Callable[[int, Mapping[str, int]], None],
) -> Automaton:
    """Returns the best policy that trials find on launch graphs of a program.

    They end when there is nothing left to find.

    Args:
        graphs: The runs to learn from.
        seed: Of random numbers: one seed gives one policy.
        encoding: See `Automaton`.
        num_trials: On each run, at most.
        tell: Gets the number of trials so far, and launches by policy.
    """
    others = {name: rehearse(graphs, name) for name in _OTHERS}
    with tf.init_scope(), tf.device("CPU:0"):
        learner, least = library.recursive_policy_learner(
            **graphs.tensors(), seed=seed, encoding=encoding
        )
    # What a table does in states that it lacks.
    otherwise = others["critical_path"]
    best, table, done = otherwise, f"fsm {encoding}", 0
    while True:
        launches = {"fsm": best, **others, "least": int(least)}
        tell(done, launches)
        if done == num_trials or best == int(least):
            return _automaton(graphs, table, launches)
        trials = min(_TRIALS_AT_ONCE, num_trials - done)
        with tf.init_scope(), tf.device("CPU:0"):
            found = library.recursive_policy_trials(learner, num_trials=trials)
        if int(found.launches) < best and int(found.launches) <= _WORTH * otherwise:
            best, table = int(found.launches), found.table.numpy().decode()
        done += trials


def rehearse(graphs: LaunchGraphs, policy: str) -> int:
    """Returns how many launches the runs take together with a policy.

    Args:
        graphs: The runs.
        policy: A name, or the text of a table.
    """
    with tf.init_scope(), tf.device("CPU:0"):
        result = library.recursive_rehearse(**graphs.tensors(), policy=policy)
        return int(result.num_launches.numpy().sum())


def _automaton(
    graphs: LaunchGraphs, table: str, launches: Mapping[str, int]
) -> Automaton:
    """Returns what a table says, with the steps that the runs take with it."""
    _, encoding, *entries = table.split()
    choices: dict[State, int] = {}
    for entry in entries:
        state, choice = entry.split(":")
        choices[tuple(map(int, state.split(",")))] = int(choice)
    with tf.init_scope(), tf.device("CPU:0"):
        run = library.recursive_rehearse(**graphs.tensors(), policy=table)
    ranks = graphs.ranks.tolist()
    waiting = run.waiting.numpy().tolist()
    states = [encode(counts, ranks, encoding) for counts in waiting]
    launched = run.launched.numpy().tolist()
    steps: dict[Step, int] = {}
    first = 0
    for count in run.num_launches.numpy().tolist():
        for at in range(first, first + count):
            after = states[at + 1] if at + 1 < first + count else ()
            step = (states[at], launched[at], after)
            steps[step] = steps.get(step, 0) + 1
        first += count
    return Automaton(
        graphs.subgraph, graphs.block_places, encoding, choices, steps, launches
    )
