"""Work in a process of its own, so that no row sees memory that another touched."""

import concurrent.futures
import multiprocessing
from collections.abc import Callable
from typing import Any


def in_fresh_process(work: Callable[..., Any], *args: Any) -> Any:
    """Returns `work(*args)`, run in a new process that ends with it.

    Args:
        work: A function of a module; the process starts by importing that, and so
            TensorFlow.
        *args: What can be pickled.
    """
    # Not forked: a TensorFlow that has run does not survive that.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *args).result()
