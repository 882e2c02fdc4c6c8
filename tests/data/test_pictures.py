"""Pictures show tokens, labels and predictions, in the terminal and as SVG."""

import builtins
import io
import re
import xml.etree.ElementTree as ET

import matplotlib.figure
import numpy as np
import pytest
import rich.console
import tensorflow as tf

from recursive_tf.data import ForestError, batches, describe, from_nested, generate
from recursive_tf.data.pictures.shown_tree import colors_of

SENTENCE = {
    "label": 3,
    "children": [
        {"token": "A", "label": 2},
        {
            "label": 4,
            "children": [
                {"token": "lovely", "label": 4},
                {"token": "film", "label": 2},
            ],
        },
    ],
}
SVG = "{http://www.w3.org/2000/svg}"


def sentence():
    return from_nested([SENTENCE])


def shown(forest, *args, color=None, **choices):
    out = io.StringIO()
    console = rich.console.Console(
        file=out, width=80, color_system=color, force_terminal=color is not None
    )
    forest.show(*args, console=console, **choices)
    return out.getvalue()


def test_the_terminal_shows_labels_and_words():
    assert shown(sentence()) == (
        "3\n├── 2 A\n└── 4\n    ├── 4 lovely\n    └── 2 film\n"
    )


def test_predictions_stand_beside_labels_that_they_miss():
    predicted = sentence().labels.numpy()
    predicted[sentence().roots[0]] = 0
    lines = shown(sentence(), predicted).splitlines()
    assert lines[0] == "0, not 3"
    assert lines[1] == "├── 2 A"


def test_scores_of_labels_are_no_predictions():
    with pytest.raises(ForestError, match=r"shape \[5\].*tf\.argmax\(logits, -1\)"):
        shown(sentence(), tf.zeros([5, 5]))


def test_labels_that_are_vectors_are_shown_without_colors():
    forest = sentence().replace(labels=tf.one_hot([0, 1, 0, 1, 0], 2))
    assert "[1.0, 0.0] A" in shown(forest)
    assert "not [1.0, 0.0] A" in shown(forest, 1 - forest.labels)
    assert "<svg" in forest._repr_html_()


def test_labels_have_colors_in_the_terminal():
    plain = shown(sentence())
    colored = shown(sentence(), color="truecolor")
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    assert len(set(re.findall(r"38;2;[0-9;]+m", colored))) == 3  # 2, 3 and 4.


def test_trees_without_labels_and_many_trees_are_shown():
    forest = from_nested([["a", "b"], "c", "d", "e", "f"])
    assert shown(forest, max_trees=2) == ("·\n├── a\n└── b\nc\n... and 3 more trees\n")


def test_a_large_tree_is_cut():
    lines = shown(generate("linear", 1, words=1000), max_nodes=4).splitlines()
    assert len(lines) == 5
    assert lines[-1].endswith("... 1995 more nodes")


def test_what_a_word_contains_is_no_markup():
    assert shown(from_nested(["[red]a[/red]"])) == "[red]a[/red]\n"


def test_the_terminal_is_the_one_that_there_is(capsys):
    sentence().show()
    assert "lovely" in capsys.readouterr().out


def test_numbers_go_from_red_to_green_and_words_around():
    colors = colors_of([0, 4, 2, -1])
    assert list(colors) == [0, 2, 4]
    red, green = ([int(colors[v][i : i + 2], 16) for i in (1, 3, 5)] for v in (0, 4))
    assert red[0] > red[1] == red[2]
    assert green[1] > green[0] == green[2]
    assert len(set(colors_of(["NP", "VP", "S", "PP"]).values())) == 4
    assert colors_of([float("nan"), ""]) == {}


def test_svg_has_a_circle_a_node_a_line_an_edge_and_all_texts():
    root = ET.fromstring(sentence()[0].to_svg())
    texts = [text.text for text in root.iter(SVG + "text")]
    assert len(list(root.iter(SVG + "circle"))) == 5
    assert len(list(root.iter(SVG + "line"))) == 4
    assert texts == ["2", "A", "4", "lovely", "2", "film", "4", "3"]


