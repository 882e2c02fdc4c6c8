"""The site of the documentation, built once for the tests of a module."""

import importlib.util
import os
import subprocess
import sys

import pytest

from tests.helpers.pages import DOCS

NEEDED = ("mkdocs", "material", "mkdocstrings")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Returns the folder of the built site."""
    if not all(importlib.util.find_spec(name) for name in NEEDED):
        pytest.skip("the site needs pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)],
        cwd=DOCS.parent,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return folder
