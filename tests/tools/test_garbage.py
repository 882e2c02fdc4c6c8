"""The garbage collector of a run of tests passes over what the run has imported."""

import gc
import sys


def test_what_was_imported_is_not_looked_at_again():
    assert gc.isenabled()
    looked_at = {id(found) for found in gc.get_objects()}
    assert id(sys.modules[__name__]) not in looked_at
    assert id(sys.modules["pytest"]) not in looked_at
    later = [sys]
    assert any(found is later for found in gc.get_objects())
