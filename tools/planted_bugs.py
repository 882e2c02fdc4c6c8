"""Shows that tests find bugs in the batching itself: plants eleven, one by one.

Usage: python tools/planted_bugs.py [NAME ...]

Each bug is an edit of one line in a copy of the project, under build/planted/copy,
which is built again. Then the C++ tests of its folder run there, and, whatever they
found, the property tests. A bug that neither finds is a hole in the tests, and ends
this with an error. It takes a quarter of an hour; the working tree stays as it is.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

from cc_build import ROOT

COPY = ROOT / "build" / "planted" / "copy"
CC = pathlib.Path("recursive_tf/cc")
PYTHON = pathlib.Path("recursive_tf/python/batching")
LEFT_OUT = (".git", ".venv", "build", "dist", "__pycache__", ".*_cache")
PROPERTIES = (
    "tests/properties/test_untaken.py",
    "tests/properties/test_random_programs.py",
)
# By the folder of a bug.
CC_TESTS = {CC / "batching": "tools/core_tests.py", CC / "tf": "tools/library_tests.py"}
RANDOM_PROGRAMS = ("--programs=40", "--programs-seed=0", "--programs-as-drawn")


class Bug(NamedTuple):
    """One line that is wrong.

    Attributes:
        name: For the command line.
        file: Where.
        right: Text that is there once.
        wrong: What stands there instead.
    """

    name: str
    file: pathlib.Path
    right: str
    wrong: str


BUGS = (
    Bug(
        "gather-one-row-off",
        CC / "tf/row_values.cc",
        "CopyRows(from, run.first_row, run.num_rows, to, to_row);",
        "CopyRows(from, run.first_row > 0 ? run.first_row - 1 : 0, run.num_rows, to,"
        " to_row);",
    ),
    Bug(
        "joined-rows-without-stride",
        CC / "tf/row_values.cc",
        "CopyToPartOfRow(from, run.first_row + i * run.stride, to,",
        "CopyToPartOfRow(from, run.first_row, to,",
    ),
    Bug(
        "results-to-other-activations",
        CC / "batching/lock_step.cc",
        "{launch.first_value + k, row});\n    }\n    Progress",
        "{launch.first_value + k, launch.num_rows() - 1 - row});\n    }\n    Progress",
    ),
    Bug(
        "returned-value-freed-early",
        CC / "batching/liveness.h",
        "for (const Source& output : procedure.outputs) Read(output, end);",
        "for (const Source& output : procedure.outputs) {\n"
        "      Read(output, end > 0 ? end - 1 : end);\n    }",
    ),
    Bug(
        "argument-freed-early",
        CC / "batching/liveness.h",
        "for (const Source& argument : branch.arguments) Read(argument, k);",
        "for (const Source& argument : branch.arguments) {\n"
        "          Read(argument, k > 0 ? k - 1 : k);\n        }",
    ),
    Bug(
        "adjoint-overwrites",
        CC / "batching/adjoints.h",
        "ops_.Add(from, *adjoint->view, row);",
        "ops_.Copy(from, *adjoint->view, row);",
    ),
    Bug(
        "standing-row-is-replaced",
        CC / "batching/adjoints.h",
        "if (adjoint.places[row] == nullptr) {",
        "if (adjoint.places[row] != from) {",
    ),
    Bug(
        "second-adjoint-replaces-the-first",
        CC / "batching/adjoints.h",
        "return !adjoint.stands() && !adjoint.rows.has_value() &&",
        "return",
    ),
    Bug(
        "unwritten-adjoint-is-not-zero",
        CC / "batching/adjoints.h",
        "if (!adjoint.is_written[row]) {",
        "if (row > 0 && !adjoint.is_written[row]) {",
    ),
    Bug(
        "replay-not-reversed",
        CC / "batching/reverse_replay.h",
        "for (size_t i = tape_.launches.size(); i-- > 0;) {",
        "for (size_t i = 0; i < tape_.launches.size(); ++i) {",
    ),
    Bug(
        "speculates-what-may-fail",
        PYTHON / "plan/stages.py",
        "return (is_free or self._is_total_lookup(op)) and not any(",
        "return not any(",
    ),
)


class Found(NamedTuple):
    """What the tests said of a bug; the name of the first that failed, or None."""

    cc: str | None
    programs: str | None


def make_copy() -> None:
    """Copies the project, and what was compiled of it, with the times of its files."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT, COPY, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for name in ("library", "cc-tests", "library-tests"):
        compiled = ROOT / "build" / name
        if compiled.exists():
            shutil.copytree(compiled, COPY / "build" / name)


def run_in_copy(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in the copy."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=COPY,
        env={**os.environ, "PYTHONPATH": str(COPY), "RTF_WARN_FALLBACK": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def build() -> None:
    """Builds the library of the copy.

    Raises:
        RuntimeError: If a bug does not compile.
    """
    done = run_in_copy("setup.py", "--quiet", "build_ext", "--inplace")
    if done.returncode:
        raise RuntimeError(f"the copy does not build:\n{done.stdout[-4000:]}")


def planted(bug: Bug, text: str) -> str:
    """Returns the text of the bug's file with the bug in it."""
    if text.count(bug.right) != 1:
        raise RuntimeError(f"{bug.name}: {bug.file} has {bug.right!r} not just once")
    return text.replace(bug.right, bug.wrong)


def look_for(bug: Bug) -> Found:
    """Plants a bug, and takes it out again."""
    path = COPY / bug.file
    right = path.read_text()
    path.write_text(planted(bug, right))
    try:
        build()
        tool = CC_TESTS.get(bug.file.parent)
        cc = failed_cc_test(run_in_copy(tool)) if tool else None
        done = run_in_copy("-m", "pytest", *PROPERTIES, "-xq", *RANDOM_PROGRAMS)
        return Found(cc, what_failed(done))
    finally:
        path.write_text(right)


def failed_cc_test(done: subprocess.CompletedProcess[str]) -> str | None:
    """Returns the name of a C++ test that failed, or how its process ended."""
    if not done.returncode:
        return None
    names = re.findall(r"\[  FAILED  \] (\w+\.\w+)", done.stdout)
    return names[0] if names else "the process ended"


def what_failed(done: subprocess.CompletedProcess[str]) -> str | None:
    """Returns what a random program showed, in one line."""
    if not done.returncode:
        return None
    lines = [x for x in done.stdout.splitlines() if x.startswith("E ")]
    return lines[0][1:].strip()[:60] if lines else f"exit code {done.returncode}"


def main(names: list[str]) -> int:
    """Plants the bugs, or those of some names; returns an exit code."""
    unknown = set(names) - {bug.name for bug in BUGS}
    if unknown:
        print(f"There is no bug {', '.join(sorted(unknown))}.\n{__doc__}")
        return 2
    make_copy()
    num_missed = 0
    print(f"{'bug':36} {'C++ tests':62} random programs")
    for bug in BUGS:
        if names and bug.name not in names:
            continue
        found = look_for(bug)
        num_missed += found == Found(None, None)
        print(f"{bug.name:36} {found.cc or '-':62} {found.programs or '-'}")
        sys.stdout.flush()
    print(f"{num_missed} missed")
    return 1 if num_missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
