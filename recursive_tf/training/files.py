"""Files of a run, which are written whole or not at all, and what is wrong with one."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import pathlib
from collections.abc import Iterator

import tensorflow as tf

from recursive_tf.distribute.lost import LOST

LOG = logging.getLogger("recursive_tf.training")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ANOTHER_RUN = "begin another run in another folder"


class RunError(Exception):
    """What a user can mend: one line with the file, what is wrong, and the cure."""

    @classmethod
    def damaged(
        cls, path: pathlib.Path, why: object, cure: str = ANOTHER_RUN
    ) -> RunError:
        """Returns an error of a file that is not as it was written.

        >>> print(RunError.damaged(pathlib.Path("a"), "it is cut", "write it again"))
        a is damaged: it is cut. Put back a copy of it, or write it again.

        Args:
            path: Of the file.
            why: What is wrong with it.
            cure: What to do where there is no copy.
        """
        return cls(f"{path} is damaged: {why}. Put back a copy of it, or {cure}.")


def reason(error: OSError | tf.errors.OpError) -> str:
    """Returns what an error says of a file, in one line."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    text: str = error.message.partition("\n")[0]
    return text.rstrip(".")


@contextlib.contextmanager
def writing(path: pathlib.Path) -> Iterator[None]:
    """Where a file or folder is written.

    Raises:
        RunError: If it cannot be: the disk is full, or something is in the way.
    """
    try:
        yield
    except LOST:
        raise
    except (OSError, tf.errors.OpError) as error:
        why = reason(error)
        cure = "Choose another place."
        if any(os.strerror(number) in why for number in FULL):
            cure = "Nothing that was there is lost. Make room, then go on."
        raise RunError(f"{path} cannot be written: {why}. {cure}") from None


@contextlib.contextmanager
def replaced(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Gives a path to write to, which replaces a file at once, or not at all.

    A process may end at any moment, and a disk may be full.

    Raises:
        RunError: As `writing`.
    """
    new = path.with_name(f"new.{path.name}")
    try:
        with writing(path):
            yield new
            os.replace(new, path)
    finally:
        with contextlib.suppress(OSError):
            new.unlink()
