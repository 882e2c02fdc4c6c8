"""Coverage-guided fuzzing of what reads plans, with Clang's libFuzzer.

Usage: python tools/fuzz_plans.py SECONDS

It changes the plans of tests/saving/fixtures, and keeps what reaches new lines of the
decoders, or of the runs of plans that were read. A plan is refused or can be run: it
fails on a crash, on what a sanitizer finds, on a plan that takes a minute, or two
gigabytes. What fails is left in build/fuzz-plans: the program there, called with such a
file, shows it again.
"""

import pathlib
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable

import debian_packages
from cc_build import ROOT, BuildError, tensorflow_folder
from cc_needs import needed
from library_build import shared_list

FUZZER = pathlib.Path("tests/cc/fuzz/plan_fuzzer.cc")
FIXTURES = ROOT / "tests/saving/fixtures"
FOLDER = pathlib.Path("build/fuzz-plans")
COMPILER = "clang++-14"
PACKAGES = ["clang-14", "libclang-rt-14-dev"]
FLAGS = ("-std=c++17", "-g", "-O1", "-I.", "-fno-sanitize-recover=all")
SANITIZERS = "-fsanitize=fuzzer,address,undefined"
LIMITS = ("-timeout=60", "-rss_limit_mb=2048", "-max_len=4096")
# As plan_fuzzer.cc reads them.
LEAST, NEXT, LONG = -32, 254, 255


def as_bytes(plan: Iterable[int], gradient_plan: Iterable[int]) -> bytes:
    """Returns an input of the fuzzer."""
    found = bytearray()
    for number in plan:
        found += _as_bytes(number)
    found.append(NEXT)
    for number in gradient_plan:
        found += _as_bytes(number)
    return bytes(found)


def _as_bytes(number: int) -> bytes:
    if LEAST <= number < LEAST + NEXT:
        return bytes([number - LEAST])
    return bytes([LONG]) + struct.pack("<q", number)


def plans() -> set[bytes]:
    """Returns the plans of all saved models that are there."""
    from tensorflow.core.protobuf import saved_model_pb2

    found = set()
    for path in FIXTURES.rglob("saved_model.pb"):
        saved = saved_model_pb2.SavedModel.FromString(path.read_bytes())
        for graph in saved.meta_graphs:
            functions = graph.graph_def.library.function
            nodes = [node for function in functions for node in function.node_def]
            for node in (*nodes, *graph.graph_def.node):
                if "plan" in node.attr:
                    names = ("plan", "gradient_plan")
                    found.add(as_bytes(*(node.attr[name].list.i for name in names)))
    return found


def build_fuzzer() -> pathlib.Path:
    """Compiles the fuzzer with what it needs of the core; returns the program."""
    if shutil.which(COMPILER) is None:
        debian_packages.install(
            "Clang with libFuzzer", PACKAGES, f"install {COMPILER} and its runtime."
        )
    core = [pathlib.Path(name) for name in shared_list("CORE_SOURCES")]
    sources = [str(path) for path in (FUZZER, *needed(FUZZER, core))]
    program = FOLDER / "plan_fuzzer"
    (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
    include = str(tensorflow_folder() / "include")
    command = [COMPILER, *FLAGS, SANITIZERS, "-isystem", include, *sources]
    if subprocess.run([*command, "-o", program], cwd=ROOT, check=False).returncode:
        raise BuildError(f"{FUZZER} does not compile")
    return program


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    (seconds,) = map(int, arguments)
    try:
        program = build_fuzzer()
    except BuildError as error:
        print(f"fuzz_plans: {error}", file=sys.stderr)
        return 1
    corpus = ROOT / FOLDER / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, plan in enumerate(sorted(plans())):
        (corpus / f"fixture-{number}").write_bytes(plan)
    command = [str(ROOT / program), f"-max_total_time={seconds}", *LIMITS]
    return subprocess.run(
        [*command, "-verbosity=0", "-print_final_stats=1", "corpus"],
        cwd=ROOT / FOLDER,
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
