"""What all tests share: a quiet TensorFlow with two threads on any machine."""

import os

# Read by TensorFlow when it is imported. Two threads, so that what runs at once does,
# and what must not is found out.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_NUM_INTEROP_THREADS", "2")
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "2")
