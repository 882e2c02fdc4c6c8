"""The ops in C++: `from recursive_tf.ops import library`.

Importing this package loads the library, once a process.
"""

import pathlib

from recursive_tf.ops import gate

library = gate.load(pathlib.Path(__file__).parent)

__all__ = ["library"]
