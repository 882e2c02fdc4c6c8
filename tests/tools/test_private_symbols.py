"""What is used of TensorFlow and Keras and is not public is listed, and is still there.

`python -m tools.private_symbols` says the same where recursive_tf is not built yet.
"""

import pytest

import private_symbols
from private_symbols import OF_OBJECTS, listed, symbols


@pytest.fixture(scope="module")
def there() -> dict[str, str]:
    return symbols()


@pytest.mark.parametrize("name", list(listed()))
def test_a_private_symbol_is_as_it_was_when_its_use_was_written(there, name):
    # With the list at hand: who uses it is found by its name.
    assert there.get(name, "not used any more") == listed()[name]


def test_the_list_has_all_that_is_imported(there):
    assert private_symbols.differences(there, listed()) == []


def test_the_list_has_all_that_is_used_of_objects():
    names = {name for of_module in OF_OBJECTS.values() for name in of_module}
    assert private_symbols.of_objects_used() == names


def test_a_symbol_that_is_gone_is_named():
    assert private_symbols.described("tensorflow.python.no_module.f") == "missing"
    assert private_symbols.described("tensorflow.python.framework.ops.no") == "missing"
    assert private_symbols.described_of_object("keras.no_module", "_x") == "missing"
    lines = private_symbols.differences({"a.f": "missing"}, {"a.f": "(x)"})
    assert lines == ["a.f was (x) and is missing"]


def test_the_command_ends_with_an_error_if_anything_differs(monkeypatch, capsys):
    monkeypatch.setattr(private_symbols, "symbols", lambda: {**listed(), "a.f": "(x)"})
    assert private_symbols.main([]) == 1
    assert capsys.readouterr().out == "a.f was not used and is (x)\n"
