"""Saved programs that are damaged further where a change reached new code.

Usage: python -m tests.hostile.guided_graphs --seconds=N|--count=N [--seed=N] [--blind]
       python -m tests.hostile.guided_graphs --again=PROGRAM,NUMBER,NUMBER...

A mutant is the number of a program, and those of changes to it, one after the other. It
begins with the programs as they are. A mutant that runs a place of the library that no
one ran before is kept, and changed further; `--blind` keeps none, to compare with. The
library has to be the one that `tools/fuzz_graphs.py` builds.
"""

import argparse
import collections
import ctypes
import itertools
import pathlib
import random
import time

from tests.helpers import damaged
from tests.hostile import damaged_graphs
from tests.hostile.marks import Marks

LIBRARY = pathlib.Path(__file__).parents[2] / "recursive_tf/ops/_recursive_tf.so"
TIMES_AS_IT_IS = 3
NUMBERS = 2**32
SAID_EACH = 250


class Corpus:
    """Mutants that reached something new, from which others are made.

    One is `(program, number, number...)`. What a mutant is refused for hides all that
    comes after it, so only mutants that run are kept. Half of the draws begin with a
    program as it is: one change to it reaches more than the fifth.
    """

    def __init__(self, num_programs, seed, keeps):
        self._random = random.Random(seed)
        self._keeps = keeps
        self._programs = [(program,) for program in range(num_programs)]
        self.kept = []

    def draw(self):
        """Returns a mutant with one change more than a program or one that is kept."""
        begins_anew = not self.kept or self._random.random() < 1 / 2
        mutants = self._programs if begins_anew else self.kept
        return (*self._random.choice(mutants), self._random.randrange(NUMBERS))

    def add(self, mutant, has_run, num_new):
        if has_run and num_new and self._keeps:
            self.kept.append(mutant)


def changed(mutant, programs):
    """Returns the graph of a mutant, what to run of it, and what was changed."""
    number, *numbers = mutant
    original, results = programs[number]
    graph = type(original)()
    graph.CopyFrom(original)
    changes = []
    for seed in numbers:
        kind = damaged.Mutation if seed % 2 else damaged_graphs.GraphMutation
        changes += kind(seed).change(graph)
    return graph, results, changes


def run(mutant, programs):
    """Returns what became of a mutant, in a word."""
    graph, results, changes = changed(mutant, programs)
    damaged.say("mutant", ",".join(map(str, mutant)), *changes)
    return damaged.outcome_of(lambda: damaged.run(graph, results))


def fuzz(programs, marks, corpus, goes_on):
    """Runs mutants as long as that holds of their number; returns the outcomes."""
    for program in range(len(programs)):
        for _ in range(TIMES_AS_IT_IS):
            run((program,), programs)
    marks.num_new()
    outcomes = collections.Counter()
    for number in itertools.takewhile(goes_on, itertools.count()):
        if number % SAID_EACH == 0:
            damaged.say(f"after {number}: {marks.count()} places ran")
        mutant = corpus.draw()
        outcome = run(mutant, programs)
        outcomes[outcome] += 1
        corpus.add(mutant, outcome == "ran", marks.num_new())
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--count", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--blind", action="store_true")
    parser.add_argument("--again", help="a mutant that was said: only it runs")
    chosen = parser.parse_args()

    programs = damaged.all_saved()
    damaged.limit_memory()
    if chosen.again:
        damaged.say(run(tuple(map(int, chosen.again.split(","))), programs))
        return
    end = time.monotonic() + chosen.seconds
    marks = Marks.of(ctypes.CDLL(str(LIBRARY)))
    corpus = Corpus(len(programs), chosen.seed, keeps=not chosen.blind)
    outcomes = fuzz(
        programs, marks, corpus, lambda n: n < chosen.count and time.monotonic() < end
    )
    damaged.say(dict(outcomes))
    damaged.say(
        f"figure: {sum(outcomes.values())} graphs, of which {len(corpus.kept)} were "
        f"kept; {marks.count()} places of the library ran"
    )


if __name__ == "__main__":
    main()
