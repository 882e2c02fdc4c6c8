"""What a process says when it has lost another one of its cluster."""

import contextlib
import re
from collections.abc import Iterator

import tensorflow as tf

from recursive_tf.distribute.cluster import ClusterError
from recursive_tf.distribute.resolver import cluster_resolver

# What TensorFlow raises in a process when another one is gone.
LOST = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.UnavailableError,
)
_TASK = re.compile(r"/job:([a-z]+)(?:/replica:\d+)?/task:(\d+)")


@contextlib.contextmanager
def naming_lost() -> Iterator[None]:
    """Where this process works with others of a cluster, if it is in one.

    TensorFlow's errors name addresses or nobody, and come in many classes.

    Raises:
        ClusterError: If one of them is gone: says which task it is.
    """
    try:
        yield
    except LOST as error:
        resolver = cluster_resolver()
        if resolver is None:
            raise
        job = "chief" if "chief" in resolver.cluster_spec().jobs else "worker"
        me = f"{resolver.task_type}:{resolver.task_id}"
        raise lost_error(error, me, f"{job}:0") from error


def lost_error(error: tf.errors.OpError, me: str, leader: str) -> ClusterError:
    """Returns an error that says which task this process has lost.

    Args:
        error: TensorFlow's.
        me: Which task this process is, e.g. "worker:1".
        leader: Which one hears from all, and tells others whom it has lost.
    """
    # TensorFlow names nobody where it does not hear from the leader any more.
    others = tasks_in(error.message, me) or sorted({leader} - {me})
    if others:
        has = "have" if len(others) > 1 else "has"
        return ClusterError(
            f"{me} has lost {' and '.join(others)}, which {has} ended, {has} been "
            "stopped, or cannot be reached. See in the log why, and start all "
            "processes again."
        )
    said = error.message.partition("\n")[0] or type(error).__name__
    return ClusterError(
        "Another process of the cluster has ended, or cannot be reached. See in its "
        f"log why, and start all of them again. TensorFlow says: {said}"
    )


def tasks_in(text: str, me: str) -> list[str]:
    """Returns the tasks that a message names, but for one.

    >>> tasks_in("/job:worker/replica:0/task:1, /job:worker/task:0", "worker:0")
    ['worker:1']
    """
    found = {f"{job}:{number}" for job, number in _TASK.findall(text)}
    return sorted(found - {me, "localhost:0"})
