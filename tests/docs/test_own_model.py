"""docs/own_model.md: its code runs by pip install alone, and prints what it shows."""

import json

import pytest

from tests.helpers import pages
from tests.helpers.wheels import Installed, built_wheel

# Runs the page where there is no checkout.
PROGRAM = """
import importlib.util
import json
import pathlib
import runpy
import sys

assert importlib.util.find_spec("models") is None
pages = runpy.run_path({pages!r})
printed = pages["run_page"]("own_model.md", pathlib.Path.cwd()).printed
found = pathlib.Path(sys.modules["recursive_tf"].__file__)
assert found.is_relative_to(sys.prefix), found
print(json.dumps(printed))
"""


@pytest.mark.large
@pytest.mark.slow
def test_the_page_shows_what_its_code_prints_where_the_wheel_is_installed(tmp_path):
    installed = Installed(built_wheel(tmp_path), tmp_path)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(pages=pages.__file__))
    (tmp_path / "page").mkdir()
    printed = json.loads(installed.run(program, tmp_path / "page").splitlines()[-1])
    assert len(printed) == 3
    for shown, found in printed:
        assert found.endswith(shown)  # After what training prints.
