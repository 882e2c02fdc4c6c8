"""docs/subgraph.md: its code runs, and prints what stands there."""

import contextlib
import io
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "subgraph.md"
FENCE = re.compile(r"```(python|text)\n(.*?)```", re.S)
OWN_FILE = re.compile(r"\S*block_\d+\.py")


def printed_by_the_page(folder):
    """Returns pairs of what the page says is printed, and what is.

    AutoGraph reads the code from files, which are "trees.py" on the page.
    """
    names: dict[str, object] = {}
    out = io.StringIO()
    pairs = []
    for i, (kind, text) in enumerate(FENCE.findall(PAGE.read_text())):
        if kind == "text":
            pairs.append((text, OWN_FILE.sub("trees.py", out.getvalue())))
            continue
        out = io.StringIO()
        path = folder / f"block_{i}.py"
        path.write_text(text)
        with contextlib.redirect_stdout(out):
            exec(compile(text, str(path), "exec"), names)
    return pairs


def test_the_page_shows_what_its_code_prints(tmp_path):
    pairs = printed_by_the_page(tmp_path)
    assert len(pairs) == 8
    for shown, printed in pairs:
        assert shown == printed
