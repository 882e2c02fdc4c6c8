"""docs/batching.md: its code runs, and prints what stands there."""

import contextlib
import io
import pathlib
import re

import pytest

from tests.helpers.rules import restored_rules

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "batching.md"
FENCE = re.compile(r"```(python|text)\n(.*?)```", re.S)


def printed_by_the_page():
    """Returns pairs of what the page says is printed, and what is."""
    names: dict[str, object] = {}
    out = io.StringIO()
    pairs = []
    for kind, text in FENCE.findall(PAGE.read_text()):
        if kind == "text":
            pairs.append((text, out.getvalue()))
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, "trees.py", "exec"), names)
    return pairs


def without_figures(text):
    """Returns a text without what differs from run to run."""
    return re.sub(r"\d+\.\d\d|\d+\.\d kB", "#", text)


def test_the_page_shows_what_its_code_prints(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with restored_rules():
        pairs = printed_by_the_page()
    assert len(pairs) == 2
    for shown, printed in pairs:
        assert without_figures(shown) == without_figures(printed)
    assert (tmp_path / "runs" / "step.json").exists()
