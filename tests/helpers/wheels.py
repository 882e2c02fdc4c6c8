"""A wheel of the project, and environments that have it and nothing of a checkout."""

import fcntl
import os
import pathlib
import subprocess
import sys

import tensorflow as tf

ROOT = pathlib.Path(__file__).parents[2]


def run(*command, **options):
    """Returns what a command prints; fails with what it says if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def built_wheel(folder):
    """Returns a wheel that is built into a folder, for this machine."""
    command = "setup.py -q build --build-base {0}/build bdist_wheel --dist-dir {0}"
    command += " --bdist-dir {0}/wheel egg_info --egg-base {0}"
    # What the compiler writes is in the checkout, and two at once would both write it.
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build/wheels.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(sys.executable, *command.format(folder).split(), cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


class Installed:
    """An environment that has a wheel.

    Args:
        wheel: Of the project.
        folder: Where the environment is made.
    """

    def __init__(self, wheel, folder):
        run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
        self._python = folder / "venv/bin/python"
        # TensorFlow and what it needs, without what is installed editable beside them.
        (packages,) = (folder / "venv/lib").glob("python*/site-packages")
        installed = pathlib.Path(tf.__file__).parents[1]
        (packages / "tensorflow.pth").write_text(f"{installed}\n")
        options = ("--no-deps", "--no-index", "--ignore-installed", "--quiet")
        pip = (sys.executable, "-m", "pip", "--python", self._python, "install")
        run(*pip, *options, wheel)

    def run(self, program, folder):
        """Returns what a file of Python prints, which finds no compiler."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        clean["PATH"] = str(self._python.parent)
        return run(self._python, program, cwd=folder, env=clean)
