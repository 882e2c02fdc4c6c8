"""Pages of the documentation, whose code runs."""

import contextlib
import io
import pathlib
import re
from typing import NamedTuple

FENCE = re.compile(r"```(python|text)\n(.*?)```", re.S)
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


class Page(NamedTuple):
    """What came of running a page.

    Attributes:
        names: What its code defined.
        printed: Pairs of what the page says is printed, and what was.
    """

    names: dict[str, object]
    printed: list[tuple[str, str]]


def run_page(name, folder):
    """Runs the Python blocks of a page, each from a file in `folder`.

    AutoGraph reads what it converts. A folder that a page makes, `folder`, is printed
    as FOLDER.
    """
    names: dict[str, object] = {}
    out = io.StringIO()
    printed = []
    for i, (kind, text) in enumerate(FENCE.findall((DOCS / name).read_text())):
        if kind == "text":
            found = out.getvalue().replace(str(names.get("folder")), "FOLDER")
            printed.append((text, found))
            out = io.StringIO()
            continue
        path = folder / f"block_{i}.py"
        path.write_text(text)
        with contextlib.redirect_stdout(out):
            exec(compile(text, str(path), "exec"), names)
    return Page(names, printed)
