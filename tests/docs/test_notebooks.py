"""docs/notebooks: their cells run, are short, and show what their texts say."""

import json

import pytest

from tools import notebooks

PATHS = sorted(notebooks.FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def ran(request, tmp_path_factory):
    """Returns what a notebook printed, its values and figures, and its names."""
    cells = notebooks.read(notebooks.FOLDER / f"{request.param}.ipynb")
    outputs, names = notebooks.run(cells, tmp_path_factory.mktemp(request.param))
    printed = "".join(output.printed for output in outputs)
    values = [output.value for output in outputs if output.value is not None]
    return printed, values, sum(len(output.figures) for output in outputs), names


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_cells_are_short_and_stored_without_what_they_print(path):
    cells = notebooks.read(path)
    assert cells[0].source.startswith("# ")
    code = [cell.source for cell in cells if cell.is_code]
    assert max(len(source.splitlines()) for source in code) <= 22
    assert len(cells) - len(code) >= len(code) * 0.7  # Text stands between them.
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_there_are_three():
    assert len(PATHS) == 3


@pytest.mark.slow
@pytest.mark.parametrize("ran", ["train_a_tree_lstm"], indirect=True)
def test_a_tree_lstm_learns_and_is_drawn(ran):
    printed, values, figures, names = ran
    assert names["history"]["val_accuracy"][-1] > 0.95
    assert "% of the nodes of deeper trees are right\nTrue\n" in printed
    assert figures == 1
    first, last = values
    assert "false" in first._repr_svg_()
    assert last._repr_svg_().count("<circle") == int(names["new"].num_nodes)


@pytest.mark.parametrize("ran", ["how_a_batch_is_launched"], indirect=True)
def test_a_batch_is_launched_as_the_text_says(ran):
    printed, (launches,), figures, names = ran
    assert "SubGraph 'encode' runs in the batched executor" in printed
    parts = [part for part, _ in launches]
    assert parts == ["look"] * 4 + ["read"] + ["join"] * 3
    looked = [node for part, nodes in launches if part == "look" for node in nodes]
    known = [node for part, nodes in launches if part != "look" for node in nodes]
    assert sorted(looked) == sorted(known) == list(range(14))
    assert len(launches[4][1]) == 8
    assert len(names["figure"].axes) == len(launches) == 8
    assert figures == 1


@pytest.mark.slow
@pytest.mark.parametrize("ran", ["structure_at_run_time"], indirect=True)
def test_a_parser_decides_on_trees_and_learns(ran):
    printed, (tree,), _, names = ran
    trees = names["trees"]
    assert len(trees) == 4
    assert len({str(tree) for tree in trees}) > 1
    assert int(tree.num_nodes) == 2 * 6 - 1
    after = [names["nested"](row) for row in names["ends"].numpy().tolist()]
    assert after != trees
    assert printed.count("\n") > 12
    assert names["losses"][-1] < 0.1 * names["losses"][0]
    assert sum(names["explanation"].launches.values()) > 0
