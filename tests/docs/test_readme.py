"""What the README and the design say is so."""

import pathlib
import re

import pytest

from tests.helpers.pages import run_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "recursive_tf"
DESIGN = (ROOT / "docs" / "design.md").read_text()


TREES = """(3 (2 A) (4 (4 lovely) (2 film)))
(1 (0 Not) (4 (2 a) (4 (4 lovely) (2 plot))))
(0 (1 (2 A) (0 dull)) (2 film))
"""


@pytest.fixture(scope="module")
def readme(tmp_path_factory):
    """Returns what the README's code defines, where there is a treebank to read."""
    folder = tmp_path_factory.mktemp("readme")
    trees = folder / "data" / "trees"
    trees.mkdir(parents=True)
    (trees / "train.txt").write_text(TREES * 20)
    return run_page("../README.md", folder).names


def test_the_readme_trains_a_model_of_keras(readme):
    model, forest = readme["model"], next(iter(readme["batches"]))
    losses = model.history.history["loss"]
    assert losses[-1] < losses[0]
    assert model(forest).shape == (forest.num_nodes, 5)


def test_the_keras_way_is_ten_lines():
    first = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    lines = [line for line in first.splitlines() if line and "import" not in line]
    assert len(lines) == 10


def test_the_readme_has_gradients(readme):
    assert all(gradient is not None for gradient in readme["gradients"])


def test_the_readme_has_three_programs_and_is_short():
    text = (ROOT / "README.md").read_text()
    assert len(re.findall(r"```python\n", text)) == 3
    assert len(text.splitlines()) < 150


def test_files_that_the_design_names_exist():
    paths = re.findall(r"`((?:cc|data|ops|python)/[\w/]+\.\w+)`", DESIGN)
    assert len(paths) > 50
    assert [path for path in paths if not (PACKAGE / path).exists()] == []


def _rooms_in_the_picture(folder):
    """Returns what the picture of the rooms shows in a folder of the package."""
    picture = DESIGN.split("## The rooms")[1].split("```")[1]
    indent, found = None, []
    for line in picture.splitlines():
        depth = len(line) - len(line.lstrip())
        names = re.findall(r"^\s*((?:\w+/ ?)+)", line)
        if indent is not None and depth <= indent[0]:
            break
        if indent is not None and (indent[1] is None or depth == indent[1]):
            indent = indent[0], depth
            found += names[0].split()
        elif indent is None and names and names[0].strip() == f"{folder}/":
            indent = depth, None
    return sorted(name.rstrip("/") for name in found)


@pytest.mark.parametrize("folder", ["python", "python/batching", "cc"])
def test_the_picture_of_the_rooms_shows_the_folders(folder):
    packages = {path.parent.name for path in (PACKAGE / folder).glob("*/*.*")}
    there = packages - {"__pycache__", "testing"}
    assert _rooms_in_the_picture(folder.rpartition("/")[2]) == sorted(there)


def test_a_word_stands_once_in_the_glossary():
    text = (ROOT / "docs" / "glossary.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \|", text, re.M)
    words = [word.strip(" *") for row in rows for word in row.split(",")]
    words = [word for word in words if word not in ("word", "---")]
    assert len(words) > 50
    assert sorted(words) == sorted(set(words))