def test_svg_puts_parents_over_children_and_words_in_order():
    root = ET.fromstring(sentence()[0].to_svg())
    spots = [
        (float(c.get("cx")), float(c.get("cy"))) for c in root.iter(SVG + "circle")
    ]
    a, lovely, film, right, top = spots
    assert a[0] < lovely[0] < film[0]
    assert top[1] < right[1] == a[1] < lovely[1] == film[1]
    assert lovely[0] < right[0] < film[0]
    assert all(0 < x < float(root.get("width")) for x, _ in spots)
    assert all(0 < y < float(root.get("height")) for _, y in spots)


def test_svg_colors_by_prediction():
    tree = sentence()[0]
    same = re.findall(r'fill="(#\w+)"', tree.to_svg(predictions=[1] * 5))
    assert len(set(same)) == 1
    assert len(set(re.findall(r'fill="(#\w+)"', tree.to_svg()))) == 3


def test_svg_escapes_words():
    root = ET.fromstring(from_nested(["<&>"])[0].to_svg())
    assert [text.text for text in root.iter(SVG + "text")] == ["<&>"]


def test_svg_draws_shared_children_once():
    from recursive_tf.data import Forest

    shared = Forest(tokens=[0, 1, 2], children=[[], [0], [1, 0]], roots=2)
    root = ET.fromstring(shared.validate(dag=True).to_svg())
    assert len(list(root.iter(SVG + "circle"))) == 3
    assert len(list(root.iter(SVG + "line"))) == 3


def test_a_notebook_shows_a_tree_as_svg_and_a_batch_as_html():
    assert sentence()[0]._repr_svg_() == sentence()[0].to_svg()
    assert sentence()[0]._repr_html_() is None
    assert sentence()._repr_svg_() is None
    page = from_nested(["a", "b", "<c>", "d"])._repr_html_()
    assert page.startswith(
        "<div>Forest of 4 trees, 4 nodes: tokens string; left, right"
    )
    assert page.count("<svg") == 3
    ET.fromstring(f"<html>{page}</html>")


def test_a_notebook_shows_large_trees_and_those_without_values_as_text():
    assert generate("balanced", 1, words=300)[0]._repr_svg_() is None
    assert "<svg" not in generate("balanced", 1, words=300)._repr_html_()
    pages = []

    @tf.function
    def trace(forest):
        pages.extend([forest._repr_html_(), forest[0]._repr_svg_()])

    trace(sentence())
    assert pages == [None, None]


def test_a_picture_is_of_one_tree_and_predictions_of_all_nodes():
    with pytest.raises(ForestError, match="of one tree"):
        sentence().to_svg()
    with pytest.raises(ForestError, match="1 predictions for 5 nodes"):
        sentence()[0].to_svg([1])


def test_a_description_counts_what_there_is(capsys):
    forest = from_nested([SENTENCE, {"token": "A", "label": 2}])
    found = describe(forest)
    assert capsys.readouterr().out == str(found) + "\n"
    assert str(found).splitlines() == [
        "trees             2",
        "nodes             6",
        "nodes a tree      1 to 5, mean 3.0, median 3",
        "depth             0 to 2, mean 1.0, median 1",
        "different tokens  3: A 2, film 1, lovely 1",
        "different labels  3: 2 3, 4 2, 3 1",
    ]


def test_a_dataset_is_described_as_its_forest_is():
    forest = generate("random", 30, words=range(1, 9))
    expected = describe(forest)
    for dataset in (batches(forest, 7), batches(forest, 7).unbatch()):
        found = describe(dataset)
        assert str(found) == str(expected)
        np.testing.assert_array_equal(found.depths, expected.depths)


def test_a_description_is_plotted(tmp_path):
    path = tmp_path / "trees.png"
    found = describe(generate("random", 30), plot=path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert isinstance(found.plot(), matplotlib.figure.Figure)
    assert [axis.get_xlabel() for axis in found.plot().axes] == [
        "nodes",
        "depth",
        "nodes",
    ]


def test_nothing_cannot_be_described():
    with pytest.raises(ForestError, match="no tree to describe"):
        describe([])


@pytest.mark.parametrize(
    ("library", "use"),
    [
        ("rich", lambda: sentence().show()),
        ("matplotlib", lambda: describe(sentence()).plot()),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_extra(monkeypatch, library, use):
    from recursive_tf import optional

    def missing(name):
        if name.startswith(library):
            raise ImportError(name)
        return builtins.__import__(name)

    monkeypatch.setattr(optional.importlib, "import_module", missing)
    with pytest.raises(ImportError, match=rf"{library}.*'recursive_tf\[data\]'"):
        use()
