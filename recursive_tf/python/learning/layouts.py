"""What a memory layout would bring to runs: no run has one."""

import dataclasses
import time
from collections.abc import Callable

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python.learning.launch_graphs import recorded_runs


@dataclasses.dataclass(frozen=True)
class ReadBytes:
    """The size of rows that launches read of those that earlier ones computed.

    Attributes:
        all: Of all of them.
        in_order: Of reads whose rows stand side by side in order, as they came.
        in_order_planned: The same, in the planned layout.
    """

    all: int
    in_order: int
    in_order_planned: int


@dataclasses.dataclass(frozen=True)
class Layout:
    """A layout that was planned for runs, each by itself.

    Attributes:
        of_functions: What TensorFlow functions read: they copy what is not in order.
        of_programs: What block programs read: they copy nothing, whatever the order.
        seconds: To plan.
    """

    of_functions: ReadBytes
    of_programs: ReadBytes
    seconds: float


def plan_layout(run: Callable[[], None]) -> Layout:
    """Runs something, and plans a layout for the runs of programs meanwhile.

    The layout is that of ED-Batch (Chen et al. 2023, section 3.2), of whole runs: where
    each row of each launch would stand, so that launches find what they read in order.

    Args:
        run: Makes root calls. Those of other threads are planned, too.
    """
    recorded = recorded_runs(run)
    start = time.perf_counter()
    with tf.init_scope(), tf.device("CPU:0"):
        found = library.recursive_plan_layout(
            num_launches=recorded.num_launches,
            launches=recorded.launches,
            reads=recorded.reads,
            read_rows=recorded.read_rows,
        )
    seconds = time.perf_counter() - start
    of_functions, of_programs = found.numpy().sum(0).tolist()
    return Layout(ReadBytes(*of_functions), ReadBytes(*of_programs), seconds)
