"""Commands run in their quick form; how fast is for a quiet machine to say.

What is not here has a file of its own.
"""

import json

import pytest

import benchmarks.__main__ as yardstick
from tests.helpers.programs import Program

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("command", ["treelstm", "batches"])
def test_trees_a_second_are_printed_by_batch_size(command, tmp_path):
    # In a process of its own: two commands have flags of the same names.
    small = ["--batch_sizes=2", "--repeats=1", "--trees=4"]
    program = Program(f"benchmarks.{command}", small, tmp_path / "log")
    assert "\n| 2 | " in program.finish(300)


@pytest.mark.large
def test_the_yardstick_prints_tables_and_keeps_every_run(capsys, monkeypatch, tmp_path):
    # The other tests of this process keep their processors.
    monkeypatch.setattr(yardstick, "use_two_cores", lambda: None)
    small = ["--works", "treernn", "--batches", "1", "--rounds", "1", "--seconds", "0"]
    systems = ["--systems", "recursive_tf,tensorflow_by_hand"]
    file = tmp_path / "found.json"
    yardstick.main([*small, *systems, "--json", str(file)])
    printed = capsys.readouterr().out
    assert "| TensorFlow by hand | " in printed
    assert "treernn, parts of a step of ours, ms" in printed
    (training, inference) = json.loads(file.read_text())["rows"]
    assert {training["mode"], inference["mode"]} == {"training", "inference"}
    assert len(training["trees_per_s"]["recursive_tf"]) == 1


def test_a_system_that_is_not_known_is_an_error(capsys):
    with pytest.raises(SystemExit):
        yardstick.parse(["--systems", "recursive_tf,fold"])
    assert "there is no 'fold'; there are recursive_tf," in capsys.readouterr().err
