"""What docs/distributed.md says of two workers, from the JSON of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks import origin
from benchmarks.scaling import report
from benchmarks.scaling.measuring import from_json


def steps(found: Mapping[str, Any]) -> str:
    """Returns steps of one worker and of two, a line for each number of trees."""
    table = report.steps(from_json(found["measured"]), found["link"])
    return f"{origin.in_words(found)}\n\n{table}"


BLOCKS = {"steps": steps}
