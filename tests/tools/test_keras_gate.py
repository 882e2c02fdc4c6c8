"""A Keras whose private parts are not known is refused with the way out."""

import keras
import pytest
from packaging.requirements import Requirement

from recursive_tf import keras_gate
from run_requirements import run_requirements


def test_the_running_keras_passes():
    keras_gate.check_version(keras.__version__)


@pytest.mark.parametrize("version", ["3.12.0", "3.15.9", "3.13.0.dev20251"])
def test_a_minor_that_was_tried_passes(version):
    keras_gate.check_version(version)


@pytest.mark.parametrize("version", ["2.15.0", "3.2.1", "3.11.3", "3.16.0", "4.0.0"])
def test_another_minor_is_refused_with_the_cure(version):
    with pytest.raises(ImportError, match=f"Keras {version} is running") as error:
        keras_gate.check_version(version)
    assert 'pip install "keras>=3.12,<3.16"' in str(error.value)


def test_the_project_asks_for_what_the_gate_lets_in():
    requirements = map(Requirement, run_requirements())
    (asked,) = (each.specifier for each in requirements if each.name == "keras")
    first, end = keras_gate.FIRST, keras_gate.END
    assert asked.contains(f"{first[0]}.{first[1]}.0")
    assert not asked.contains(f"{first[0]}.{first[1] - 1}.9")
    assert asked.contains(f"{end[0]}.{end[1] - 1}.9")
    assert not asked.contains(f"{end[0]}.{end[1]}.0")
