"""Damaged graphs are kept that reach new code; numbers say all of one."""

import numpy as np
import pytest

from tests.helpers import damaged
from tests.hostile.guided_graphs import Corpus, changed
from tests.hostile.marks import Marks


def drawn(corpus, count=100):
    return [corpus.draw() for _ in range(count)]


def test_a_mutant_that_ran_and_reached_new_code_is_changed_further():
    corpus = Corpus(3, seed=0, keeps=True)
    corpus.add((2, 5), has_run=True, num_new=1)
    further = [mutant for mutant in drawn(corpus) if mutant[:-1] == (2, 5)]
    assert 20 < len(further) < 80
    assert len(set(further)) == len(further)


@pytest.mark.parametrize(
    ("keeps", "has_run", "num_new"),
    [(True, False, 1), (True, True, 0), (False, True, 1)],
    ids=["refused", "nothing new", "blind"],
)
def test_another_one_is_not(keeps, has_run, num_new):
    corpus = Corpus(3, seed=0, keeps=keeps)
    corpus.add((2, 5), has_run=has_run, num_new=num_new)
    found = drawn(corpus)
    assert {len(mutant) for mutant in found} == {2}
    assert {program for program, _ in found} == {0, 1, 2}


def test_draws_follow_from_the_seed():
    first, same, other = (Corpus(3, seed, keeps=True) for seed in (1, 1, 2))
    expected = drawn(first)
    assert drawn(same) == expected
    assert drawn(other) != expected


def test_a_place_is_new_once():
    marks = bytearray(8)
    seen = Marks(marks)
    marks[3] = marks[5] = 1
    assert seen.num_new() == 2
    marks[3] = marks[6] = 1
    assert seen.num_new() == 1
    assert seen.num_new() == 0
    assert seen.count() == 3


def test_numbers_say_all_of_a_mutant():
    programs = [damaged.saved(damaged.tree, "batched", learns=True)]
    # Changes of attributes, and of ops.
    for numbers in [(1, 7, 9), (2, 8, 11)]:
        first, again = (changed((0, *numbers), programs) for _ in range(2))
        assert first == again
        assert first[0] != programs[0][0]
    assert changed((0,), programs)[0] == programs[0][0]


def test_what_is_left_of_a_graph_can_be_changed_again():
    programs = [damaged.saved(damaged.memo, "dataflow", learns=True)]
    numbers = np.random.default_rng(0).integers(2**32, size=60).tolist()
    _, _, changes = changed((0, *numbers), programs)
    assert len(changes) >= 60 // 2
