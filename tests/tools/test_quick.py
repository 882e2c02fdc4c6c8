"""`make quick` runs the tests of what changed, and one of each other file."""

import pathlib
import types

import pytest

from tests.helpers import quick


def item(path, name, *marks):
    """Returns what looks like a test."""
    marks = [types.SimpleNamespace(name=mark) for mark in marks]
    return types.SimpleNamespace(path=path, name=name, iter_markers=lambda: marks)


@pytest.fixture
def files(tmp_path):
    """Two files of tests: one imports a module, the other nothing."""
    texts = {
        "maps/test_rows.py": "from recursive_tf.data.rows import take",
        "memo/test_keys.py": "",
        "models/test_scripts.py": "",
    }
    found = [tmp_path / name for name in texts]
    for path, text in zip(found, texts.values(), strict=True):
        path.parent.mkdir()
        path.write_text(text)
    return found


def names(items):
    return [item.name for item in items]


def test_what_imports_a_changed_module_runs_whole_and_others_once(files):
    rows, keys, scripts = files
    items = [item(rows, "a"), item(rows, "b"), item(keys, "c"), item(keys, "d")]
    items.append(item(scripts, "e"))
    assert names(quick.chosen(items, ["recursive_tf/data/rows.py"])) == ["a", "b", "c"]
    assert names(quick.chosen(items, [])) == ["a", "c"]


def test_a_slow_test_does_not_run(files):
    rows, keys, _ = files
    items = [item(rows, "a", "slow"), item(rows, "b"), item(keys, "c", "stress")]
    assert names(quick.chosen(items, ["recursive_tf/data/rows.py"])) == ["b"]


def test_a_changed_test_and_one_that_is_named_after_what_changed_run(files):
    assert quick.touched_by(["recursive_tf/layers/keys.py"], files) == [files[1]]
    own = quick.ROOT / "tests" / "tools" / "test_quick.py"
    assert quick.touched_by(["tests/tools/test_quick.py"], [own]) == [own]
    assert quick.touched_by(["README.md"], files) == []


def test_changes_are_paths_of_the_project():
    assert all(not pathlib.Path(name).is_absolute() for name in quick.changed_files())
