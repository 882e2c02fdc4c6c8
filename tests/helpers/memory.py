"""The memory that the process has."""

import ctypes
import gc
import os
import pathlib
import re

MEGABYTE = 2**20
# A sanitizer does not give back what is freed: it watches that.
IS_WATCHED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ


def resident_memory():
    """Returns the bytes that the process has in memory, without what is free."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return _bytes_of("VmRSS")


class Peak:
    """The most that was resident since this was made, above what was then."""

    def __init__(self):
        self._before = resident_memory()
        pathlib.Path("/proc/self/clear_refs").write_text("5")

    def get(self):
        """Returns it in bytes."""
        return _bytes_of("VmHWM") - self._before


def _bytes_of(name):
    status = pathlib.Path("/proc/self/status").read_text()
    (kilobytes,) = re.findall(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(kilobytes) * 1024
