"""All examples: each prints something, and stands in the table."""

import pytest

from tests.examples.loading import EXAMPLES, executors_in_table, load

NAMES = sorted(path.stem for path in EXAMPLES.glob("[!_]*.py"))


def test_the_table_has_every_example_and_its_executor():
    table = executors_in_table()
    assert sorted(table) == NAMES
    assert set(table.values()) == {"batched", "dataflow"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_says_how_to_run_it_and_prints_a_few_lines(name, capsys, caplog):
    example = load(name)
    assert f"python -m examples.{name}\n" in example.__doc__
    example.main()
    assert 1 < len(capsys.readouterr().out.splitlines()) < 30
    assert "WARNING" not in caplog.text
