"""Trains in a loop with TensorFlow's PreemptionCheckpointHandler, in a cluster.

Arguments: a folder for the checkpoint, the figures and what says that steps are taken.
"""

import faulthandler
import json
import pathlib
import sys
import time

import tensorflow as tf

import recursive_tf as rtf
from tests.distribute.trainings import batches_of, classifier, few_words

STEPS = 30
PAUSE_S = 0.1  # So that a signal comes in the midst of them.
TIMEOUT_S = 120


def main():
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    folder = pathlib.Path(sys.argv[1])
    rtf.distribute.wait_for_cluster()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    resolver = strategy.cluster_resolver
    with strategy.scope():
        model = classifier("auto", rtf.optimizers.SparseAdagrad(0.1))
    weights = [variable.value for variable in model.weights]
    states = [variable.value for variable in model.optimizer.variables]
    checkpoint = tf.train.Checkpoint(weights=weights, states=states)
    handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        resolver,
        checkpoint,
        str(folder / "checkpoint"),
        tf.distribute.experimental.TerminationConfig(exit_fn=lambda: sys.exit(42)),
    )
    batches = [*rtf.distribute.shards(batches_of(few_words(35)), strategy)]

    @tf.function(reduce_retracing=True)
    def step(batch):
        strategy.run(model.train_step, args=(batch,))

    while handler.total_run_calls < STEPS:
        (folder / f"step-{resolver.task_id}").write_text(str(handler.total_run_calls))
        handler.run(step, batches[handler.total_run_calls % len(batches)])
        time.sleep(PAUSE_S)
    if resolver.task_id == 0:
        sums = [float(tf.reduce_sum(tf.abs(weight))) for weight in weights]
        (folder / "figures.json").write_text(json.dumps(sums))


if __name__ == "__main__":
    main()
