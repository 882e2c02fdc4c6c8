"""What a process says when it has lost another one of its cluster."""

import re
import sys
from typing import NoReturn

import tensorflow as tf

from models.running.run_folder import RunFolder

_TASK = re.compile(r"/job:([a-z]+)(?:/replica:\d+)?/task:(\d+)")


def end_without(
    error: tf.errors.OpError, me: str, leader: str, run_folder: RunFolder
) -> NoReturn:
    """Ends this process, and says which one it has lost.

    Args:
        error: TensorFlow's.
        me: Which task this process is, e.g. "worker:1".
        leader: Which one hears from all, and tells others whom it has lost.
        run_folder: Of the run.
    """
    again = " with --resume" if run_folder.settings.exists() else ""
    # TensorFlow names nobody where it does not hear from the leader any more.
    others = tasks_in(error.message, me) or sorted({leader} - {me})
    if others:
        has = "have" if len(others) > 1 else "has"
        sys.exit(
            f"{me} has lost {' and '.join(others)}, which {has} ended, {has} been "
            f"stopped, or cannot be reached. See in the log why, and start all "
            f"processes again{again}."
        )
    sys.exit(
        "Another process of the cluster has ended, or cannot be reached. See in its "
        f"log why, and start all of them again{again}. TensorFlow says: "
        f"{error.message.splitlines()[0]}"
    )


def tasks_in(text: str, me: str) -> list[str]:
    """Returns the tasks that a message names, but for one.

    >>> tasks_in("/job:worker/replica:0/task:1, /job:worker/task:0", "worker:0")
    ['worker:1']
    """
    found = {f"{job}:{number}" for job, number in _TASK.findall(text)}
    return sorted(found - {me, "localhost:0"})
