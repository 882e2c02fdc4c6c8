"""docs/layers.md: its code runs, and prints what stands there."""

import contextlib
import io
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "layers.md"
FENCE = re.compile(r"```(python|text)\n(.*?)```", re.S)

pytestmark = pytest.mark.slow


def test_the_page_shows_what_its_code_prints(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    out = io.StringIO()
    count = 0
    for kind, text in FENCE.findall(PAGE.read_text()):
        if kind == "text":
            assert out.getvalue() == text
            count += 1
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, "layers.py", "exec"), names)
    assert count == 3
