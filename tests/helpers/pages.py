"""Pages of the documentation, whose code runs."""

import contextlib
import io
import pathlib
import re
from typing import NamedTuple

import recursive_tf  # noqa: F401  (so that what falls back is seen from the start)

OWN_FILE = re.compile(r"\S*block_\d+\.py")
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
    """Runs the Python blocks of a page in a folder, each from a file there.

    AutoGraph reads what it converts. These files are "trees.py" on a page, and a folder
    that it makes, `folder`, is FOLDER.
    """
    names: dict[str, object] = {}
    out = io.StringIO()
    printed = []
    for i, (kind, text) in enumerate(FENCE.findall((DOCS / name).read_text())):
        if kind == "text":
            found = out.getvalue().replace(str(names.get("folder", "FOLDER")), "FOLDER")
            printed.append((text, OWN_FILE.sub("trees.py", found)))
            out = io.StringIO()
            continue
        with contextlib.chdir(folder), contextlib.redirect_stdout(out):
            path = pathlib.Path(f"block_{i}.py")
            path.write_text(text)
            exec(compile(text, str(path), "exec"), names)
    return Page(names, printed)
