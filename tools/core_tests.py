"""Builds and runs the tests of the C++ core, which link nothing of TensorFlow.

Usage: python tools/core_tests.py [--sanitize=none|address|thread] [--coverage]
           [--filter=BackpropCacheTest.*]

Every tests/cc/**/*_test.cc becomes one program under build/cc-tests/<flavor>/, those of
tests/cc/tf left out: tools/library_tests.py runs them.
"""

import argparse
import pathlib
import sys

import core_coverage
import googletest
from cc_build import ROOT, BuildError, Job, build, compiler, tensorflow_folder
from gtest_programs import run_all

TESTS = pathlib.Path("tests/cc")
WITH_TENSORFLOW = TESTS / "tf"
PROGRAMS = pathlib.Path("build/cc-tests")
FLAVORS = {
    "none": ("-O1",),
    "address": ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "thread": ("-O1", "-fsanitize=thread"),
    "coverage": ("-O0", "--coverage"),
}


def programs(flavor: str) -> list[Job]:
    """Returns how to build each test program: one compiler run, link included."""
    include = tensorflow_folder() / "include"  # For Abseil's annotation macros.
    flags = ("-std=c++17", "-g", "-Wall", "-Wextra", "-Werror", "-I.")
    libraries = ("-lgtest_main", "-lgtest", "-pthread")
    jobs = []
    for path in sorted((ROOT / TESTS).rglob("*_test.cc")):
        source = path.relative_to(ROOT)
        if source.is_relative_to(WITH_TENSORFLOW):
            continue
        name = source.relative_to(TESTS).with_suffix("")
        command = (
            *(compiler(), *flags, "-isystem", str(include), *FLAVORS[flavor]),
            *(str(source), *libraries),
        )
        jobs.append(Job((source,), PROGRAMS / flavor / name, command))
    return jobs


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
        jobs = programs(flavor)
        if not jobs:
            raise BuildError(f"there is no {TESTS}/**/*_test.cc")
        build(jobs)
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
