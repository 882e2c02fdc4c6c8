"""How many launches policies take: as few as who looks ahead finds, or nearly."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from examples import shift_reduce
from recursive_tf.python.learning.launch_graphs import record
from recursive_tf.python.learning.trials import rehearse
from tests.layers.test_lattices import nodes_of
from tests.policies.beam_search import fewest_found, graphs_of
from tests.policies.programs import (
    AABB,
    chains,
    define_kinds,
    random_chains,
    random_trees,
)

# What no policy of ED-Batch (Chen et al. 2023) or of ours may be above, as a share of
# what a beam search finds.
NEARLY = 1.05


def recorded_kinds(num_kinds, batches):
    program = define_kinds(num_kinds)

    def run():
        for batch in batches:
            program.run(*batch)

    [graphs] = record(run)
    return graphs


def random_lattices(num_lattices, length, seed):
    """Returns lattices of characters and words, in which words overlap."""
    rng = np.random.default_rng(seed)
    forests = []
    for _ in range(num_lattices):
        characters = list(rng.integers(9, size=rng.integers(4, length)))
        count = len(characters)
        begins = rng.integers(count - 1, size=count // 2)
        ends = [int(rng.integers(b + 2, min(b + 5, count) + 1)) for b in begins]
        words = sorted({(int(b), e, 1) for b, e in zip(begins, ends, strict=True)})
        tokens, children, marks = nodes_of(characters, words)
        forests.append(
            rtf.data.Forest(
                tokens=tokens,
                children=children,
                roots=[count],
                sizes=[len(tokens)],
                features={"is_word": marks},
            )
        )
    return rtf.data.concat(forests)


def recorded_lattices():
    inputs = rtf.layers.LatticeInputs(
        keras.layers.Embedding(10, 3), keras.layers.Embedding(10, 3)
    )
    encoder = rtf.layers.TreeEncoder(
        rtf.layers.LatticeLSTMCell(4), executor="batched", dag=True
    )

    def run():
        for seed in range(2):
            forest = random_lattices(6, 14, seed)
            encoder(forest, inputs(forest))

    [graphs] = record(run)
    return graphs


WORKLOADS = {
    "trees of 2 kinds": lambda: recorded_kinds(
        2, [random_trees(25, 40, 2, seed) for seed in range(2)]
    ),
    "trees of 4 kinds": lambda: recorded_kinds(
        4, [random_trees(25, 40, 4, seed) for seed in range(2)]
    ),
    "trees of 8 kinds": lambda: recorded_kinds(
        8, [random_trees(25, 40, 8, seed) for seed in range(2)]
    ),
    "chains of 2 kinds": lambda: recorded_kinds(
        2, [random_chains(12, 25, 2, seed) for seed in range(2)]
    ),
    "lattices": recorded_lattices,
}


@pytest.fixture(scope="module", params=WORKLOADS)
def recorded(request):
    return WORKLOADS[request.param]()


def test_the_default_takes_nearly_as_few_as_who_looks_ahead(recorded):
    launches = rehearse(recorded, "critical_path")
    assert launches <= NEARLY * sum(map(fewest_found, graphs_of(recorded)))


def test_no_other_policy_takes_fewer(recorded):
    launches = rehearse(recorded, "critical_path")
    assert launches <= rehearse(recorded, "agenda")
    assert launches <= rehearse(recorded, "depth")


def test_what_was_learned_holds_for_chains_that_were_not_recorded():
    learned = rtf.learn_policy(define_kinds(2).run, [AABB], verbose=False)
    [automaton] = learned.automata
    others = recorded_kinds(
        2, [chains(*[[0, 0, 1, 1] * n for n in (7, 4)], [1, 1, 0, 0] * 7)]
    )
    launches = rehearse(others, automaton.table())
    assert launches <= NEARLY * sum(map(fewest_found, graphs_of(others)))
    assert launches < rehearse(others, "critical_path")


def test_a_parser_that_follows_its_own_scores_learns_most():
    model = shift_reduce.random_model(seed=6)

    def parse(seed):
        normal = tf.random.Generator.from_seed(seed).normal
        return shift_reduce.parse(model, normal([32, 20, 8]))

    learned = rtf.learn_policy(parse, [1, 2], verbose=False)
    [others] = record(lambda: parse(3))
    launches = rehearse(others, learned.automata[0].table())
    assert launches <= NEARLY * sum(map(fewest_found, graphs_of(others)))
    assert launches < 0.8 * rehearse(others, "critical_path")
    assert launches < 0.7 * rehearse(others, "agenda")
