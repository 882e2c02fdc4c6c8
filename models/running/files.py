"""Files of a run, which are written whole or not at all, and what is wrong with one."""

import contextlib
import errno
import os
import pathlib
import sys
from collections.abc import Iterator

import tensorflow as tf

from recursive_tf.distribute.lost import LOST

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ANOTHER_RUN = "begin another run: choose another --checkpoint_dir"


class RunError(Exception):
    """What a user can mend: one line with the file, what is wrong, and the cure."""


def damaged(path: pathlib.Path, why: object, cure: str = ANOTHER_RUN) -> RunError:
    """Returns what says that a file is not as it was written, and what to do."""
    return RunError(f"{path} is damaged: {why}. Put back a copy of it, or {cure}.")


def note(text: str) -> None:
    """Tells the user what is done about something that is wrong."""
    print(text, file=sys.stderr, flush=True)


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
            cure = "Nothing that was there is lost. Make room, then go on by --resume."
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
