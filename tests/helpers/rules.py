"""The rules by which ops are vectorized."""

import contextlib

from recursive_tf.python.batching.vectorize.rules import table


@contextlib.contextmanager
def restored_rules():
    """Forgets at the end the rules that were registered in the body."""
    kept, state = dict(table._RULES), table.state_of_rules()
    try:
        yield
    finally:
        table._RULES.clear()
        table._RULES.update(kept)
        table._change_state_to(state)
