"""Another TensorFlow is tried in an environment of its own, with what tests need."""

import pytest
from packaging.requirements import Requirement

import try_tensorflow
from cc_build import BuildError


def test_the_environment_has_that_tensorflow_and_what_tests_need():
    asked = {r.name: r for r in map(Requirement, try_tensorflow.requirements("2.20"))}
    assert asked["tensorflow"].specifier.contains("2.20.1")
    assert not asked["tensorflow"].specifier.contains("2.21.0")
    assert {"keras", "numpy", "pytest", "hypothesis", "matplotlib"} <= set(asked)
    assert "recursive_tf" not in asked


@pytest.mark.parametrize("version", ["2", "2.20.0", "new"])
def test_what_is_no_minor_version_is_refused(version):
    with pytest.raises(BuildError, match="is no minor version"):
        try_tensorflow.main(version, [])
