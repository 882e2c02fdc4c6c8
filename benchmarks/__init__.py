"""Figures, each from a command; a test only sees that the commands run."""

import os

# Read by TensorFlow when it is imported, here and in the processes of a row: its
# greetings would break the progress bars.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
