"""Builds and runs the tests of the C++ core, which link nothing of TensorFlow.

Usage: python tools/core_tests.py [--sanitize=none|address|thread [--short]]
           [--coverage] [--debug] [--filter=BackpropCacheTest.*]

Every tests/cc/**/*_test.cc becomes one program under build/cc-tests/<flavor>/, with
what it needs of the core, which is compiled once. tools/library_tests.py runs those
of tests/cc/tf.
"""

import argparse
import dataclasses
import pathlib
import re
import sys
from collections.abc import Iterable

import core_coverage
import googletest
from cc_build import ROOT, BuildError, Job, build, compiler, tensorflow_folder
from cc_needs import needed
from gtest_programs import run_all
from library_build import flags_of, shared_list

TESTS = pathlib.Path("tests/cc")
WITH_TENSORFLOW = TESTS / "tf"
PRECOMPILED = TESTS / "precompiled.h"
PROGRAMS = pathlib.Path("build/cc-tests")
# What `make test` runs with a sanitizer: where threads meet, and where indices that
# come from elsewhere lead into memory. All of it takes ten minutes to compile.
SHORT = {
    "address": r"base/(memory_pool|row_groups|equal_rows)|backprop/backprop_cache|"
    r"batching/(plan_decoder|gradient_plan_decoder|plan_types|rows|activations|map)|"
    r"blocks/panels|"
    r"runtime/(activation_lifetime|local_work|shared_invocations)",
    "thread": r"base/(faults|memory_pool|mutex|sharded_map)|backprop/|blocks/team|"
    r"batching/(recording|report_board)|scheduling/|"
    r"runtime/(activation_lifetime|activation_tree|call_count|first_failure|helped_work|"
    r"local_work|ordinals|row_claims|shared_invocations|tail_predictor|trace_log)",
}
# With lines for the stacks of reports. All that a debugger shows takes a third longer.
LINES = "-g1"
FLAVORS = {
    "none": ("-O1", LINES),
    # What these check takes an optimizer long, and the tests no time to speak of.
    "address": (
        *("-O0", LINES, "-fsanitize=address,undefined"),
        "-fno-sanitize-recover=all",
    ),
    "thread": ("-O1", LINES, "-fsanitize=thread"),
    "coverage": ("-O0", "--coverage"),
    "debug": ("-O0", "-g"),
}


def tests() -> list[pathlib.Path]:
    """Returns the files of tests, relative to ROOT."""
    paths = sorted((ROOT / TESTS).rglob("*_test.cc"))
    found = [path.relative_to(ROOT) for path in paths]
    return [path for path in found if not path.is_relative_to(WITH_TENSORFLOW)]


def short(flavor: str) -> list[pathlib.Path]:
    """Returns those that are worth most with a sanitizer for what they take."""
    return [path for path in tests() if re.search(SHORT[flavor], str(path))]


def compile_command(flavor: str) -> tuple[str, ...]:
    """Returns how the compiler is called for any source of the core or its tests."""
    include = tensorflow_folder() / "include"  # For Abseil's annotation macros.
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-I.")
    return (compiler(), *flags, "-isystem", str(include), *FLAVORS[flavor])


def objects(sources: Iterable[pathlib.Path], flavor: str) -> list[Job]:
    """Returns how to compile sources of the core."""
    command = compile_command(flavor)
    return [
        Job(
            inputs=(source,),
            output=(PROGRAMS / flavor / source).with_suffix(".o"),
            command=(*command, *flags_of(str(source)), "-c", str(source)),
        )
        for source in sources
    ]


def precompiled(flavor: str) -> Job:
    """Returns how to compile what all tests include."""
    output = PROGRAMS / flavor / PRECOMPILED
    command = (*compile_command(flavor), "-x", "c++-header", str(PRECOMPILED))
    return Job((PRECOMPILED,), output.with_name(f"{output.name}.gch"), command)


def objects_of_tests(
    sources: Iterable[pathlib.Path], header: Job, flavor: str
) -> list[Job]:
    """Returns how to compile tests, with a header that has been compiled."""
    include = ("-include", str(header.output.with_suffix("")))
    return [
        dataclasses.replace(
            job, inputs=(*job.inputs, header.output), command=(*job.command, *include)
        )
        for job in objects(sources, flavor)
    ]


def program(test: Job, core: list[Job], flavor: str) -> Job:
    """Returns how to link a file of tests with what it needs of the core."""
    parts = (test.output, *(job.output for job in core))
    libraries = ("-lgtest_main", "-lgtest", "-pthread")
    name = test.inputs[0].relative_to(TESTS).with_suffix("")
    command = (compiler(), *FLAVORS[flavor], *map(str, parts), *libraries)
    return Job(parts, PROGRAMS / flavor / name, command)


def build_programs(flavor: str, chosen: list[pathlib.Path]) -> list[Job]:
    """Compiles and links what has changed; returns the jobs of the programs.

    Raises:
        BuildError: If anything does not compile, or there are no tests.
    """
    if not chosen:
        raise BuildError(f"there is no {TESTS}/**/*_test.cc")
    core = list(map(pathlib.Path, shared_list("CORE_SOURCES")))
    needs = {test: needed(test, core) for test in chosen}
    parts = {
        source: job
        for source, job in zip(core, objects(core, flavor), strict=True)
        if any(source in need for need in needs.values())
    }
    header = precompiled(flavor)
    compiled = objects_of_tests(chosen, header, flavor)
    build([header])
    build([*compiled, *parts.values()])
    programs = [
        program(test, [parts[source] for source in needs[test.inputs[0]]], flavor)
        for test in compiled
    ]
    build(programs)
    return programs


def parse(arguments: list[str]) -> argparse.Namespace:
    """Returns the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sanitize", choices=["none", "address", "thread"], default="none"
    )
    parser.add_argument("--short", action="store_true", help="what `make test` runs")
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--debug", action="store_true", help="for gdb")
    parser.add_argument("--filter", default="*", help="as in --gtest_filter")
    options = parser.parse_args(arguments)
    if options.short and options.sanitize not in SHORT:
        parser.error("--short is of a sanitizer")
    if (options.sanitize != "none") + options.coverage + options.debug > 1:
        parser.error("--sanitize, --coverage and --debug are builds: choose one")
    return options


def flavor_of(options: argparse.Namespace) -> str:
    """Returns how programs are built that do what the command line asks for."""
    if options.coverage or options.debug:
        return "coverage" if options.coverage else "debug"
    return str(options.sanitize)


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    options = parse(arguments)
    flavor = flavor_of(options)
    try:
        googletest.ensure()
        jobs = build_programs(flavor, short(flavor) if options.short else tests())
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
