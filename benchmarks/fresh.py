"""Work in a process of its own, so that no row sees memory that another touched."""

import concurrent.futures
import multiprocessing
from collections.abc import Callable
from typing import Any

# Not forked: a TensorFlow that has run does not survive that.
CONTEXT: multiprocessing.context.BaseContext = multiprocessing.get_context("spawn")


def in_fresh_process(work: Callable[..., Any], *args: Any) -> Any:
    """Returns `work(*args)`, run in a new process that ends with it.

    Args:
        work: A function of a module; the process starts by importing that, and so
            TensorFlow.
        *args: What can be pickled.
    """
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=CONTEXT) as pool:
        return pool.submit(work, *args).result()
