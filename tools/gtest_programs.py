"""Runs programs of GoogleTest, and says what failed in them."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import time

from cc_build import ROOT, Job

# What asks for too much memory gets none, as without a sanitizer.
RUNTIME = dict.fromkeys(("ASAN_OPTIONS", "TSAN_OPTIONS"), "allocator_may_return_null=1")
# A deadlock must not hang a build machine.
SECONDS_A_PROGRAM = 300
SUMMARY = re.compile(r"^\[=+\] (\d+) tests? from .* ran\.", re.MULTILINE)


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
        said = (error.stdout or b"").decode(errors="replace").rstrip()
        print(f"{said}\n{program}: not finished after {SECONDS_A_PROGRAM} s")
        return False, 0
    summary = SUMMARY.search(done.stdout)
    passed = done.returncode == 0 and summary is not None
    if not passed:
        # In one piece: other programs run beside this one.
        print(f"{done.stdout.rstrip()}\n{program}: exit code {done.returncode}")
    return passed, int(summary[1]) if summary else 0


def run_all(jobs: list[Job], flavor: str, gtest_filter: str) -> bool:
    """Runs the test programs, one a processor, and prints a summary as GoogleTest's."""
    start = time.monotonic()
    num_tests, failed = 0, []
    # Most have one thread; none takes long enough to be waited for at the end.
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = pool.map(lambda job: run_program(job.output, gtest_filter), jobs)
        for job, (passed, num_here) in zip(jobs, results, strict=True):
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
