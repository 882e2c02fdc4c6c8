"""docs/data.md: its code runs, and prints what stands there."""

import contextlib
import io
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "data.md"
FENCE = re.compile(r"```(python|text)\n(.*?)```", re.S)


def printed_by_the_page(folder):
    """Returns pairs of what the page says is printed, and what is."""
    names: dict[str, object] = {}
    out = io.StringIO()
    pairs = []
    for i, (kind, text) in enumerate(FENCE.findall(PAGE.read_text())):
        if kind == "text":
            printed = out.getvalue().replace(str(names.get("folder")), "FOLDER")
            pairs.append((text, printed))
            out = io.StringIO()
            continue
        path = folder / f"block_{i}.py"
        path.write_text(text)
        with contextlib.redirect_stdout(out):
            exec(compile(text, str(path), "exec"), names)
    return pairs


def test_the_page_shows_what_its_code_prints(tmp_path):
    pairs = printed_by_the_page(tmp_path)
    assert len(pairs) == 6
    for shown, printed in pairs:
        assert shown == printed
