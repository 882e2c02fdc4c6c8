"""Installs the distribution's packages, or says how to."""

import os
import shutil
import subprocess
from collections.abc import Sequence

from cc_build import BuildError

UPDATE = ("apt-get", "update", "-q=2")
INSTALL = ("apt-get", "install", "-q=2", "-y")


def install(what: str, packages: Sequence[str], elsewhere: str) -> None:
    """Installs `packages`, which hold something that is missing.

    Args:
        what: The something, as its users call it, e.g. `GoogleTest`.
        packages: E.g. `["libgtest-dev"]`.
        elsewhere: What to do on a system that is no Debian, as an imperative.

    Raises:
        BuildError: If they cannot be installed from here. The message is the
            command to run.
    """
    if shutil.which("apt-get") is None:
        raise BuildError(f"{what} is not installed, and this is no Debian: {elsewhere}")
    names = " ".join(packages)
    if os.geteuid() != 0:
        raise BuildError(
            f"{what} is not installed, and only root can do it. Run once:\n"
            f"    sudo sh -c 'apt-get update && apt-get install -y {names}'"
        )
    print(f"  {what} is not installed: apt-get install {names}", flush=True)
    for command in (UPDATE, (*INSTALL, *packages)):
        run_apt(command)


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
