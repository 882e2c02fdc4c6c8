"""Folders that are written whole or not at all."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

_HERE, _EXCHANGE = -100, 2  # Of Linux's renameat2.


@contextlib.contextmanager
def whole_folder(path: str | pathlib.Path) -> Iterator[str]:
    """Yields a folder to write to, which takes the place of `path` at the end.

    Until then `path` is what it was, also if the process is killed meanwhile; what is
    left then is a folder beside it, whose name begins with a dot. A path that is not
    one of this machine, e.g. of a bucket, is written to as it is.
    """
    if "://" in str(path):
        yield str(path)
        return
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = pathlib.Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        new = beside / "new"
        yield str(new)
        if path.exists():
            _exchange(new, path)
        else:
            new.rename(path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _exchange(one: pathlib.Path, other: pathlib.Path) -> None:
    """Has two folders change places, at once where the file system can."""
    libc = ctypes.CDLL(None, use_errno=True)
    rename = getattr(libc, "renameat2", None)
    paths = os.fsencode(one), os.fsencode(other)
    if rename is not None and not rename(_HERE, paths[0], _HERE, paths[1], _EXCHANGE):
        return
    old = one.with_name("old")
    other.rename(old)
    one.rename(other)
