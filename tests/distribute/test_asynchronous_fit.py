"""What callbacks see of training with parameter servers; this process is all workers.

`tests/training/test_strategies.py` trains with real ones.
"""

import keras
import pytest
import tensorflow as tf

from recursive_tf.distribute.parameter_server import fit_asynchronously

STEPS = 7


class Coordinator:
    """Does at once what it is given; counts how often workers were waited for."""

    def __init__(self, strategy):
        self.joined = 0
        type(self).last = self

    def schedule(self, function, args):
        function(*args)

    def join(self):
        self.joined += 1


class Seen(keras.callbacks.Callback):
    """Notes the batches at which it is called, and may end training at one."""

    def __init__(self, last=None):
        super().__init__()
        self.calls = []
        self._last = last

    def on_train_batch_begin(self, batch, logs=None):
        self.calls.append(("begin", batch))

    def on_train_batch_end(self, batch, logs=None):
        assert logs["loss"] >= 0.0
        self.calls.append(("end", batch))
        self.model.stop_training = batch == self._last

    def on_epoch_end(self, epoch, logs=None):
        self.calls.append(("epoch", epoch))
        assert logs["val_loss"] >= 0.0


@pytest.fixture
def train(monkeypatch):
    monkeypatch.setattr(tf.distribute.coordinator, "ClusterCoordinator", Coordinator)
    data = tf.data.Dataset.from_tensor_slices((tf.ones([STEPS, 2]), tf.ones([STEPS])))
    model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
    model.compile("sgd", "mse")

    def run(steps_at_once, epochs=1, last=None):
        seen = Seen(last)
        fit_asynchronously(
            model,
            tf.distribute.get_strategy(),
            data.batch(1),
            validation_data=data.batch(1),
            initial_epoch=0,
            epochs=epochs,
            callbacks=keras.callbacks.CallbackList([seen], model=model),
            steps_at_once=steps_at_once,
        )
        return seen.calls

    return run


def test_each_group_of_steps_begins_and_ends_once(train):
    assert train(3) == [
        *[("begin", 0), ("end", 2), ("begin", 3), ("end", 5), ("begin", 6), ("end", 6)],
        ("epoch", 0),
    ]


def test_workers_are_waited_for_once_a_group(train):
    train(3)
    assert Coordinator.last.joined == 3


def test_an_epoch_of_whole_groups_has_no_other(train):
    found = train(STEPS, 2)
    for epoch in range(2):
        assert found[3 * epoch :][:3] == [("begin", 0), ("end", 6), ("epoch", epoch)]
    assert len(found) == 6


def test_a_callback_may_end_it_within_an_epoch(train):
    assert train(3, 2, last=2) == [("begin", 0), ("end", 2), ("epoch", 0)]
