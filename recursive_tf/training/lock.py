"""The lock of a run: no two processes write to one folder."""

import contextlib
import fcntl
import os
import pathlib
import socket
import time
from collections.abc import Iterator
from io import RawIOBase

from recursive_tf.training.files import LOG, RunError, writing

POLL_S = 0.05


@contextlib.contextmanager
def locked(path: pathlib.Path, patience_s: float = 1.0) -> Iterator[None]:
    """Holds a lock file, which is made here and is gone afterwards.

    It is the kernel's lock of an open file (`flock`), so it ends with the process,
    however that ends. What the file says is only for errors.

    Args:
        path: Of the file, in the folder of a run, which is made if it is not there.
        patience_s: How long to wait for another process, which may be about to end.

    Raises:
        RunError: If another process holds it, or the file cannot be made.
    """
    with contextlib.ExitStack() as stack:
        with writing(path.parent):
            file = stack.enter_context(_acquired(path, patience_s))
            file.truncate(0)
        with contextlib.suppress(OSError):  # Of a full disk.
            file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                path.unlink()  # Before the lock: a process that waits looks.


def _acquired(path: pathlib.Path, patience_s: float) -> RawIOBase:
    """Returns the open file, once this process holds its lock."""
    ends = time.monotonic() + patience_s
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not buffered, so that nothing is left to be written when it is closed.
        file = path.open("a+b", buffering=0)
        if _takes(file, path):
            if _is_at(file, path):
                return file
        elif time.monotonic() > ends:
            file.seek(0)
            holder = file.read().decode(errors="replace") or "another process"
            file.close()
            raise RunError(
                f"A run in {path.parent} is still going on, by {holder}. Wait for its "
                "end or stop it, or choose another folder."
            )
        else:
            time.sleep(POLL_S)
        file.close()


def _takes(file: RawIOBase, path: pathlib.Path) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # Some network file systems have no locks.
        LOG.warning(
            "%s is no lock: %s. Start no other run there.", path, error.strerror
        )
    return True


def _is_at(file: RawIOBase, path: pathlib.Path) -> bool:
    """Whether a file is still there, and not one that its holder has removed."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
