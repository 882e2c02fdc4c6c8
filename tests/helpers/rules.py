"""The rules by which ops are vectorized."""

import contextlib

from recursive_tf.python.batching.vectorize.rules import table


@contextlib.contextmanager
def restored_rules():
    """Forgets at the end the rules that were registered in the body."""
    kept = dict(table._RULES)
    try:
        yield
    finally:
        table._RULES.clear()
        table._RULES.update(kept)
