"""A process with a lifeline that soon runs no Python any more, as TensorFlow may."""

import ctypes
import socket
import sys

from recursive_tf.distribute import lifeline
from recursive_tf.distribute.heart import Times

if __name__ == "__main__":
    lifeline.TIMES = Times(beat=0.1, silence=2.0, grace=0.2, answer=0.5)
    peer = socket.create_connection(("localhost", int(sys.argv[1])))
    lifeline.Lifeline({"worker:1": peer}, lambda why: None)
    ctypes.PyDLL(None).sleep(100)  # It keeps the interpreter.
