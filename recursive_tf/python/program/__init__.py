"""From traced bodies to a closed program: the procedures that a root op carries."""

from recursive_tf.python.program.close import Capture, Procedure, Program, close

__all__ = ["Capture", "Procedure", "Program", "close"]
