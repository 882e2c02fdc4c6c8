"""Models that earlier versions saved load, and give what they gave then."""

import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf  # noqa: F401 (its ops)
from tools.saved_models import ARGUMENT

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
MODELS = sorted(path.parent for path in FIXTURES.glob("*/*/saved_model.pb"))
KILOBYTES = 200


@pytest.mark.parametrize(
    "path", MODELS, ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_a_model_of_an_earlier_version_gives_what_it_gave(path):
    expected = json.loads((path.parent / "expected.json").read_text())[path.name]
    loaded = tf.saved_model.load(path)
    for name, values in expected.items():
        found = getattr(loaded, name)(tf.constant(ARGUMENT))
        np.testing.assert_allclose(found, values, rtol=1e-5, atol=1e-6, err_msg=name)


def test_there_are_models_of_each_executor_and_they_are_small():
    assert {path.name.rpartition("_")[2] for path in MODELS} == {"batched", "dataflow"}
    files = [path for path in FIXTURES.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < KILOBYTES * 1024
