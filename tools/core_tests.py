"""Builds and runs the tests of the C++ core, which link nothing of TensorFlow.

Usage: python tools/core_tests.py [--sanitize=none|address|thread] [--coverage]
           [--filter=BackpropCacheTest.*]

Every tests/cc/**/*_test.cc becomes one program under build/cc-tests/<flavor>/.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

import core_coverage
import googletest
from cc_build import ROOT, BuildError, Job, build, compiler, tensorflow_folder

TESTS = pathlib.Path("tests/cc")
PROGRAMS = pathlib.Path("build/cc-tests")
FLAVORS = {
    "none": ("-O1",),
    "address": ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "thread": ("-O1", "-fsanitize=thread"),
    "coverage": ("-O0", "--coverage"),
}
# What asks for too much memory gets none, as without a sanitizer.
RUNTIME = dict.fromkeys(("ASAN_OPTIONS", "TSAN_OPTIONS"), "allocator_may_return_null=1")
# A deadlock must not hang a build machine.
SECONDS_A_PROGRAM = 300
SUMMARY = re.compile(r"^\[=+\] (\d+) tests? from .* ran\.", re.MULTILINE)


def programs(flavor: str) -> list[Job]:
    """Returns how to build each test program: one compiler run, link included."""
    include = tensorflow_folder() / "include"  # For Abseil's annotation macros.
    flags = ("-std=c++17", "-g", "-Wall", "-Wextra", "-Werror", "-I.")
    libraries = ("-lgtest_main", "-lgtest", "-pthread")
    jobs = []
    for path in sorted((ROOT / TESTS).rglob("*_test.cc")):
        source = path.relative_to(ROOT)
        name = path.relative_to(ROOT / TESTS).with_suffix("")
        command = (
            *(compiler(), *flags, "-isystem", str(include), *FLAVORS[flavor]),
            *(str(source), *libraries),
        )
        jobs.append(Job((source,), PROGRAMS / flavor / name, command))
    return jobs


def run_program(program: pathlib.Path, gtest_filter: str) -> tuple[bool, int]:
    """Runs one test program, and prints what failed in it.

    Returns:
        Whether it passed, and how many tests it ran.
    """
    try:
        done = subprocess.run(
            [ROOT / program, "--gtest_brief=1", f"--gtest_filter={gtest_filter}"],
            env={**os.environ, **RUNTIME},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS_A_PROGRAM,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        print((error.stdout or b"").decode(errors="replace").rstrip())
        print(f"{program}: not finished after {SECONDS_A_PROGRAM} s")
        return False, 0
    summary = SUMMARY.search(done.stdout)
    passed = done.returncode == 0 and summary is not None
    if not passed:
        print(done.stdout.rstrip())
        print(f"{program}: exit code {done.returncode}")
    return passed, int(summary[1]) if summary else 0


def run_all(jobs: list[Job], flavor: str, gtest_filter: str) -> bool:
    """Runs the test programs, and prints a summary in GoogleTest's form."""
    start = time.monotonic()
    num_tests, failed = 0, []
    for job in jobs:
        passed, num_here = run_program(job.output, gtest_filter)
        num_tests += num_here
        if not passed:
            failed.append(job.output)
    seconds = time.monotonic() - start
    print(
        f"[==========] {num_tests} tests from {len(jobs)} programs ran, "
        f"sanitizer: {flavor}. ({seconds:.1f} s total)"
    )
    for program in failed:
        print(f"[  FAILED  ] {program}")
    if not num_tests and not failed:
        print(f"[  FAILED  ] no test is named {gtest_filter}")
        return False
    if not failed:
        print(f"[  PASSED  ] {num_tests} tests.")
    return not failed


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
