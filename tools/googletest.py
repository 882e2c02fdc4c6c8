"""Finds GoogleTest, or installs the distribution's package, or says how to."""

import os
import pathlib
import shutil
import subprocess

from cc_build import BuildError, compiler

PACKAGE = "libgtest-dev"
LIBRARIES = ("libgtest_main.a", "libgtest.a")
UPDATE = ("apt-get", "update", "-q=2")
INSTALL = ("apt-get", "install", "-q=2", "-y", PACKAGE)


def ensure() -> None:
    """Makes sure that a program can include and link GoogleTest.

    Raises:
        BuildError: If it is absent and cannot be installed from here. The message
            is the command to run.
    """
    if is_installed():
        return
    by_hand = f"apt-get update && apt-get install -y {PACKAGE}"
    if os.geteuid() != 0:
        raise BuildError(
            "GoogleTest is not installed, and only root can do it. Run once:\n"
            f"    sudo sh -c '{by_hand}'"
        )
    if shutil.which("apt-get") is None:
        raise BuildError(
            "GoogleTest is not installed, and this is no Debian: install its headers "
            f"and static libraries ({', '.join(LIBRARIES)}) where {compiler()} "
            "finds them."
        )
    print(f"  GoogleTest is not installed: apt-get install {PACKAGE}", flush=True)
    for command in (UPDATE, INSTALL):
        run_apt(command)
    if not is_installed():
        raise BuildError(f"{PACKAGE} is installed, but {compiler()} does not find it.")


def is_installed() -> bool:
    """Returns whether the compiler finds GoogleTest's header and its libraries."""
    program = "#if !__has_include(<gtest/gtest.h>)\n#error\n#endif\n"
    header = subprocess.run(
        [compiler(), "-E", "-x", "c++", "-"],
        input=program,
        text=True,
        capture_output=True,
        check=False,
    )
    return header.returncode == 0 and all(map(has_library, LIBRARIES))


def has_library(name: str) -> bool:
    """Returns whether the compiler finds the static library `name`."""
    # The answer is a path if it is found, and the bare name if not.
    found = subprocess.run(
        [compiler(), f"-print-file-name={name}"],
        text=True,
        capture_output=True,
        check=True,
    ).stdout.strip()
    return pathlib.Path(found).is_absolute()


def run_apt(command: tuple[str, ...]) -> None:
    """Runs one apt-get command, which may ask nothing."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        check=False,
    )
    if done.returncode:
        raise BuildError(f"{done.stdout.strip()}\n`{' '.join(command)}` failed.")
