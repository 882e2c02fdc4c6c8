"""What many workers add to a counter or a metric is added where it is."""

import keras
import numpy as np
import tensorflow as tf

from recursive_tf.distribute import add_at_once


def compiled():
    keras.utils.set_random_seed(5)
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(1)])
    model.compile("sgd", "mse", weighted_metrics=["mae"])
    model.optimizer.build(model.trainable_variables)
    return model


def batch():
    x = tf.reshape(tf.range(12.0), [4, 3])
    return x, tf.reduce_sum(x, 1, keepdims=True)


def twice(model):
    return add_at_once(add_at_once(model))


def test_sums_and_steps_stay_the_same():
    found = []
    for prepare in (add_at_once, twice, lambda model: model):
        model = prepare(compiled())
        step = tf.function(model.train_step)
        for _ in range(3):
            step(batch())
        results = model.get_metrics_result()
        found.append([float(results[name]) for name in ("loss", "mae")])
        assert int(model.optimizer.iterations) == 3
    np.testing.assert_allclose(found[:2], [found[2]] * 2, rtol=1e-6)


def test_nothing_is_read_and_assigned():
    model = add_at_once(compiled())
    graph = tf.function(model.train_step).get_concrete_function(batch()).graph
    assert len(model.metrics[1].variables) == 2
    metrics = [v for m in model.metrics for v in m.variables]
    added = {id(v.value.handle) for v in (*metrics, model.optimizer.iterations)}
    inside = {id(inner) for outer, inner in graph.captures if id(outer) in added}
    changes = [
        op.type
        for op in graph.get_operations()
        if "Assign" in op.type and id(op.inputs[0]) in inside
    ]
    assert set(changes) == {"AssignAddVariableOp"}
    assert len(changes) == len(added)
