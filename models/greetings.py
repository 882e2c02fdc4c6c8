"""Imports TensorFlow without its greetings on the terminal.

TF_CPP_MIN_LOG_LEVEL asks for silence. TensorFlow 2.21 logs some lines before it reads
the variable, and, where there is no GPU, an error when it first looks for one.
"""

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator

LEVEL = "TF_CPP_MIN_LOG_LEVEL"
# Information, the sentence that stands over it, and that there is no GPU.
GREETING = re.compile(r"WARNING: All log messages before|I\d{4} |E\d{4} .* cuInit")


def import_tensorflow() -> None:
    """Imports TensorFlow and lets it look for devices, in silence if that is asked for.

    What is no greeting is printed, after it.
    """
    if "tensorflow" in sys.modules or os.environ.get(LEVEL, "0") == "0":
        return
    with without_greetings():
        import tensorflow as tf

        tf.config.list_physical_devices()


@contextlib.contextmanager
def without_greetings() -> Iterator[None]:
    """Holds what C++, too, writes to standard error; then prints all but greetings."""
    sys.stderr.flush()
    terminal = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            os.close(terminal)
            held.seek(0)
            lines = held.read().decode(errors="replace").splitlines(keepends=True)
            sys.stderr.writelines(x for x in lines if not GREETING.match(x))
            sys.stderr.flush()
