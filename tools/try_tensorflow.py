"""Builds the project on another minor version of TensorFlow, and tests it there.

Usage: python tools/try_tensorflow.py 2.20 [arguments of pytest]

The environment, the library and a copy of the project stand in build/tensorflow-2.20.
What is used every day stays as it is. Without arguments for pytest, all tests run but
those of stress, the slow ones, and those of the checkout itself: its tools, pages and
benchmarks.
"""

import pathlib
import re
import subprocess
import sys

from setuptools.config.pyprojecttoml import load_file

import package_copy
from cc_build import ROOT, BuildError
from run_requirements import OTHERS

TESTS = (
    *("--numprocesses=auto", "--dist=worksteal", "-m", "not slow and not stress"),
    *(f"--ignore=tests/{folder}" for folder in ("tools", "docs", "benchmarks")),
)


def requirements(version: str) -> list[str]:
    """Returns what an environment with a minor version of TensorFlow has.

    >>> requirements("2.20")[:2]
    ['tensorflow==2.20.*', 'keras>=3.12,<3.16']
    """
    extras = load_file(ROOT / "pyproject.toml")["project"]["optional-dependencies"]
    tools = [each for name in ("data", "models", "dev") for each in extras[name]]
    others = [each for each in tools if not each.startswith("recursive_tf")]
    return [f"tensorflow=={version}.*", *OTHERS, "setuptools>=77", "wheel", *others]


def environment(version: str, folder: pathlib.Path) -> str:
    """Makes an environment if there is none; returns its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    # Twice quiet: errors only.
    install = (python, "-m", "pip", "-qq", "--disable-pip-version-check", "install")
    subprocess.run([*install, *requirements(version)], check=True)
    return str(python)


def main(version: str, arguments: list[str]) -> int:
    """Returns the exit status of pytest."""
    if re.fullmatch(r"\d+\.\d+", version) is None:
        raise BuildError(f"{version!r} is no minor version, such as 2.20")
    work = ROOT / "build" / f"tensorflow-{version}"
    python = environment(version, work / "venv")
    copy = package_copy.build_copy(work, python=python)
    # Some ask for the version of what is installed; here it is found beside the copy.
    metadata = (python, "setup.py", "-q", "egg_info", "--egg-base", copy)
    subprocess.run(metadata, cwd=ROOT, check=True)
    return subprocess.run(
        [python, "-m", "pytest", *(arguments or TESTS)],
        cwd=copy,
        env=package_copy.environment(copy),
        check=False,
    ).returncode


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(f"usage: {sys.argv[0]} VERSION [arguments of pytest]")
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except (BuildError, subprocess.CalledProcessError) as error:
        sys.exit(f"try_tensorflow: {error}")
