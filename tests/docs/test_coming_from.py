"""docs/coming_from.md, versions.md and faq.md: our code runs, and facts hold."""

import re

import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.pages import DOCS, run_page


def test_the_page_shows_what_its_code_prints(tmp_path):
    page = run_page("coming_from.md", tmp_path)
    assert len(page.printed) == 1
    for shown, found in page.printed:
        assert shown == found
    assert all(one is not None for one in page.names["gradients"])


def test_each_system_has_its_code_and_what_differs():
    sections = (DOCS / "coming_from.md").read_text().split("\n## ")[2:]
    names = [section.partition("\n")[0] for section in sections]
    assert names == ["PyTorch", "DyNet", "DGL", "TensorFlow Fold"]
    for section in sections:
        assert "```py\n" in section
        assert "| here |" in section


def test_the_versions_are_those_of_the_package():
    text = (DOCS / "versions.md").read_text()
    minor = ".".join(rtf.__version__.split(".")[:2])
    of_tensorflow = ".".join(tf.__version__.split(".")[:2])
    (row,) = re.findall(rf"^\| {minor} \| ([^|]*) \|", text, re.M)
    assert of_tensorflow in re.findall(r"\d+\.\d+", row)
    assert f"The current version is {minor}." in text


def test_questions_cite_threads():
    text = (DOCS / "faq.md").read_text()
    threads = re.findall(
        r"https://github.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+", text
    )
    assert len(set(threads)) > 15
