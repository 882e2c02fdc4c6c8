"""A C++ test is linked with the sources of the core that it needs, and no others."""

import pathlib

import pytest

import cc_needs
import core_tests
from cc_needs import needed
from library_build import shared_list

CORE = [pathlib.Path(name) for name in shared_list("CORE_SOURCES")]


@pytest.fixture
def root(tmp_path, monkeypatch) -> pathlib.Path:
    """A project of files that include each other."""
    monkeypatch.setattr(cc_needs, "ROOT", tmp_path)
    files = {
        "leaf.h": [],
        "leaf.cc": ["leaf.h"],
        "tree.h": [],
        "tree.cc": ["tree.h", "leaf.h"],
        "sets.h": [],
        "fast.cc": ["sets.h", "leaf.h"],
        "slow.cc": ["sets.h"],
        "choose.h": [],
        "choose.cc": ["choose.h", "sets.h"],
    }
    for name, includes in files.items():
        text = "".join(f'#include "{other}"\n' for other in includes)
        (tmp_path / name).write_text(text)
    return tmp_path


def needs_of(root: pathlib.Path, *includes: str) -> list[str]:
    """Returns what a test needs that includes these."""
    text = "".join(f'#include "{name}"\n' for name in (*includes, "gtest/gtest.h"))
    (root / "a_test.cc").write_text(text)
    core = sorted(path.relative_to(root) for path in root.glob("*.cc"))
    core.remove(pathlib.Path("a_test.cc"))
    return [str(source) for source in needed(pathlib.Path("a_test.cc"), core)]


def test_what_a_source_includes_is_needed_too(root):
    assert needs_of(root, "leaf.h") == ["leaf.cc"]
    assert needs_of(root, "tree.h") == ["leaf.cc", "tree.cc"]
    assert needs_of(root) == []


def test_sources_without_a_header_define_what_one_declares_that_has_no_source(root):
    found = needs_of(root, "choose.h")
    assert found == ["choose.cc", "fast.cc", "leaf.cc", "slow.cc"]


def test_each_source_of_the_core_is_in_a_test():
    tested = {source for test in core_tests.tests() for source in needed(test, CORE)}
    assert tested == set(CORE)
