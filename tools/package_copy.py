"""Puts a library into the package, or beside a copy of it.

The package of the source folder has one library. What tests another one, built by
other tools or with other flags, runs the tests in a copy of the project.
"""

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Sequence

from cc_build import ROOT, BuildError

OPS = pathlib.Path("recursive_tf/ops")
LIBRARY = "_recursive_tf.so"
BUILD_INFO = "_build_info.py"

# What runs, and what says how. Tests read some of the documents.
FOLDERS = (
    *("recursive_tf", "models", "examples", "benchmarks"),
    *("docs", "tests", "tools"),
)
FILES = ("pyproject.toml", "README.md")
PATTERNS = ("*.py", "*.md", "py.typed")
# Of which tests load all: models of earlier versions.
MODELS = "tests/saving/fixtures"


def place_library(library: pathlib.Path, folder: pathlib.Path, version: str) -> None:
    """Puts a library and its build info into `folder`, where the gate looks for them.

    Args:
        library: The built library, of any name.
        folder: The folder `recursive_tf/ops` of a package; made if it is not there.
        version: The TensorFlow that the library was built on, e.g. `2.21.0`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Replaced, not rewritten: a running process may have the old one mapped.
    partial = folder / (LIBRARY + ".partial")
    shutil.copyfile(library, partial)
    partial.replace(folder / LIBRARY)
    (folder / BUILD_INFO).write_text(
        '"""Written by the build: what the library beside it was built on."""\n\n'
        f'TENSORFLOW_VERSION = "{version}"\n'
    )


def build_copy(
    work: pathlib.Path, flags: Sequence[str] = (), python: str = sys.executable
) -> pathlib.Path:
    """Builds a library of its own; returns a copy of the project with it.

    Args:
        work: Where all of it goes, below build/.
        flags: Further flags of the compiler and the linker.
        python: That of an environment with TensorFlow, on which it is built.
    """
    done = subprocess.run(
        [
            *(python, "setup.py", "--quiet", "build_ext"),
            f"--build-temp={(work / 'objects').relative_to(ROOT)}",
            f"--build-lib={(work / 'library').relative_to(ROOT)}",
        ],
        cwd=ROOT,
        env={**os.environ, "CXXFLAGS": " ".join(flags)} if flags else None,
        check=False,
    )
    if done.returncode:
        raise BuildError(f"the library did not build in {work}")
    copy = assemble(work / "library" / OPS / LIBRARY, work / "copy")
    shutil.copyfile(work / "library" / OPS / BUILD_INFO, copy / OPS / BUILD_INFO)
    return copy


def assemble(library: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Makes `folder` a copy of the project whose package has another library.

    Run pytest there, with environment(): the copy then shadows an editable install.
    What an earlier call copied is replaced; whatever else is in `folder` stays.

    Args:
        library: Built against the TensorFlow that is installed.
        folder: E.g. `build/sanitize/thread/copy`; made if it is not there.

    Returns:
        `folder`, absolute.
    """
    folder = folder.resolve()
    for name in FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
        for pattern in PATTERNS:
            for source in (ROOT / name).rglob(pattern):
                copy_file(source, folder / source.relative_to(ROOT))
    for source in (ROOT / MODELS).rglob("*"):
        if source.is_file():
            copy_file(source, folder / source.relative_to(ROOT))
    for name in FILES:
        copy_file(ROOT / name, folder / name)
    version = importlib.metadata.version("tensorflow")
    place_library(library, folder / OPS, version)
    return folder


def copy_file(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copies one file, into a folder that is made if it is not there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def environment(folder: pathlib.Path) -> dict[str, str]:
    """Returns the environment in which Python imports recursive_tf from `folder`.

    What tests start inherits it: a new process has no pytest to set its path.
    """
    return {**os.environ, "PYTHONPATH": str(folder)}
