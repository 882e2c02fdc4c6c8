"""Fuzzing of saved graphs that follows which code of the library runs.

Usage: python tools/fuzz_graphs.py [arguments of tests/hostile/guided_graphs.py]

E.g. `--seconds=600`. The library is built once more, under build/fuzz-graphs: it marks
what runs, and AddressSanitizer watches it. A graph is refused, fails or runs: it fails
on what ends the process, which is shown again by `--again=` and the last mutant that
was said.
"""

import subprocess
import sys

import package_copy
from cc_build import ROOT, BuildError
from sanitize_python import SANITIZERS, python_command, runtime_library

WORK = ROOT / "build" / "fuzz-graphs"
MARKS = ("-fsanitize-coverage=trace-pc", "-include", "tools/coverage_marks.h")
ADDRESS = SANITIZERS["address"]
FLAGS = ("-fsanitize=address", "-g1", "-O1", *ADDRESS.flags, *MARKS)


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    try:
        copy = package_copy.build_copy(WORK, FLAGS)
        preload = " ".join(map(runtime_library, ADDRESS.preload))
    except BuildError as error:
        print(f"fuzz_graphs: {error}", file=sys.stderr)
        return 1
    return subprocess.run(
        [*python_command(), "-m", "tests.hostile.guided_graphs", *arguments],
        cwd=copy,
        env={
            **package_copy.environment(copy),
            "LD_PRELOAD": preload,
            ADDRESS.variable: ADDRESS.options,
        },
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
