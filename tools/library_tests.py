"""Runs the tests of recursive_tf/cc/tf, which link TensorFlow's libraries.

Usage: python tools/library_tests.py [--filter=RowValuesTest.*]

All of tests/cc/tf/*_test.cc becomes one program, build/library-tests/library_tests,
with the object files of the library: what is tested is what the library is linked from.
"""

import argparse
import pathlib
import sys

import googletest
from cc_build import ROOT, BuildError, Job, build, compiler
from gtest_programs import run_all
from library_build import (
    OBJECTS,
    TensorFlow,
    ask_tensorflow,
    further_flags,
    library_sources,
    object_jobs,
)

TESTS = pathlib.Path("tests/cc/tf")
FOLDER = pathlib.Path("build/library-tests")
PROGRAM = FOLDER / "library_tests"
# What the tests do not link of the library: ops and kernels, which know of the rest.
LEFT_OUT = ("recursive_tf/cc/kernels/", "recursive_tf/ops/")
# What a process that imports TensorFlow has in memory, beside the framework.
KERNELS = "libtensorflow_cc.so.2"


def build_program() -> Job:
    """Compiles and links what has changed; returns the job of the program.

    Raises:
        BuildError: If anything does not compile, or there are no tests.
    """
    tests = sorted((ROOT / TESTS).glob("*_test.cc"))
    if not tests:
        raise BuildError(f"there is no {TESTS}/*_test.cc")
    tensorflow = ask_tensorflow()
    sources = [str(path.relative_to(ROOT)) for path in tests]
    jobs = object_jobs(tested_sources(), OBJECTS, tensorflow)
    jobs += object_jobs(sources, FOLDER, tensorflow)
    build(jobs)
    program = link([job.output for job in jobs], tensorflow)
    build([program])
    return program


def tested_sources() -> list[str]:
    """Returns the sources of the library that the program is linked from."""
    return [x for x in library_sources() if not x.startswith(LEFT_OUT)]


def link(objects: list[pathlib.Path], tensorflow: TensorFlow) -> Job:
    """Returns how to link the program."""
    command = (
        *(compiler(), *further_flags(), *map(str, objects)),
        *("-lgtest_main", "-lgtest", "-pthread", *tensorflow.link_flags),
        *(f"-l:{KERNELS}", f"-Wl,-rpath,{tensorflow.folder}"),
    )
    return Job(tuple(objects), PROGRAM, command, tensorflow.version)


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="*", help="as in --gtest_filter")
    options = parser.parse_args(arguments)
    try:
        googletest.ensure()
        program = build_program()
    except BuildError as error:
        print(f"library tests: {error}", file=sys.stderr)
        return 1
    return 0 if run_all([program], "none", options.filter) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
