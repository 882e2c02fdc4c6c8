"""Makes a wheel of this machine one of every Linux that is as new: a manylinux wheel.

Usage: python tools/repair_wheel.py WHEEL FOLDER

auditwheel looks up which symbols of the C and C++ libraries the wheel's library needs,
and names the wheel after the oldest Linux that has them all. TensorFlow's library is
not put into the wheel: the process has it already, and must not have it twice.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# The process loads it with TensorFlow, before the gate loads ours.
EXCLUDED = "libtensorflow_framework.so.2"
NEEDED = ("auditwheel", "patchelf")


class RepairError(Exception):
    """There is no manylinux wheel; the message says why, and what to install."""


def search_path() -> str:
    """Returns where commands are: first beside this Python, then on the PATH."""
    beside = str(pathlib.Path(sys.executable).parent)
    return os.pathsep.join([beside, os.environ.get("PATH", os.defpath)])


def missing() -> list[str]:
    """Returns the commands that are needed and are not there."""
    return [name for name in NEEDED if shutil.which(name, path=search_path()) is None]


def repair(wheel: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Returns the manylinux wheel that was made of `wheel`, in `folder`.

    Raises:
        RepairError: If a command is missing, or auditwheel refuses the wheel, e.g.
            since its library needs another library that is in no Linux by itself.
    """
    if missing():
        raise RepairError(
            f"{' and '.join(missing())} cannot be found: pip install {' '.join(NEEDED)}"
        )
    found = shutil.which("auditwheel", path=search_path())
    # In a folder of its own: one that was made before may have the same name.
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run(
            [str(found), "repair", "--exclude", EXCLUDED, "--wheel-dir", work, wheel],
            env={**os.environ, "PATH": search_path()},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RepairError(f"auditwheel refuses {wheel.name}.\n{done.stderr}")
        (made,) = pathlib.Path(work).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return pathlib.Path(shutil.copy(made, folder))


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    wheel, folder = map(pathlib.Path, arguments)
    try:
        print(repair(wheel, folder))
    except RepairError as error:
        print(f"wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
