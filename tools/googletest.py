"""Finds GoogleTest, or installs the distribution's package, or says how to."""

import subprocess

import debian_packages
from cc_build import BuildError, compiler, compiler_file

PACKAGE = "libgtest-dev"
LIBRARIES = ("libgtest_main.a", "libgtest.a")


def ensure() -> None:
    """Makes sure that a program can include and link GoogleTest.

    Raises:
        BuildError: If it is absent and cannot be installed from here. The message
            is the command to run.
    """
    if is_installed():
        return
    debian_packages.install(
        "GoogleTest",
        [PACKAGE],
        f"install its headers and static libraries ({', '.join(LIBRARIES)}) where "
        f"{compiler()} finds them.",
    )
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
    return header.returncode == 0 and all(map(compiler_file, LIBRARIES))
