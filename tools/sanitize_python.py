"""Runs Python tests on a library that a sanitizer watches.

Usage: python tools/sanitize_python.py thread|address [pytest arguments]

The library is built a second time, under build/sanitize/, and the tests run in a copy
of the project there. The copy that Python uses every day stays as it is. What fails
is a test, or a report that names the library; TensorFlow's own are only counted.
"""

import pathlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

import package_copy
from cc_build import ROOT, BuildError, compiler, compiler_file

WORK = ROOT / "build" / "sanitize"

# What uses threads, and what walks through most of the kernels.
TESTS = (
    *("tests/batching", "tests/blocks", "tests/control_flow", "tests/failures"),
    *("tests/maps", "tests/optimizers"),
    *("tests/memo", "tests/push", "tests/random_numbers", "tests/reports"),
    "tests/stress",
    "tests/gradients/test_gradients.py",
    "tests/gradients/test_gradients_from_outside.py",
    "tests/places/test_root_calls.py",
    "tests/places/test_strange_places.py",
    "tests/subgraphs/test_parallel_calls.py",
    "tests/values/test_arguments.py",
)
# A race needs no depth, and most processes of their own have no sanitizer.
SELECTION = ("-m", "not slow")
# What is slow, but about what runs, and what does not.
WHOLE = (
    "tests/control_flow/test_untaken_branches.py",
    "tests/saving/test_damaged_programs.py",
)


class Sanitizer(NamedTuple):
    """How to build with a sanitizer, and to run with it.

    Attributes:
        flags: For the compiler and the linker, beside `-fsanitize`.
        preload: What has to be in the process before Python: the sanitizer's runtime.
        variable: The environment variable with its options.
        options: The options, beside where reports go.
    """

    flags: tuple[str, ...]
    preload: tuple[str, ...]
    variable: str
    options: str


# TensorFlow was built without sanitizers, and its headers lay out some classes in
# another way with one: they must not notice it. The C++ library's must notice that
# threads are watched.
SANITIZERS = {
    "thread": Sanitizer(
        flags=(
            *("-U__SANITIZE_THREAD__", "-D_GLIBCXX_TSAN=1"),
            *("-finstrument-functions", "-include", "tools/tsan_edges.h"),
            "-Wno-attributes",
        ),
        preload=("libtsan.so",),
        variable="TSAN_OPTIONS",
        options="ignore_noninstrumented_modules=1:history_size=4:exitcode=0"
        ":allocator_may_return_null=1",
    ),
    "address": Sanitizer(
        flags=("-U__SANITIZE_ADDRESS__",),
        preload=("libasan.so", "libstdc++.so"),
        variable="ASAN_OPTIONS",
        # Python leaks, and TensorFlow frees what an inlined function of it made here.
        # What asks for too much memory gets none, as without a sanitizer.
        options="detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1",
    ),
}


def build_copy(name: str) -> pathlib.Path:
    """Builds the library with a sanitizer; returns a copy of the project with it."""
    flags = (f"-fsanitize={name}", "-g1", "-O1", *SANITIZERS[name].flags)
    return package_copy.build_copy(WORK / name, flags)


def runtime_library(name: str) -> str:
    """Returns the path of one of the compiler's libraries, e.g. `libtsan.so`."""
    path = compiler_file(name)
    if path is None:
        raise BuildError(f"the compiler {compiler()} has no {name}")
    return str(path.resolve())


def environment(name: str, copy: pathlib.Path) -> dict[str, str]:
    """Returns the environment in which Python runs with the sanitizer."""
    sanitizer = SANITIZERS[name]
    preload = " ".join(map(runtime_library, sanitizer.preload))
    options = f"{sanitizer.options}:log_path={reports_folder(name) / 'report'}"
    return {
        **package_copy.environment(copy),
        "LD_PRELOAD": preload,
        sanitizer.variable: options,
    }


def python_command() -> list[str]:
    """Returns how to start Python: at fixed addresses, which ThreadSanitizer needs."""
    setarch = shutil.which("setarch")
    return [*([setarch, "-R"] if setarch else []), sys.executable]


def reports_folder(name: str) -> pathlib.Path:
    """Returns the folder in which a sanitizer's processes leave their reports."""
    return WORK / name / "reports"


def check_import(name: str, copy: pathlib.Path) -> None:
    """Raises BuildError if Python would test another recursive_tf than the copy."""
    program = "import recursive_tf; print(recursive_tf.__file__)"
    done = subprocess.run(
        [*python_command(), "-c", program],
        cwd=copy,
        env=environment(name, copy),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    found = done.stdout.strip()
    if done.returncode or found != str(copy / "recursive_tf" / "__init__.py"):
        raise BuildError(f"the copy in {copy} does not run: Python imports {found!r}")
    print(f"testing {found}", flush=True)


def split_reports(text: str) -> list[str]:
    """Returns the reports in what a sanitizer wrote.

    Each begins with a line such as `WARNING: ThreadSanitizer: data race (pid=1)` or
    `==1==ERROR: AddressSanitizer: heap-use-after-free`.
    """
    reports: list[list[str]] = []
    for line in text.splitlines():
        if "WARNING: ThreadSanitizer:" in line or "ERROR: AddressSanitizer:" in line:
            reports.append([])
        if reports:
            reports[-1].append(line)
    return ["\n".join(lines) for lines in reports]


def is_ours(report: str) -> bool:
    """Returns whether the library has a frame in a report's stacks."""
    return f"({package_copy.LIBRARY}+" in report


def show_reports(folder: pathlib.Path) -> int:
    """Prints the reports that are ours; returns how many there are."""
    texts = [path.read_text(errors="replace") for path in sorted(folder.glob("*"))]
    reports = [report for text in texts for report in split_reports(text)]
    ours = [report for report in reports if is_ours(report)]
    for report in ours:
        print(report)
    print(f"sanitizer reports: {len(ours)} ours, {len(reports) - len(ours)} of others")
    return len(ours)


def test(name: str, arguments: list[str]) -> bool:
    """Builds, runs the tests, and returns whether nothing was found.

    Without arguments for pytest these are all that are listed here.
    """
    copy = build_copy(name)
    folder = reports_folder(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    check_import(name, copy)
    runs = [arguments] if arguments else [[*SELECTION, *TESTS], WHOLE]
    codes = [run_tests(name, copy, run) for run in runs]
    return show_reports(folder) == 0 and not any(codes)


def run_tests(name: str, copy: pathlib.Path, arguments: Sequence[str]) -> int:
    """Runs pytest in the copy; returns its exit code."""
    return subprocess.run(
        [*python_command(), "-m", "pytest", "-q", *arguments],
        cwd=copy,
        env=environment(name, copy),
        check=False,
    ).returncode


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    if not arguments or arguments[0] not in SANITIZERS:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        return 0 if test(arguments[0], arguments[1:]) else 1
    except BuildError as error:
        print(f"sanitize_python: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
