"""The gate says what is wrong with a build before the loader can crash on it."""

import pathlib
import re

import pytest
import tensorflow as tf

from recursive_tf.ops import gate, library


@pytest.fixture
def built_folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with an empty library that claims to be built on TensorFlow 2.20."""
    (tmp_path / gate.LIBRARY_NAME).touch()
    (tmp_path / gate.BUILD_INFO_NAME).write_text('TENSORFLOW_VERSION = "2.20.1"\n')
    return tmp_path


def test_the_library_that_is_here_was_built_on_the_running_minor():
    folder = pathlib.Path(gate.__file__).parent
    gate.check_versions(gate.read_build_version(folder), tf.__version__)


def test_the_library_offers_its_ops_as_functions():
    names = [name for name in dir(library) if name.islower() and name[0] != "_"]
    assert any(callable(getattr(library, name)) for name in names)


def test_patch_versions_of_one_minor_fit():
    gate.check_versions("2.21.0", "2.21.3")


def test_a_release_candidate_fits_its_minor():
    gate.check_versions("2.21.0-rc1", "2.21.0")


def test_another_minor_is_refused_with_both_versions_and_the_cure():
    with pytest.raises(ImportError) as error:
        gate.check_versions("2.21.0", "2.22.1")
    message = str(error.value)
    assert "built against TensorFlow 2.21.0" in message
    assert "TensorFlow 2.22.1 is running" in message
    assert 'pip install "tensorflow==2.21.*"' in message
    assert "pip install --force-reinstall --no-cache-dir recursive_tf" in message


def test_a_minor_is_compared_as_a_whole_number():
    with pytest.raises(ImportError):
        gate.check_versions("2.2.0", "2.21.0")


def test_the_versions_are_compared_before_the_library_is_loaded(built_folder):
    with pytest.raises(ImportError, match=r"built against TensorFlow 2\.20\.1"):
        gate.load(built_folder)


@pytest.mark.parametrize("missing", [gate.LIBRARY_NAME, gate.BUILD_INFO_NAME])
def test_a_folder_that_was_not_built_is_named_with_the_cure(built_folder, missing):
    (built_folder / missing).unlink()
    with pytest.raises(ImportError, match=re.escape(str(built_folder))) as error:
        gate.load(built_folder)
    message = str(error.value)
    assert missing in message
    assert "pip install -e ." in message
    assert "make build" in message


def test_an_instruction_set_that_there_is_not_is_refused_with_those_that_there_are(
    monkeypatch,
):
    path = pathlib.Path(gate.__file__).parent / gate.LIBRARY_NAME
    monkeypatch.setenv("RTF_INSTRUCTION_SET", "sse9")
    with pytest.raises(ValueError, match="RTF_INSTRUCTION_SET is 'sse9'") as error:
        gate.check_instruction_set(path)
    # The one that every processor has, and the cure.
    assert "'portable'" in str(error.value)
    assert "unset it" in str(error.value)


@pytest.mark.parametrize("name", ["", "portable"])
def test_no_instruction_set_and_one_that_is_there_are_fine(monkeypatch, name):
    monkeypatch.setenv("RTF_INSTRUCTION_SET", name)
    gate.check_instruction_set(pathlib.Path(gate.__file__).parent / gate.LIBRARY_NAME)
