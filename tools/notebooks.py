"""Runs the notebooks of docs/notebooks, as the tests and the site do.

    python -m tools.notebooks docs/notebooks/train_a_tree_lstm.ipynb

runs one and prints its page: texts, code, and what the code prints and draws. Nothing
of Jupyter is needed. Each cell is a file while it runs, because AutoGraph reads the
source of what it converts.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import io
import json
import pathlib
import sys
import tempfile
from typing import Any, NamedTuple

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs" / "notebooks"


class NotebookError(Exception):
    """A cell of a notebook failed; the cause is what it raised."""


class Cell(NamedTuple):
    """A cell.

    Attributes:
        is_code: Whether it is Python; else it is Markdown.
        source: Its text.
    """

    is_code: bool
    source: str


class Output(NamedTuple):
    """What came of a cell.

    Attributes:
        printed: What it printed.
        value: Its last line, if this is an expression; else None.
        figures: What it drew with pyplot, as PNG.
    """

    printed: str
    value: Any
    figures: list[bytes]


def read(path: pathlib.Path) -> list[Cell]:
    """Returns the cells of a notebook."""
    book = json.loads(path.read_text(encoding="utf-8"))
    return [
        Cell(cell["cell_type"] == "code", "".join(cell["source"]))
        for cell in book["cells"]
    ]


def run(cells: list[Cell], folder: pathlib.Path) -> tuple[list[Output], dict[str, Any]]:
    """Runs the code of a notebook in a folder.

    Args:
        cells: Those of Markdown give nothing.
        folder: Where the cells' files are, and what the code writes.

    Returns:
        An output for each cell, and the names that the code defined.

    Raises:
        NotebookError: If a cell fails.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs = []
    with contextlib.chdir(folder):
        for number, cell in enumerate(cells, start=1):
            try:
                outputs.append(_run(cell, f"cell_{number}.py", names))
            except Exception as error:
                raise NotebookError(f"cell {number} failed: {error}") from error
    return outputs, names


def _run(cell: Cell, name: str, names: dict[str, Any]) -> Output:
    if not cell.is_code:
        return Output("", None, [])
    pathlib.Path(name).write_text(cell.source, encoding="utf-8")
    body = ast.parse(cell.source, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    value = None
    open_before = _open_figures()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(ast.Module(body, []), name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
    drawn = [_closed(figure) for figure in _open_figures() - open_before]
    return Output(out.getvalue(), value, drawn)


def _open_figures() -> set[int]:
    """Returns the numbers of what is drawn and not shown: a notebook shows it."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set() if pyplot is None else set(pyplot.get_fignums())


def _closed(number: int) -> bytes:
    from matplotlib import pyplot

    png = io.BytesIO()
    pyplot.figure(number).savefig(png, format="png", dpi=110)
    pyplot.close(number)
    return png.getvalue()


def page(name: str, cells: list[Cell], outputs: list[Output]) -> str:
    """Returns a notebook as a page of Markdown.

    Args:
        name: Of the notebook's file, which stands beside the page.
        cells: Of the notebook.
        outputs: One for each.
    """
    parts = []
    for cell, output in zip(cells, outputs, strict=True):
        parts.append(f"```python\n{cell.source}\n```" if cell.is_code else cell.source)
        if output.printed:
            parts.append(f"```text\n{output.printed.rstrip()}\n```")
        if output.value is not None:
            parts.append(_shown(output.value))
        parts += [_picture("image/png", png, "Figure") for png in output.figures]
    link = f'<a href="{name}" download>{name}</a>'
    parts.append(f"This page is a notebook, as it ran: {link}.")
    return "\n\n".join(parts) + "\n"


def _shown(value: Any) -> str:
    svg = getattr(value, "_repr_svg_", lambda: None)()
    if svg is not None:
        text = str(value).partition("\n")[0]
        return _picture("image/svg+xml", svg.encode(), text)
    return f"```text\n{value!r}\n```"


def _picture(kind: str, data: bytes, text: str) -> str:
    coded = base64.b64encode(data).decode()
    return f'<img alt="{html.escape(text)}" src="data:{kind};base64,{coded}">'


def main(arguments: list[str]) -> int:
    """Runs a notebook and prints its page; returns the exit code."""
    import matplotlib

    matplotlib.use("agg")
    path = pathlib.Path(arguments[0])
    cells = read(path)
    with tempfile.TemporaryDirectory() as folder:
        outputs, _ = run(cells, pathlib.Path(folder))
    print(page(path.name, cells, outputs), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
