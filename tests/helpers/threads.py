"""Work in many threads."""

import concurrent.futures


def run_in_threads(work, count):
    """Returns `work(i)` of each of `count` threads; raises what one of them raises."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))
