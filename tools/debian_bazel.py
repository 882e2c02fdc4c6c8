"""Debian's Bazel, run so that it fetches nothing from outside.

Bazel fetches sets of rules that its own BUILD files load, even if nothing that is
built needs them. Debian has one of them in a package; for the others there are
stand-ins in tools/bazel_repositories.
"""

import pathlib
import sys

import debian_packages
from cc_build import ROOT, BuildError, num_workers

BAZEL = pathlib.Path("/usr/bin/bazel")
PACKAGES = ("bazel-bootstrap", "bazel-rules-java")
STAND_INS = ROOT / "tools/bazel_repositories"
REPOSITORIES = {
    "rules_java": pathlib.Path("/usr/share/bazel/rules/java"),
    # Debian's own bazel-rules-cc is too new for its Bazel.
    "rules_cc": STAND_INS / "rules_cc",
    "remote_coverage_tools": STAND_INS / "remote_coverage_tools",
}


def ensure() -> None:
    """Makes sure that there is what command() runs.

    Raises:
        BuildError: If it is absent and cannot be installed from here. The message
            is the command to run.
    """
    if not missing():
        return
    debian_packages.install(
        "Bazel",
        PACKAGES,
        "see CONTRIBUTING.md for a Bazel of your own.",
    )
    if missing():
        raise BuildError(
            f"{' and '.join(PACKAGES)} are installed, but there is no "
            f"{' and no '.join(map(str, missing()))}."
        )


def missing() -> list[pathlib.Path]:
    """Returns what of Bazel and its repositories is not on this machine."""
    return [path for path in (BAZEL, *REPOSITORIES.values()) if not path.exists()]


def command(verb: str, *arguments: str) -> list[str]:
    """Returns a Bazel command, e.g. `test` with `//:all`, on the running TensorFlow.

    It is to run in ROOT.
    """
    return [
        str(BAZEL),
        # No server is left behind, with its gigabyte, for a command that is rare.
        "--batch",
        verb,
        *(f"--override_repository={name}={at}" for name, at in REPOSITORIES.items()),
        f"--repo_env=PYTHON_BIN_PATH={sys.executable}",
        # Bazel would count on 0.2 GB for a compiler.
        f"--jobs={num_workers()}",
        # A sandbox is a folder of links to all of TensorFlow's 18,000 headers, for
        # each file anew; and not every container allows one.
        "--spawn_strategy=local",
        "--noshow_loading_progress",
        *arguments,
    ]
