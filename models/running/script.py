"""The modes of a script: what it does with a model."""

import dataclasses
import functools
import json
import pathlib
import sys
from collections.abc import Sequence
from logging import Formatter
from typing import Any

import keras
from absl import app, flags, logging

import recursive_tf as rtf
from models.running import settings as all_settings
from models.running.held_out import HELD_OUT, read
from models.running.settings import Settings
from models.running.splits import SPLITS
from models.running.start import existing_run, settings_of, start
from models.running.task import Task
from recursive_tf.training import RunError, RunFolder, replaced, writing

_MODE = flags.DEFINE_enum(
    "mode",
    "train",
    ["train", "evaluate", "predict", "export"],
    "train: train a model. evaluate: print the metrics of a split, as JSON. predict: "
    "print what the model says of each argument, or of each line of the standard "
    "input. export: write a SavedModel.",
)
_SPLIT = flags.DEFINE_enum(
    "split",
    "dev",
    [*SPLITS, HELD_OUT],
    "To evaluate. held_out: the training trees that --hold_out kept from the run.",
)
_SVG = flags.DEFINE_string("svg", None, "Where to draw the trees of --mode=predict.")
_EXPORT_DIR = flags.DEFINE_string(
    "export_dir", None, "Folder of the SavedModel. [<checkpoint_dir>/saved_model]"
)


def run(task: Task) -> None:
    """Runs a script for a model."""
    all_settings.define_flags(task.generated, task.given)
    show_flags()
    app.run(functools.partial(main, task))


def show_flags() -> None:
    """Lets --help list the flags of these modules: absl lists those of the script."""
    for module, found in flags.FLAGS.flags_by_module_dict().items():
        if module.startswith("models."):
            for flag in found:
                flags.FLAGS.register_key_flag_for_module(sys.argv[0], flag)


def main(task: Task, arguments: Sequence[str]) -> None:
    """Does what the flags say.

    Args:
        task: The model.
        arguments: The command line without flags.
    """
    logging.set_verbosity(logging.WARNING)  # The screen is the progress bar's.
    logging.get_absl_handler().setFormatter(Formatter())  # Without times and files.
    inputs = arguments[1:]
    if inputs and _MODE.value != "predict":
        raise app.UsageError(f"Unexpected arguments: {inputs}")
    try:
        if _MODE.value == "train":
            start(task)
        elif _MODE.value == "predict":
            _predict(task, inputs or _typed())
        else:
            {"evaluate": _evaluate, "export": _export}[_MODE.value](task)
    except rtf.data.ReadError as error:
        sys.exit(f"{_flag_of(error)}{error}")
    except (rtf.data.ForestError, rtf.distribute.ClusterError, RunError) as error:
        sys.exit(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        sys.exit(f"{error.filename}: {error.strerror}.")
    except KeyboardInterrupt:
        sys.exit("Stopped.")


def _flag_of(error: rtf.data.ReadError) -> str:
    """Returns which flag names the file that cannot be read, if one does."""
    for name in ("data", "vectors", "labeler"):
        given = flags.FLAGS[name].value if name in flags.FLAGS else None
        if given is not None and error.path.is_relative_to(given):
            return f"--{name}: "
    return ""


def _typed() -> Sequence[str]:
    try:
        return sys.stdin.read().splitlines()
    except UnicodeDecodeError as error:
        raise RunError(f"The standard input is no {error.encoding}: {error}.") from None


def _load(task: Task) -> tuple[Settings, keras.Model, Any, RunFolder]:
    """Returns the settings, with what the flags say, and the best epoch's model."""
    run_folder = existing_run()
    if not run_folder.best.exists():
        sys.exit(f"The run in {run_folder.path} has finished no epoch yet.")
    given = all_settings.given_flags(type(task.given))
    settings = dataclasses.replace(settings_of(task, run_folder), **given)
    keras.utils.set_random_seed(settings.seed)
    model = run_folder.load_best()
    return settings, model, run_folder.load_words(), run_folder


def _evaluate(task: Task) -> None:
    settings, model, words, run_folder = _load(task)
    trees = rtf.data.encode(read(task, settings, _SPLIT.value), tokens=words)
    task.check(model, trees, _SPLIT.value)
    batches = rtf.data.batches(trees, rtf.training.EVALUATION_BATCH)
    found = model.evaluate(batches, return_dict=True, verbose=0)
    found = {name: round(float(value), 6) for name, value in found.items()}
    about = {"split": _SPLIT.value, "trees": len(trees)}
    print(json.dumps(found | about | task.about(model, trees, run_folder)))


def _predict(task: Task, inputs: Sequence[str]) -> None:
    if not any(line.strip() for line in inputs):
        sys.exit("Nothing to predict: give arguments, or lines of the standard input.")
    _, model, words, _ = _load(task)
    trees = task.predict(model, words, inputs)
    if _SVG.value is not None:
        _draw(trees, pathlib.Path(_SVG.value))


def _draw(trees: rtf.data.Forest, path: pathlib.Path) -> None:
    """Writes a picture of each tree; of several, with numbers."""
    for number, tree in enumerate(trees, start=1):
        name = path.name if len(trees) == 1 else f"{path.stem}-{number}{path.suffix}"
        with replaced(path.with_name(name)) as new:
            new.write_text(tree.to_svg(), encoding="utf-8")


def _export(task: Task) -> None:
    settings, model, words, run_folder = _load(task)
    settings = dataclasses.replace(settings, limit_trees=1)
    like = rtf.data.encode(task.read(settings, "dev"), tokens=words)
    folder = pathlib.Path(_EXPORT_DIR.value or run_folder.path / "saved_model")
    with writing(folder):
        rtf.layers.export(model, folder, like=like)
    print(f"{folder}: a SavedModel. Its words are in {run_folder.words}.")
