"""How many of the random programs of a run were batched: told, and not too few.

`executor="auto"` falls back silently. If most programs did, their comparison with the
oracle would hardly test the batched executor. Each part of a run notes what its
programs ran in, and the process that collects the reports counts, of all processes.
"""

import json

import pytest

NOTE = "random programs"
LEAST_BATCHED = 0.6
# Chance takes no more off of more programs than this: four in five are drawn so that
# they can be batched, and all of these have to be.
FEWEST_TO_TELL = 40

_programs = pytest.StashKey[dict[str, bool]]()


def note(record_property, programs):
    """Tells the process that counts: whether each program was batched, by its text."""
    record_property(NOTE, json.dumps(programs))


def collect(config, report):
    """Takes what a part has noted. Programs that were drawn twice count once."""
    found = config.stash.setdefault(_programs, {})
    if report.when == "call":
        for name, value in report.user_properties:
            if name == NOTE:
                found.update(json.loads(value))


def summary(config):
    """Returns a line about the run, or None, and whether too few were batched."""
    programs = config.stash.get(_programs, {})
    if not programs:
        return None, False
    share = sum(programs.values()) / len(programs)
    line = f"{share:.0%} of {len(programs)} random programs were batched"
    is_low = len(programs) >= FEWEST_TO_TELL and share < LEAST_BATCHED
    if is_low:
        line += f": fewer than {LEAST_BATCHED:.0%}, so the run fails"
    return line, is_low
