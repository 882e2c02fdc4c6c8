"""What TensorFlow and Keras have for runs that are stopped works with forests."""

import json
import os
import signal
import time

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.distribute.local_cluster import tf_config
from tests.distribute import preempted_program
from tests.distribute.trainings import BATCH, batches_of, classifier, few_words
from tests.helpers.programs import Program, addresses

pytestmark = pytest.mark.slow

PREEMPTED = 42
PATIENCE_S = 90.0


class StopError(Exception):
    """Ends `fit` in the midst of an epoch."""


def fit(folder, stop_at=None):
    """Trains for four epochs, or until a step; returns the weights."""

    def stop(batch, logs=None):
        if int(model.optimizer.iterations.numpy()) == stop_at:
            raise StopError

    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with strategy.scope():
        model = classifier("auto", rtf.optimizers.SparseAdagrad(0.1))
    rtf.distribute.enable_fit(model)
    batches = rtf.data.batches(few_words(5 * BATCH), BATCH)
    model.fit(
        rtf.distribute.shards(batches, strategy),
        epochs=4,
        shuffle=False,
        verbose=0,
        callbacks=[
            keras.callbacks.LambdaCallback(on_train_batch_end=stop),
            keras.callbacks.BackupAndRestore(folder, delete_checkpoint=False),
        ],
    )
    return model.get_weights()


def test_backup_and_restore(tmp_path):
    undisturbed = fit(tmp_path / "undisturbed")
    with pytest.raises(StopError):
        fit(tmp_path / "stopped", stop_at=12)
    for found, expected in zip(fit(tmp_path / "stopped"), undisturbed, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def start(folder):
    module, workers = preempted_program.__name__, addresses(2)
    return [
        Program(
            module,
            [folder],
            folder / f"{number}.log",
            tf_config({"worker": workers}, "worker", number),
        )
        for number in range(2)
    ]


def finish(programs, code):
    for program in programs:
        program.finish(PATIENCE_S, code)


def figures(folder):
    return json.loads((folder / "figures.json").read_text())


def wait_for_step(folder, number, program):
    path = folder / "step-1"
    while not path.exists() or int(path.read_text() or 0) < number:
        assert program.code is None, program.said()
        time.sleep(0.01)


def undisturbed():
    """Returns the figures of one process that has all trees."""
    model = classifier("auto", rtf.optimizers.SparseAdagrad(0.1))
    batches = [*batches_of(few_words(35))]
    step = tf.function(model.train_step, reduce_retracing=True)
    for number in range(preempted_program.STEPS):
        step(batches[number % len(batches)])
    return [float(tf.reduce_sum(tf.abs(variable.value))) for variable in model.weights]


def test_preemption_checkpoint_handler(tmp_path):
    programs = start(tmp_path)
    wait_for_step(tmp_path, 10, programs[1])
    os.kill(programs[1].pid, signal.SIGTERM)
    finish(programs, PREEMPTED)
    assert 10 <= int((tmp_path / "step-1").read_text()) < preempted_program.STEPS - 1
    finish(start(tmp_path), 0)
    assert figures(tmp_path) == pytest.approx(undisturbed(), rel=1e-5)
