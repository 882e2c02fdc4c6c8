"""Runs compilers in parallel, and only those whose inputs or flags have changed.

What builds of the library and of C++ tests share. Nothing here imports TensorFlow,
which would take seconds: a build that has nothing to do should take none.
"""

import concurrent.futures
import dataclasses
import functools
import importlib.util
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# One unit of files that include TensorFlow's headers takes 1.4 GB to compile.
BYTES_A_WORKER = 3 * 2**29
# GCC looks for what it no longer needs whenever its memory has grown by some share. It
# finds little, and takes a seventh of its time. So it starts to look at 1 GB (in kB).
COLLECT_LATE = ("--param", "ggc-min-heapsize=1000000")


class BuildError(Exception):
    """The compiler is missing, or refused a file; its output has been printed."""


@dataclasses.dataclass(frozen=True)
class Job:
    """One run of the compiler, from `inputs` to `output`.

    Paths are relative to ROOT, where the compiler runs. `command` names neither
    its output nor its depfile: run() adds both. The headers it reads need no
    mention: the depfile of its last run lists them, system headers left out.
    """

    inputs: tuple[pathlib.Path, ...]
    output: pathlib.Path
    command: tuple[str, ...]
    # Written next to the output; any change of it reruns the job. For what a
    # command does not show, e.g. the version of the headers under `-isystem`.
    stamp: str = ""

    @property
    def depfile(self) -> pathlib.Path:
        """Where the compiler lists the headers that it read."""
        return self.output.with_name(self.output.name + ".d")

    @property
    def record(self) -> pathlib.Path:
        """Holds the last command; as old as the start of its run."""
        return self.output.with_name(self.output.name + ".cmd")

    def recorded_text(self) -> str:
        """Returns what `record` holds after an up-to-date run."""
        return f"{shlex.join(self.command)}\n{self.stamp}\n"


def compiler() -> str:
    """Returns the C++ compiler: $CXX, or g++."""
    name = os.environ.get("CXX", "g++")
    if shutil.which(name) is None:
        raise BuildError(
            f"There is no C++ compiler: {name} is not on the PATH. On Debian: "
            "apt-get install g++"
        )
    return name


@functools.cache
def flags_of_time(name: str) -> tuple[str, ...]:
    """Returns flags that change nothing but how long this compiler takes."""
    said = subprocess.run(
        [name, "--version"], text=True, capture_output=True, check=False
    )
    # Clang would warn that it does not use them.
    return COLLECT_LATE if "Free Software Foundation" in said.stdout else ()


def from_cache(command: tuple[str, ...]) -> tuple[str, ...]:
    """Returns what runs a command: ccache if it is there, and the command compiles.

    Its own `CCACHE_DISABLE=1` turns it off.
    """
    found = shutil.which("ccache") if "-c" in command else None
    return (found, *command) if found else command


def compiler_file(name: str) -> pathlib.Path | None:
    """Returns where the compiler has a library, e.g. `libtsan.so`; None without it."""
    found = subprocess.run(
        [compiler(), f"-print-file-name={name}"],
        text=True,
        capture_output=True,
        check=True,
    ).stdout.strip()
    # The answer is a path if it is found, and the bare name if not.
    path = pathlib.Path(found)
    return path if path.is_absolute() else None


def tensorflow_folder() -> pathlib.Path:
    """Returns the folder of the installed TensorFlow, without importing it."""
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or not spec.submodule_search_locations:
        raise BuildError(
            f"TensorFlow is not installed for {sys.executable}, and its headers are "
            'needed: pip install "tensorflow>=2.20,<2.22"'
        )
    return pathlib.Path(spec.submodule_search_locations[0])


def num_workers() -> int:
    """Returns how many compilers fit on the processors and into the memory."""
    processors = len(os.sched_getaffinity(0))
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            available = int(line.split()[1]) * 1024
            return max(1, min(processors, available // BYTES_A_WORKER))
    return processors


def is_stale(job: Job) -> bool:
    """Returns whether `job` has to run: its output is missing, older, or other."""
    output, record = ROOT / job.output, ROOT / job.record
    if not output.exists() or not record.exists():
        return True
    if record.read_text() != job.recorded_text():
        return True
    started = record.stat().st_mtime_ns
    paths = [ROOT / path for path in (*job.inputs, *read_depfile(ROOT / job.depfile))]
    return any(not path.exists() or path.stat().st_mtime_ns > started for path in paths)


def read_depfile(path: pathlib.Path) -> list[pathlib.Path]:
    """Returns the prerequisites in a compiler's depfile, or [] if it has none."""
    if not path.exists():
        return []
    _, _, prerequisites = path.read_text().replace("\\\n", " ").partition(":")
    return [pathlib.Path(name) for name in shlex.split(prerequisites)]


def run(job: Job) -> None:
    """Runs one job. Its output is replaced whole, or not at all.

    Raises:
        BuildError: If the compiler fails; the message is the compiler's.
    """
    output = ROOT / job.output
    output.parent.mkdir(parents=True, exist_ok=True)
    # The record comes first: an input that is edited from now on is newer.
    (ROOT / job.record).unlink(missing_ok=True)
    started = output.with_name(output.name + ".started")
    started.write_text(job.recorded_text())
    partial = output.with_name(output.name + ".partial")
    done = subprocess.run(
        [
            *(*from_cache(job.command), *flags_of_time(job.command[0])),
            *("-o", partial, "-MMD", "-MF", job.depfile),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        started.unlink()
        raise BuildError(done.stderr.strip() or f"exit code {done.returncode}")
    if done.stderr:
        print(done.stderr.rstrip(), file=sys.stderr)
    partial.replace(output)
    started.replace(ROOT / job.record)


def build(jobs: list[Job]) -> int:
    """Runs the stale ones of `jobs`, in no order. Returns how many ran.

    Raises:
        BuildError: If any failed, after all have been tried and reported.
    """
    stale = [job for job in jobs if is_stale(job)]
    num_failed = 0
    with concurrent.futures.ThreadPoolExecutor(num_workers()) as pool:
        running = {pool.submit(run, job): job for job in stale}
        completed = concurrent.futures.as_completed(running)
        for number, future in enumerate(completed, start=1):
            print(f"  [{number}/{len(stale)}] {running[future].output}", flush=True)
            error = future.exception()
            if error is not None:
                num_failed += 1
                print(error, file=sys.stderr, flush=True)
    if num_failed:
        raise BuildError(f"{num_failed} of {len(stale)} did not compile")
    return len(stale)
