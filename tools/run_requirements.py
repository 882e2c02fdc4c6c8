"""What the package needs to run: the minor version of TensorFlow that it is built on.

TensorFlow's C++ ABI changes at every minor version, so a library runs on one of them.
The project builds on several (`requires` of [build-system] in pyproject.toml), and what
is built asks pip for the one that it found.
"""

import importlib.metadata
import pathlib

from make_venv import build_requirements

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Minors of Keras whose private parts are known: recursive_tf/keras_gate.py.
OTHERS = ("keras>=3.12,<3.16", "numpy>=1.26")


def run_requirements() -> list[str]:
    """Returns what pip installs beside the package."""
    return [tensorflow_requirement(tensorflow_minor()), *OTHERS]


def tensorflow_minor() -> tuple[str, str] | None:
    """Returns the first two numbers of TensorFlow's version; none if there is none."""
    try:
        version = importlib.metadata.version("tensorflow")
    except importlib.metadata.PackageNotFoundError:
        return None
    major, minor, *_ = version.split(".")
    return major, minor


def tensorflow_requirement(minor: tuple[str, str] | None) -> str:
    """Returns the TensorFlow to ask for; without one, all that the project builds on.

    >>> tensorflow_requirement(("2", "21"))
    'tensorflow>=2.21,<2.22'
    """
    if minor is not None:
        return f"tensorflow>={minor[0]}.{minor[1]},<{minor[0]}.{int(minor[1]) + 1}"
    asked = build_requirements((ROOT / "pyproject.toml").read_text())
    (tensorflow,) = (each for each in asked if each.startswith("tensorflow"))
    return tensorflow
