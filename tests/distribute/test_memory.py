"""Memory that was freed is used again, as exchanges need it."""

import os
import platform
import subprocess
import sys

import pytest

from recursive_tf.distribute import memory

LARGE, MANY, TIMES = 2 << 20, 8, 20
# It takes the file alone: TensorFlow would be loaded with the package.
PROGRAM = f"""
import ctypes, resource, runpy, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range({TIMES}):
        taken = [libc.malloc({LARGE}) for _ in range({MANY})]
        for place in taken:
            libc.memset(place, 1, {LARGE})
        for place in taken:
            libc.free(place)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

runpy.run_path(sys.argv[1])["keep_freed_memory"]()
faults()
print(faults())
"""

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="not glibc's malloc"
)


def faults(**environment):
    """Returns how many pages the kernel had to give, in a process of its own."""
    own = {
        k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC"))
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, memory.__file__],
        env=own | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout.split()[-1])


def test_pages_are_used_again_unless_the_environment_says_otherwise():
    pages = MANY * TIMES * LARGE // os.sysconf("SC_PAGE_SIZE")
    assert faults() < pages / 20
    assert faults(MALLOC_TRIM_THRESHOLD_="131072") > pages / 2
