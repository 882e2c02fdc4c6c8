"""The long forms of the tests of reliability: `make soak`, six hours in all.

Usage: python tools/soak.py [--list] [--parts NAME ...] [--share 0.01] [--log FOLDER]

Each part is a few commands. What they print goes to a log; the lines that begin with
"figure: " come into the table at the end, which is what docs/reliability.md shows. It
fails if a part does.
"""

import argparse
import dataclasses
import math
import os
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import TextIO

# The second is libFuzzer's.
FIGURE = re.compile(r"^(?:figure: |stat::(?=number_of_exec))(.*)", re.MULTILINE)
ROOT = pathlib.Path(__file__).resolve().parents[1]
# A part that takes so many times as long as it should hangs.
PATIENCE = 4
PYTEST = ("-m", "pytest", "-q", "-s", "-o", "faulthandler_timeout=21600")


@dataclasses.dataclass(frozen=True)
class Part:
    """What can be chosen by its name.

    Attributes:
        what: It does, in a few words.
        minutes: That it takes, on two cores, about.
        commands: Arguments of Python. `{1000}` is a count, which `--share` makes less.
        environment: Variables that they are given, with such counts.
    """

    what: str
    minutes: int
    commands: tuple[tuple[str, ...], ...]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)


def _tests(*arguments: str) -> tuple[str, ...]:
    return (*PYTEST, *arguments)


PARTS = {
    "faults": Part(
        "a fault at every point of six programs",
        1,
        (_tests("tests/failures/test_faults.py"),),
    ),
    "schedules": Part(
        "simulated schedules of all that runs in several threads, each from a seed",
        4,
        (("tools/core_tests.py", "--filter=Simulated*"),),
        {"RECURSIVE_TF_SCHEDULES": "{100000}"},
    ),
    "steps": Part(
        "steps in 32 threads in both executors, and memory that stays flat",
        35,
        (
            _tests("tests/stress/test_mixed_steps.py", "--steps={20000}"),
            # Which takes a quarter of them in each executor.
            _tests("tests/stress/test_memory.py", "--steps={400000}"),
        ),
    ),
    "cancellation": Part(
        "steps cancelled, and iterators dropped, at random moments",
        35,
        (_tests("tests/failures/test_random_cancellation.py", "--times={10000}"),),
    ),
    "interrupts": Part(
        "Ctrl-C in a script, at random moments",
        8,
        (_tests("tests/processes", "-k", "interrupts", "--times={3000}"),),
    ),
    "processes": Part(
        "forks, exits, signals, imports, a second copy of the library",
        1,
        (_tests("tests/processes", "-k", "not interrupts"),),
    ),
    "ops": Part(
        "ops called with any tensors",
        30,
        (_tests("tests/hostile/test_ops_called_directly.py", "--times={60000}"),),
    ),
    "graphs": Part(
        "saved graphs with other ops, inputs, functions and versions",
        13,
        (_tests("tests/hostile/test_damaged_graphs.py", "--times={30000}"),),
    ),
    "guided": Part(
        "saved graphs with any of these changes, kept by the code that they reach",
        23,
        (("tools/fuzz_graphs.py", "--seconds={1000}"),),
    ),
    "attributes": Part(
        "saved programs with other attributes",
        20,
        (_tests("tests/saving/test_damaged_programs.py", "--damaged={11000}"),),
    ),
    "readers": Part(
        "coverage-guided fuzzing of the readers of trees",
        31,
        (("-m", "tests.hostile.fuzz_readers", "{1800}"),),
    ),
    "plans": Part(
        "coverage-guided fuzzing of what reads and runs plans",
        6,
        (("tools/fuzz_plans.py", "{330}"),),
    ),
    "sizes": Part(
        "trees of 10^6 nodes, chains of 10^6 calls, batches of 10^5 trees",
        25,
        (_tests("tests/sizes", "--large"),),
    ),
    "programs": Part(
        "random programs against the oracle: values and gradients, both orders",
        80,
        (_tests("tests/properties", "--programs={400}"),),
    ),
    "clusters": Part(
        "clusters with faults, cut networks, and two nodes of a real Slurm",
        10,
        (
            _tests("tests/clusters", "--large"),
            _tests(
                "tests/models/test_resume.py",
                "tests/models/test_strategies.py",
                "--large",
            ),
        ),
    ),
    "large": Part(
        "tests that take long, and of which shorter ones find most",
        20,
        (
            _tests(
                "tests",
                *("-m", "large", "--large"),
                # Of the part `clusters`.
                "--ignore=tests/clusters",
                "--ignore=tests/models/test_resume.py",
                "--ignore=tests/models/test_strategies.py",
            ),
        ),
    ),
    "saving": Part(
        "exports that are killed",
        8,
        (_tests("tests/saving/test_whole_or_not_at_all.py", "--times={50}"),),
    ),
}


def scaled(argument: str, share: float) -> str:
    """Returns an argument with its count, if it has one.

    >>> scaled("--times={1000}", 0.5), scaled("-q", 0.5)
    ('--times=500', '-q')
    """
    return re.sub(
        r"\{(\d+)\}", lambda m: str(max(1, math.ceil(int(m[1]) * share))), argument
    )


@dataclasses.dataclass
class Outcome:
    """What came of a part."""

    name: str
    failed: bool
    minutes: float
    figures: list[str]


def run(name: str, share: float, log: pathlib.Path) -> Outcome:
    """Runs a part, and writes what it prints to a file in `log`."""
    part, start = PARTS[name], time.monotonic()
    failed, path = False, log / f"{name}.log"
    with path.open("w") as file:
        for command in part.commands:
            arguments = [scaled(argument, share) for argument in command]
            file.write(f"$ python {' '.join(arguments)}\n")
            file.flush()
            failed |= _fails(arguments, file, part, share)
    figures = FIGURE.findall(path.read_text(errors="replace"))
    return Outcome(name, failed, (time.monotonic() - start) / 60, figures)


def _fails(arguments: list[str], file: TextIO, part: Part, share: float) -> bool:
    own = {name: scaled(text, share) for name, text in part.environment.items()}
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=os.environ | own,
            stdout=file,
            stderr=subprocess.STDOUT,
            timeout=60 * part.minutes * PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return bool(done.returncode)


def table(outcomes: list[Outcome]) -> str:
    """Returns the summary, as a table of Markdown."""
    lines = ["| part | | minutes | figures |", "|---|---|---|---|"]
    for each in outcomes:
        result = "FAILED" if each.failed else "passed"
        figures = "; ".join(each.figures)
        lines.append(f"| {each.name} | {result} | {each.minutes:.1f} | {figures} |")
    return "\n".join(lines)


def main() -> int:
    """Runs the parts that were asked for, and says what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="only says what there is")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--share", type=float, default=1.0, help="of each count")
    parser.add_argument("--log", type=pathlib.Path, default=ROOT / "build" / "soak")
    chosen = parser.parse_args()
    if chosen.list:
        for name, part in PARTS.items():
            print(f"{name:14} {part.minutes:4} min  {part.what}")
        return 0
    chosen.log.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for number, name in enumerate(chosen.parts, start=1):
        progress = f"[{number}/{len(chosen.parts)}] {name}: {PARTS[name].what}"
        print(progress, flush=True)
        outcomes.append(run(name, chosen.share, chosen.log))
        last = outcomes[-1]
        result = f"FAILED: {chosen.log / name}.log" if last.failed else "passed"
        print(f"    {result}, {last.minutes:.1f} min", flush=True)
    print(table(outcomes))
    return int(any(each.failed for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
