"""`rtf.learn_policy`: from some runs to a policy."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.learned.automaton import ENCODINGS, Automaton
from recursive_tf.python.learned.learned_policy import LearnedPolicy
from recursive_tf.python.learning.launch_graphs import LaunchGraphs, record
from recursive_tf.python.learning.trials import Search

_CHOICES = ("auto", *ENCODINGS)


def learn_policy(
    step: Callable[..., Any],
    batches: Sequence[Any],
    *,
    seed: int = 0,
    encoding: str = "auto",
    trials: int = 100,
    verbose: bool = True,
) -> LearnedPolicy:
    """Learns in which order the batched executor best launches blocks.

    It runs `step` once for each batch, and records which activations waited for which.
    Then it makes trials on these records, which compute nothing. One or two batches are
    enough, because what is learned holds for other data of the same kind.

    >>> import recursive_tf as rtf
    >>> with rtf.SubGraph("fib", options=rtf.Options(policy="fsm")) as fib:
    ...     n = fib.input(tf.int32)
    ...     fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    >>> policy = rtf.learn_policy(fib, [6, 7], verbose=False)
    >>> options = rtf.Options(policy=policy)

    The policy is for `rtf.Options(policy=policy)`. Programs of this process with
    `rtf.Options(policy="fsm")` take it at once.

    Args:
        step: A SubGraph, or any function that makes root calls, e.g. a `tf.function`.
            Its side effects, e.g. on variables, happen here too.
        batches: The arguments of each call of `step`: a tuple, or the only argument.
        seed: Of random numbers. The same seed and runs give the same policy.
        encoding: What the policy looks at. "base" is the blocks that calls wait for.
            "max" is also the block that most calls wait for. "sort" is also the order
            of the blocks by how many calls wait. "auto" tries all three, and takes the
            best policy.
        trials: The most trials for each encoding. Fewer are made if nothing is left to
            find.
        verbose: Whether to show progress.

    Returns:
        The policy, of all programs that `step` calls.

    Raises:
        SubGraphError: If `step` made no root call in the batched executor.
        TypeError: If there is no function, or no list of arguments.
        ValueError: If there is no such encoding, or fewer trials than one.
    """
    if encoding not in _CHOICES:
        raise ValueError(f"encoding={encoding!r}: choose one of {_CHOICES}.")
    if trials < 1:
        raise ValueError(f"trials={trials}: make at least 1.")
    if not callable(step) or not isinstance(batches, Iterable):
        raise TypeError(
            "rtf.learn_policy takes a function and a list of the arguments of its "
            f"calls, e.g. [(nodes,), (others,)]. Got {step!r} and {batches!r}."
        )

    def run() -> None:
        for batch in batches:
            step(*(batch if isinstance(batch, tuple) else (batch,)))

    recorded = [graphs for graphs in record(run) if graphs.blocks.size]
    if not recorded:
        raise SubGraphError(
            f"{len(batches)} calls made no root call in the batched executor that "
            "launched anything, so there is nothing to learn from. rtf.explain(...) "
            "says which executor runs a program, and why."
        )
    return LearnedPolicy(
        tuple(
            _learn(graphs, seed, encoding, trials, verbose=verbose)
            for graphs in recorded
        )
    )


def _learn(
    graphs: LaunchGraphs, seed: int, encoding: str, trials: int, *, verbose: bool
) -> Automaton:
    """Returns the automaton of a program, which its runs may take from now on."""
    encodings = ENCODINGS if encoding == "auto" else (encoding,)
    search = Search(graphs, seed)
    bar = tf.keras.utils.Progbar(
        trials * len(encodings),
        verbose=int(verbose),
        stateful_metrics=list(search.launches),
        unit_name="trial",
    )

    def tell() -> None:
        bar.update(search.num_trials, list(search.launches.items()), finalize=False)

    for each in encodings:
        search.run(each, trials, tell)
    bar.update(search.num_trials, list(search.launches.items()), finalize=True)
    automaton = search.automaton()
    with tf.init_scope(), tf.device("CPU:0"):
        library.recursive_learned(
            block_places=list(graphs.block_places), table=automaton.table()
        )
    return automaton
