"""Memory of this process, on Linux with glibc 2.33 or later.

Three measures, each for what it is honest about:

- resident memory now: what a user sees. It does not fall when the allocator keeps what
  was freed, so it shows a leak only over time.
- peak resident memory: what the machine had to have, the allocator's losses included.
  In a process that touches more than ever before, its growth is what that took.
- memory in use: what was allocated and not freed, over all arenas, without what the
  allocator keeps. Exact where something is held while nothing runs.
"""

import ctypes
import pathlib

_STATUS = pathlib.Path("/proc/self/status")


class _Mallinfo2(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    )


def resident_bytes() -> int:
    """Returns the memory of this process that is in RAM now."""
    return _status_bytes("VmRSS")


def peak_resident_bytes() -> int:
    """Returns the most that `resident_bytes` ever was."""
    return _status_bytes("VmHWM")


def in_use_bytes() -> int:
    """Returns the bytes that were allocated with malloc and not freed."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Mallinfo2
    info = mallinfo2()
    return int(info.uordblks + info.hblkhd)


def _status_bytes(field: str) -> int:
    for row in _STATUS.read_text(encoding="ascii").splitlines():
        name, _, value = row.partition(":")
        if name == field:
            return int(value.removesuffix("kB")) * 1024
    raise OSError(f"{_STATUS} has no {field}; this is for Linux.")
