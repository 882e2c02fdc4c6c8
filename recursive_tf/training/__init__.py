"""Training that may be stopped at any moment, and goes on to the same figures.

`Run` is all of it: a folder that one process has, checkpoints within epochs, a line and
a picture of what each epoch gave, and the model of the best one. Its parts are Keras
callbacks, for a `fit` of your own. See docs/own_model.md.
"""

from recursive_tf.training.best import BestEpoch, Monitor
from recursive_tf.training.checkpoints import Checkpoints
from recursive_tf.training.curve import draw_curve
from recursive_tf.training.files import RunError, replaced, writing
from recursive_tf.training.fit_from import fit_from
from recursive_tf.training.order import Change, Order
from recursive_tf.training.position import Position
from recursive_tf.training.record import Record
from recursive_tf.training.run import EVALUATION_BATCH, Run
from recursive_tf.training.run_folder import RunFolder

__all__ = [
    "EVALUATION_BATCH",
    "BestEpoch",
    "Change",
    "Checkpoints",
    "Monitor",
    "Order",
    "Position",
    "Record",
    "Run",
    "RunError",
    "RunFolder",
    "draw_curve",
    "fit_from",
    "replaced",
    "writing",
]
