"""Builds the C++ part with Bazel, and tests what Bazel built.

Usage: python tools/bazel_tests.py

Bazel runs the C++ core's tests itself. The fast Python tests run in a copy of the
project that has Bazel's library.
"""

import pathlib
import subprocess
import sys

import debian_bazel
import googletest
import package_copy
from cc_build import ROOT, BuildError

LIBRARY = ROOT / "bazel-bin/_recursive_tf.so"
COPY = ROOT / "build/bazel/copy"
FAST = "not slow and not stress"
# They are about the C++ sources and the tools, which are no part of a copy.
LEFT_OUT = (
    "--ignore=tests/tools",
    "--deselect=tests/docs/test_readme.py::test_files_that_the_design_names_exist",
)
# Prints where the package is, and which libraries of its name are in memory.
QUESTION = f"""
import recursive_tf as rtf
print(rtf.__file__)
maps = [line.split(maxsplit=5) for line in open("/proc/self/maps")]
files = {{fields[5].strip() for fields in maps if len(fields) == 6}}
print(*sorted(file for file in files if file.endswith("{package_copy.LIBRARY}")))
"""


def run_bazel() -> None:
    """Builds everything that BUILD names, and runs the tests in it.

    Raises:
        BuildError: If anything fails; Bazel has said what.
    """
    # Other targets than tests are built as well: the library.
    test = debian_bazel.command("test", "--test_output=errors", "//:all")
    if subprocess.run(test, cwd=ROOT, check=False).returncode:
        raise BuildError("Bazel failed, see above")


def check_copy(copy: pathlib.Path) -> None:
    """Prints where Python imports recursive_tf from, for a test in `copy`.

    Raises:
        BuildError: If the package is another than that of `copy`, e.g. the one that
            is installed, or the library in memory is.
    """
    package = copy / "recursive_tf/__init__.py"
    library = copy / package_copy.OPS / package_copy.LIBRARY
    done = subprocess.run(
        [sys.executable, "-c", QUESTION],
        cwd=copy,
        env=package_copy.environment(copy),
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout.rstrip(), flush=True)
    if done.stdout.splitlines() != [str(package), str(library)]:
        raise BuildError(f"{done.stderr}tests in {copy} would not test {library}")


def run_python_tests(copy: pathlib.Path) -> bool:
    """Runs the fast Python tests in `copy`. Returns whether they passed."""
    pytest = [sys.executable, "-m", "pytest", "--numprocesses=auto", "-m", FAST]
    done = subprocess.run(
        [*pytest, *LEFT_OUT],
        cwd=copy,
        env=package_copy.environment(copy),
        check=False,
    )
    return done.returncode == 0


def main() -> int:
    """Returns the exit code."""
    try:
        googletest.ensure()
        debian_bazel.ensure()
        run_bazel()
        copy = package_copy.assemble(LIBRARY, COPY)
        check_copy(copy)
    except BuildError as error:
        print(f"bazel: {error}", file=sys.stderr)
        return 1
    return 0 if run_python_tests(copy) else 1


if __name__ == "__main__":
    sys.exit(main())
