"""Runs a script, in this process or in one of its own, with flags of its own."""

import json

from absl import flags
from absl.testing import flagsaver

from models.running import script, settings
from recursive_tf.training import RunFolder, record
from tests.helpers.programs import Program

# The smallest run there is.
SMALL = {
    "limit_trees": 20,
    "epochs": 2,
    "batch_size": 10,
    "hidden": 6,
    "embedding": 6,
}


def run(task, *inputs, **chosen):
    """Runs a script with these flags."""
    settings.define_flags(task.generated, task.given)
    flags.FLAGS(["script"])
    with flagsaver.flagsaver(**chosen):
        script.main(task, ["script", *inputs])


def train(task, folder, **chosen):
    """Trains a small model into a folder."""
    run(task, checkpoint_dir=str(folder), **(SMALL | chosen))


def start(folder, chosen, *more, log="script.log", environment=None):
    """Starts training of the TreeLSTM into a folder, in a process of its own."""
    given = [f"--{name}={value}" for name, value in chosen.items()]
    arguments = [f"--checkpoint_dir={folder}", *given, *more]
    return Program("models.tree_lstm", arguments, folder / log, environment)


def result_of(capsys):
    """Returns what the last line says that was printed."""
    *_, last = capsys.readouterr().out.splitlines()
    return json.loads(last.removeprefix("result: "))


def figures(folder):
    """Returns what a record says but for times."""
    lines = record.read(RunFolder(folder).metrics)
    times = ("seconds", "trees_per_s")
    return [{k: v for k, v in line.items() if k not in times} for line in lines]


def one_line(error):
    """Returns what a script said when it ended."""
    text = str(error.value)
    assert "\n" not in text
    return text
