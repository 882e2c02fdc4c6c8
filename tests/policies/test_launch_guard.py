"""How many launches the headline programs take: a change that adds any fails.

Counts, and no times: of one batch of each, of values and of gradients. Who brings one
down writes the lower number here.
"""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from benchmarks.ed_batch import bilstm_tagger, lattice_lstm, tree_lstm
from benchmarks.ed_batch.workload import training
from tests.helpers.faults import count
from tests.vertex.functions import PAIR, TREES, Weights, n_ary, rows

pytestmark = [pytest.mark.executor("batched"), pytest.mark.slow]

UNITS, TREES_A_BATCH = 4, 8


def step_of(workload):
    """Returns a training step of a workload of ED-Batch."""
    [batch] = workload.batches(None, TREES_A_BATCH, 1)
    model = workload.model(UNITS, executor="batched")
    step = training(model)
    return lambda: step(*batch)


def step_of_a_vertex_function():
    """Returns a training step of a TreeLSTM as a function of a vertex."""
    weights, x = Weights(2), rows(len(TREES))
    run = rtf.vertex(state=PAIR, executor="batched")(n_ary(weights, 2))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(run(TREES, x) ** 2)
        return tape.gradient(loss, weights.variables)

    return step


# Launches of blocks, of their gradients, and of what is left to the end of these.
STEPS = {
    "TreeLSTM": (lambda: step_of(tree_lstm.WORKLOAD), (11, 10, 2)),
    "tagger": (lambda: step_of(bilstm_tagger.WORKLOAD), (81, 79, 4)),
    "lattice": (lambda: step_of(lattice_lstm.WORKLOAD), (150, 89, 3)),
    "vertex": (step_of_a_vertex_function, (3, 3, 1)),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_takes_no_more_launches_than_it_did(name):
    make, expected = STEPS[name]
    step = make()
    step()
    found = tuple(count(kind, step) for kind in ("launch", "gradient", "deferred"))
    assert found == expected
