"""Notebooks run without Jupyter, and become pages."""

import json

import pytest

from tools import notebooks
from tools.notebooks import Cell


def run(folder, *sources):
    return notebooks.run([Cell(True, source) for source in sources], folder)


class Drawn:
    def __str__(self):
        return "a <tree>\nof two lines"

    def _repr_svg_(self):
        return "<svg/>"


def test_a_cell_gives_what_it_prints_and_its_last_value(tmp_path):
    outputs, names = run(tmp_path, "x = 2\nprint(x)", "y = x + 1\ny * 2", "None")
    assert [(output.printed, output.value) for output in outputs] == [
        ("2\n", None),
        ("", 6),
        ("", None),
    ]
    assert names["y"] == 3


def test_source_that_is_read_while_it_runs_is_that_of_its_cell(tmp_path):
    first = "def f():\n    return 1"
    second = "import inspect\nprint(inspect.getsource(f).strip())"
    outputs, _ = run(tmp_path, first, second)
    assert outputs[1].printed == first + "\n"


def test_a_cell_shows_the_figures_that_it_opened(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    mine = pyplot.figure()
    before = pyplot.get_fignums()
    draws = "from matplotlib import pyplot\n_ = pyplot.figure()"
    outputs, _ = run(tmp_path, draws, "1")
    assert [len(output.figures) for output in outputs] == [1, 0]
    assert outputs[0].figures[0].startswith(b"\x89PNG")
    assert pyplot.get_fignums() == before
    pyplot.close(mine)


def test_an_error_names_the_cell(tmp_path):
    with pytest.raises(notebooks.NotebookError, match="cell 2 failed: division"):
        run(tmp_path, "x = 0", "1 / x")


def test_a_page_has_texts_code_and_what_came_of_it(tmp_path):
    cells = [Cell(False, "# Title"), Cell(True, "print(1)\n2"), Cell(True, "drawn")]
    outputs = [
        notebooks.Output("", None, []),
        notebooks.Output("1\n", 2, [b"png"]),
        notebooks.Output("", Drawn(), []),
    ]
    assert notebooks.page("one.ipynb", cells, outputs).split("\n\n") == [
        "# Title",
        "```python\nprint(1)\n2\n```",
        "```text\n1\n```",
        "```text\n2\n```",
        '<img alt="Figure" src="data:image/png;base64,cG5n">',
        "```python\ndrawn\n```",
        '<img alt="a &lt;tree&gt;" src="data:image/svg+xml;base64,PHN2Zy8+">',
        "This page is a notebook, as it ran: "
        '<a href="one.ipynb" download>one.ipynb</a>.\n',
    ]


def test_cells_are_read(tmp_path):
    path = tmp_path / "one.ipynb"
    cells = [
        {"cell_type": "markdown", "source": ["# A\n", "b"]},
        {"cell_type": "code", "source": "x"},
    ]
    path.write_text(json.dumps({"cells": cells}))
    assert notebooks.read(path) == [Cell(False, "# A\nb"), Cell(True, "x")]
