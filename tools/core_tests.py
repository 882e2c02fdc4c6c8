"""Builds and runs the tests of the C++ core, which link nothing of TensorFlow.

Usage: python tools/core_tests.py [--sanitize=none|address|thread] [--coverage]
           [--filter=BackpropCacheTest.*]

Every tests/cc/**/*_test.cc becomes one program under build/cc-tests/<flavor>/, with the
core, which is compiled once. tools/library_tests.py runs those of tests/cc/tf.
"""

import argparse
import pathlib
import sys
from collections.abc import Iterable

import core_coverage
import googletest
from cc_build import ROOT, BuildError, Job, build, compiler, tensorflow_folder
from gtest_programs import run_all
from library_build import flags_of, shared_list

TESTS = pathlib.Path("tests/cc")
WITH_TENSORFLOW = TESTS / "tf"
PROGRAMS = pathlib.Path("build/cc-tests")
FLAVORS = {
    "none": ("-O1",),
    "address": ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "thread": ("-O1", "-fsanitize=thread"),
    "coverage": ("-O0", "--coverage"),
}


def tests() -> list[pathlib.Path]:
    """Returns the files of tests, relative to ROOT."""
    paths = sorted((ROOT / TESTS).rglob("*_test.cc"))
    found = [path.relative_to(ROOT) for path in paths]
    return [path for path in found if not path.is_relative_to(WITH_TENSORFLOW)]


def objects(sources: Iterable[pathlib.Path], flavor: str) -> list[Job]:
    """Returns how to compile sources of the core, or of its tests."""
    include = tensorflow_folder() / "include"  # For Abseil's annotation macros.
    flags = ("-std=c++17", "-g", "-Wall", "-Wextra", "-Werror", "-I.")
    command = (compiler(), *flags, "-isystem", str(include), *FLAVORS[flavor])
    return [
        Job(
            inputs=(source,),
            output=(PROGRAMS / flavor / source).with_suffix(".o"),
            command=(*command, *flags_of(str(source)), "-c", str(source)),
        )
        for source in sources
    ]


def program(test: Job, core: list[Job], flavor: str) -> Job:
    """Returns how to link a test program, of one file of tests and all of the core."""
    parts = (test.output, *(job.output for job in core))
    libraries = ("-lgtest_main", "-lgtest", "-pthread")
    name = test.inputs[0].relative_to(TESTS).with_suffix("")
    command = (compiler(), *FLAVORS[flavor], *map(str, parts), *libraries)
    return Job(parts, PROGRAMS / flavor / name, command)


def build_programs(flavor: str) -> list[Job]:
    """Compiles and links what has changed; returns the jobs of the programs.

    Raises:
        BuildError: If anything does not compile, or there are no tests.
    """
    core = objects(map(pathlib.Path, shared_list("CORE_SOURCES")), flavor)
    compiled = objects(tests(), flavor)
    if not compiled:
        raise BuildError(f"there is no {TESTS}/**/*_test.cc")
    build(core + compiled)
    programs = [program(test, core, flavor) for test in compiled]
    build(programs)
    return programs


def parse(arguments: list[str]) -> argparse.Namespace:
    """Returns the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sanitize", choices=["none", "address", "thread"], default="none"
    )
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--filter", default="*", help="as in --gtest_filter")
    options = parser.parse_args(arguments)
    if options.coverage and options.sanitize != "none":
        parser.error("--coverage and --sanitize are two builds: choose one")
    return options


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    options = parse(arguments)
    flavor = "coverage" if options.coverage else options.sanitize
    try:
        googletest.ensure()
        jobs = build_programs(flavor)
    except BuildError as error:
        print(f"core tests: {error}", file=sys.stderr)
        return 1
    if options.coverage:
        core_coverage.clear(PROGRAMS / flavor)
    passed = run_all(jobs, flavor, options.filter)
    if options.coverage:
        core_coverage.report(PROGRAMS / flavor)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
