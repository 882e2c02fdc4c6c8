"""What is said of roots of reviews: how scores are ranked, where the border is."""

import numpy as np
import pytest

from benchmarks.accuracy import reviews
from models import tree_lstm
from tests.models.scripts import SMALL, train

TEXTS = "1\tA lovely film.\n0\tDull, so dull.\n1\tGood.\n0\tBad ... and long.\n"


def test_a_border_at_the_wrong_place_is_told_from_a_wrong_ranking():
    is_positive = np.array([True, True, False, False])
    moved = reviews.of_roots(np.array([4.0, 3.0, 2.0, 1.0]), is_positive)
    assert moved == {
        "right": 0.5,
        "called_positive": 1.0,
        "best_border": 1.0,
        "ranked": 1.0,
    }
    mixed = reviews.of_roots(np.array([4.0, -1.0, 2.0, -3.0]), is_positive)
    assert mixed["right"] == 0.5
    assert mixed["best_border"] == 0.75
    assert mixed["ranked"] == 0.75


def test_all_may_be_on_one_side_of_the_best_border():
    assert (
        reviews.of_roots(np.array([-2.0, 1.0]), np.array([False, True]))["right"] == 1
    )
    found = reviews.of_roots(np.array([-1.0, -2.0, 3.0]), np.array([True, True, False]))
    assert found["best_border"] == pytest.approx(2 / 3)


@pytest.mark.large
@pytest.mark.slow
def test_a_row_is_printed_of_each_epoch(tmp_path, capsys):
    for split in ("train", "dev"):
        (tmp_path / f"{split}.tsv").write_text(TEXTS)
    train(tree_lstm.TASK, tmp_path / "labeler", **(SMALL | {"epochs": 1}))
    folders = [str(tmp_path / name) for name in (".", "labeler", "run")]
    capsys.readouterr()
    reviews.main([*folders, "--epochs=2"])
    *_, header, _, first, second = capsys.readouterr().out.splitlines()
    assert header.startswith("| epoch | nodes right | roots right |")
    assert [row.split(" | ")[0] for row in (first, second)] == ["| 1", "| 2"]
