"""How the places of a word are shared out among its edges."""

import numpy as np
import pytest
import tensorflow as tf

from models.dependency.limits import Limits


def shared(places, kept, wanted, depth=0, limits=None):
    shares, cut = (limits or Limits()).share(
        tf.constant(places),
        tf.constant(depth),
        tf.constant(kept),
        tf.cast(wanted, tf.bool),
    )
    return shares.numpy().tolist(), int(cut)


@pytest.mark.parametrize(
    ("places", "kept", "wanted", "expected"),
    [
        (1, [0, 0, 0, 0], [1, 1, 0, 0], ([0, 0, 0, 0], 2)),
        (2, [0, 0, 0, 0], [1, 1, 0, 0], ([1, 0, 0, 0], 1)),
        (3, [0, 0, 0, 0], [1, 1, 0, 0], ([1, 1, 0, 0], 0)),
        (8, [0, 0, 0, 0], [1, 0, 0, 1], ([4, 0, 0, 3], 0)),
        (9, [0, 0, 0, 0], [0, 0, 0, 0], ([0, 0, 0, 0], 0)),
        (6, [0, 5, 0, 0], [1, 1, 0, 0], ([0, 5, 0, 0], 1)),
        (7, [0, 5, 0, 0], [1, 0, 0, 0], ([1, 5, 0, 0], 0)),
        (10, [0, 5, 0, 0], [1, 0, 0, 0], ([3, 6, 0, 0], 0)),
    ],
)
def test_given_words_come_first_then_new_edges_then_all_alike(
    places, kept, wanted, expected
):
    assert shared(places, kept, wanted) == expected


def test_no_place_is_lost_and_none_is_made():
    rng = np.random.default_rng(0)
    for _ in range(50):
        kept = rng.integers(0, 4, 4) * rng.integers(0, 2, 4)
        wanted = rng.integers(0, 2, 4)
        places = 1 + int(kept.sum()) + int(rng.integers(0, 9))
        shares, cut = shared(places, kept.astype(np.int32), wanted)
        new = np.logical_and(wanted, kept == 0)
        granted = np.logical_and(np.array(shares) > 0, kept == 0)
        assert (np.array(shares) >= kept).all()
        assert sum(shares) == (places - 1 if any(shares) else 0)
        assert cut == new.sum() - granted.sum()


def test_only_edges_that_go_down_end_at_a_depth():
    limits = Limits(max_depth=2)
    assert shared(9, [0] * 4, [1] * 4, 1, limits) == ([2, 2, 2, 2], 0)
    assert shared(9, [0] * 4, [1] * 4, 2, limits) == ([0, 0, 4, 4], 2)
    assert shared(9, [1, 0, 0, 0], [1] * 4, 2, limits) == ([3, 0, 3, 2], 1)
