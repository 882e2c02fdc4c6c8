"""Makes the project's virtual environment, with what is needed to build in it.

Usage: python3 tools/make_venv.py .venv

Any Python 3 may start this: it says which ones will do.
"""

import ast
import importlib.util
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUPPORTED = ((3, 10), (3, 14))  # As requires-python in pyproject.toml; end excluded.


class VenvError(Exception):
    """The environment cannot be made; the message says what to install."""


def check_python(version: tuple[int, ...]) -> None:
    """Raises VenvError if TensorFlow has no wheel for this version of Python."""
    if not SUPPORTED[0] <= version[:2] < SUPPORTED[1]:
        raise VenvError(
            "recursive_tf needs Python 3.10 to 3.13, and this is "
            f"{version[0]}.{version[1]}. Name another: make PYTHON=python3.11 ..."
        )


def creation_commands(
    python: str, venv: pathlib.Path, has_ensurepip: bool, has_pip: bool
) -> list[list[str]]:
    """Returns the commands that make an environment with pip in it.

    Debian keeps ensurepip in a package of its own. Without it, a pip outside can
    install one inside.
    """
    if has_ensurepip:
        return [[python, "-m", "venv", str(venv)]]
    if has_pip:
        inside = str(venv / "bin" / "python")
        return [
            [python, "-m", "venv", "--without-pip", str(venv)],
            [python, "-m", "pip", "--python", inside, "install", "-qq", "pip"],
        ]
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    raise VenvError(
        f"{python} can make no virtual environment: ensurepip is missing. Run once:\n"
        f"    sudo apt-get install {name}-venv"
    )


def build_requirements(pyproject: str) -> list[str]:
    """Returns `requires` of [build-system].

    >>> build_requirements('[build-system]\\nrequires = ["wheel", "setuptools>=77"]')
    ['wheel', 'setuptools>=77']
    """
    # Python 3.10 has no TOML reader; a list of strings is written as in Python.
    found = re.search(r"^requires = (\[.*?\])$", pyproject, re.MULTILINE)
    if found is None:
        raise VenvError("pyproject.toml has no line `requires = [...]`.")
    requirements: list[str] = ast.literal_eval(found[1])
    return requirements


def has_module(name: str) -> bool:
    """Returns whether this Python has the module `name`."""
    return importlib.util.find_spec(name) is not None


def make(venv: pathlib.Path) -> None:
    """Makes `venv` if it is not there, and installs the build requirements."""
    python = venv / "bin" / "python"
    if not python.exists():
        check_python(sys.version_info[:2])
        print(f"  making {venv} with {sys.executable}", flush=True)
        for command in creation_commands(
            sys.executable, venv, has_module("ensurepip"), has_module("pip")
        ):
            subprocess.run(command, check=True)
    requirements = build_requirements((ROOT / "pyproject.toml").read_text())
    print(f"  installing {', '.join(requirements)}", flush=True)
    # Twice quiet: errors only.
    install = [
        str(python),
        "-m",
        "pip",
        "-qq",
        "--disable-pip-version-check",
        "install",
    ]
    subprocess.run([*install, *requirements], check=True)


if __name__ == "__main__":
    try:
        make(pathlib.Path(sys.argv[1]))
    except VenvError as error:
        sys.exit(f"make_venv: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"make_venv: `{' '.join(map(str, error.cmd))}` failed.")
