"""Which code of a library ran that `tools/fuzz_graphs.py` built."""

import ctypes

import numpy as np

# As tools/coverage_marks.h has it.
NUM_MARKS = 1 << 24


class Marks:
    """Says what of the library ran that had not run before."""

    def __init__(self, bytes_of_marks):
        self._now = np.frombuffer(bytes_of_marks, np.uint8)
        self._seen = np.zeros_like(self._now)

    @classmethod
    def of(cls, library):
        """Returns those of a library that is loaded."""
        marks = ctypes.c_ubyte * NUM_MARKS
        return cls(marks.in_dll(library, "recursive_tf_marks"))

    def count(self):
        return int(np.count_nonzero(self._seen))

    def num_new(self):
        """Returns how many places ran for the first time since the last call."""
        before = self.count()
        np.maximum(self._seen, self._now, out=self._seen)
        return self.count() - before
