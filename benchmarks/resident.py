"""Memory of a process, on Linux with glibc 2.33 or later.

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
from typing import Final

THIS: Final = "self"


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


def resident_bytes(process: int | str = THIS) -> int:
    """Returns the memory of a process, of this one unless told, that is in RAM now."""
    return _status_bytes(process, "VmRSS")


def peak_resident_bytes(process: int | str = THIS) -> int:
    """Returns the most that `resident_bytes` ever was."""
    return _status_bytes(process, "VmHWM")


def in_use_bytes() -> int:
    """Returns the bytes that this process allocated with malloc and did not free."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Mallinfo2
    info = mallinfo2()
    return int(info.uordblks + info.hblkhd)


def _status_bytes(process: int | str, field: str) -> int:
    status = pathlib.Path(f"/proc/{process}/status")
    for row in status.read_text(encoding="ascii").splitlines():
        name, _, value = row.partition(":")
        if name == field:
            return int(value.removesuffix("kB")) * 1024
    raise OSError(f"{status} has no {field}; this is for Linux.")
