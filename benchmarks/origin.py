"""Where figures are from: it stands in every JSON, and in a sentence of every page."""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import os
import pathlib
import platform
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any


def origin(module: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Returns what a reader needs to know to measure the same again.

    Args:
        module: What was run, e.g. "benchmarks.calls".
        arguments: Of its command line; `--json`, if it is there, is last.
    """
    # Where the figures went is of no use to who measures them again.
    kept = itertools.takewhile(lambda each: not each.startswith("--json"), arguments)
    return {
        "command": " ".join(["python -m", module, *map(portable, kept)]),
        "revision": revision(),
        "time": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "processors": len(os.sched_getaffinity(0)),
        "tensorflow": importlib.metadata.version("tensorflow"),
        "python": platform.python_version(),
    }


def portable(argument: str) -> str:
    """Returns an argument without folders that another machine has not.

    >>> portable("/data/sst"), portable("--data=/data/sst/"), portable("sst/train.txt")
    ('sst', '--data=sst', 'sst/train.txt')
    """
    option, equals, value = argument.rpartition("=")
    path = pathlib.PurePath(value)
    return f"{option}{equals}{path.name}" if path.is_absolute() else argument


def write(found: Mapping[str, Any], file: pathlib.Path | None) -> None:
    """Writes what was found, its origin included, if there is a file for it."""
    if file:
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def in_words(found: Mapping[str, Any]) -> str:
    """Returns the beginning of a sentence that ends with the figures."""
    return (
        f"`{found['command']}`, revision {found['revision']}, {found['time']}, on "
        f"{found['processors']} cores of a processor {found['processor']}, with "
        f"TensorFlow {found['tensorflow']} and Python {found['python']}:"
    )


def revision() -> str:
    """Returns the commit, with "-dirty" if files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def processor() -> str:
    """Returns the name that the processor gives itself."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
