"""N replicas learn as one does that has all trees: in one process, and in several."""

import concurrent.futures

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from models.sentiment.classifier import NodeClassifier
from models.sentiment.iterative import IterativeEncoder
from tests.distribute import programs
from tests.distribute.summing import parts_of
from tests.distribute.traffic import GATHER, REDUCTION, SIZE, WORDS
from tests.distribute.trainings import (
    BATCH,
    CLASSES,
    EPOCHS,
    MIRRORED,
    STEPS,
    TRAININGS,
    VOCABULARY,
    WORKERS,
    batches_of,
    unequal_trees,
)

pytestmark = pytest.mark.slow
PLACES = ("mirrored", "workers")
CASES = [
    (place, number, name)
    for place, names_of in zip(PLACES, (MIRRORED, WORKERS), strict=True)
    for number, names in names_of.items()
    for name in names
]
# Sums of halves depend on how they are added up.
TOLERANCES = {"mixed": 2e-3}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Returns what is found by place, number of replicas and training."""
    folder = programs.shared_folder(tmp_path_factory)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = {("one", 1): pool.submit(programs.replicas, 1, TRAININGS, folder)}
        for number, names in WORKERS.items():
            jobs["workers", number] = pool.submit(
                programs.workers, number, names, folder
            )
        for number, names in MIRRORED.items():
            jobs["mirrored", number] = pool.submit(
                programs.replicas, number, names, folder
            )
        return {place: job.result() for place, job in jobs.items()}


def numbers(losses):
    """Returns losses as an array; of Keras's, those of each epoch."""
    if isinstance(losses[0], dict):
        names = [name for name in losses[0] if name != "seconds"]
        losses = [[epoch[name] for name in names] for epoch in losses]
    return np.array(losses)


@pytest.mark.parametrize(("place", "number", "name"), CASES)
def test_losses_and_variables_are_those_of_one_replica(found, place, number, name):
    one, several = found["one", 1][name], found[place, number][name]
    tolerance = TOLERANCES.get(name, 1e-5)
    np.testing.assert_allclose(
        numbers(several["losses"]), numbers(one["losses"]), rtol=tolerance
    )
    for mine, theirs in zip(several["variables"], one["variables"], strict=True):
        # Elements near zero are sums of much larger ones.
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance * scale)


def test_what_is_compared_is_long_and_unequal(found):
    batches = [batch.sizes.numpy() for batch in batches_of(unequal_trees())]
    assert [len(sizes) for sizes in batches] == [BATCH] * (STEPS // EPOCHS - 1) + [1]
    sizes = np.concatenate(batches)
    assert sizes.max() > 90 * np.median(sizes)
    for name in ("loop", "loop, dataflow"):
        assert len(found["one", 1][name]["losses"]) == STEPS
    for name in ("fit", "fit, dataflow"):
        assert len(found["one", 1][name]["losses"]) == EPOCHS


@pytest.mark.parametrize("name", ["fit", "fit, dataflow"])
def test_fit_learns_and_reports_all_figures(found, name):
    epochs = found["one", 1][name]["losses"]
    assert epochs[-1]["loss"] < epochs[0]["loss"]
    assert {"val_loss", "val_nodes", "val_root_fine"} < epochs[0].keys()


@pytest.mark.parametrize(
    ("place", "number", "name"),
    [
        ("one", 1, "overflow"),
        ("one", 1, "mixed"),
        ("mirrored", 2, "mixed"),
        ("workers", 2, "overflow"),
    ],
)
def test_a_step_that_overflows_in_one_replica_is_left_out(found, place, number, name):
    """The same in all of them: what there is of it would make everything NaN."""
    for variable in found[place, number][name]["variables"]:
        assert np.all(np.isfinite(variable))


def by_hand(variables):
    """Returns a step's gradients: of each tree alone, by loops, averaged by NumPy."""
    tf.keras.utils.set_random_seed(0)  # On which the order of trees depends too.
    [first, *_] = batches_of(unequal_trees())
    encoder = IterativeEncoder(
        rtf.layers.TreeLSTMCell(5), tf.keras.layers.Embedding(VOCABULARY, 4)
    )
    model = NodeClassifier(encoder, CLASSES, l2=1e-3)
    model.build()
    for variable, value in zip(model.trainable_variables, variables, strict=True):
        variable.assign(value)

    @tf.function(reduce_retracing=True)
    def gradients(tree):
        with tf.GradientTape() as tape:
            loss = model.compute_loss(tree, y_pred=model(tree))
        found = tape.gradient(loss, model.trainable_variables)
        return [tf.convert_to_tensor(gradient) for gradient in found]

    each = [gradients(first[i : i + 1]) for i in range(len(first))]
    return [np.mean(parts, axis=0) for parts in zip(*each, strict=True)]


@pytest.mark.parametrize(
    ("place", "number", "name"),
    [("one", 1, "loop, dataflow"), ("mirrored", 2, "loop, dataflow")],
)
def test_a_step_is_that_of_gradients_averaged_by_hand(found, place, number, name):
    """AdaGrad's first one, each gradient clipped to a norm of 0.1."""
    trained = found[place, number][name]
    starts, ends = trained["at_first"], trained["after_one_step"]
    for start, end, gradient in zip(starts, ends, by_hand(starts), strict=True):
        clipped = gradient * min(1, 0.1 / np.linalg.norm(gradient))
        expected = start - 0.05 * clipped / np.sqrt(0.1 + 1e-7 + clipped**2)
        np.testing.assert_allclose(end, expected, rtol=1e-4, atol=1e-6)


def test_workers_send_each_other_the_rows_that_a_step_uses(found):
    traffic = found["workers", 2]["traffic"]
    rows, table = traffic["rows"] * SIZE * 4, WORDS * SIZE * 4
    assert table > 21e6
    # All of a worker's rows go to the other one, half of them each; and it takes words.
    assert rows / 2 < traffic["bytes"] < 4 * rows
    assert traffic["bytes"] < table / 50
    # How many trees there are; what is dense, and how many rows; rows and indices.
    assert traffic["exchanged"] == [REDUCTION, REDUCTION, GATHER]


@pytest.mark.parametrize(("place", "number"), [("mirrored", 2), ("workers", 2)])
def test_sums_over_replicas_are_those_of_all_parts(found, place, number):
    for is_empty, summed in zip(
        (False, True), found[place, number]["sums"], strict=True
    ):
        everyone = [parts_of(replica, is_empty) for replica in range(number)]
        for parts, got in zip(zip(*everyone, strict=True), summed, strict=True):
            if isinstance(parts[0], tuple):
                expected = [np.concatenate(x) for x in zip(*parts, strict=True)]
            else:
                expected = [np.sum(parts, 0, parts[0].dtype)]
            assert got == [[x.dtype.name, x.tolist()] for x in expected]
