"""What decides how a run goes: fields of a dataclass, each a flag of the same name."""

import dataclasses
import json
import math
import pathlib
from collections.abc import Sequence
from typing import Any, TypeVar

from absl import flags

import recursive_tf as rtf
from recursive_tf.training import RunError, replaced

EXECUTORS = ("auto", "batched", "dataflow")


def setting(
    kind: type,
    text: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Sequence[str] = (),
    **default: Any,
) -> Any:
    """Returns a field of settings, and what its flag needs to know.

    Args:
        kind: int, float, bool or str.
        text: What it is, for `--help`.
        minimum: The least value, of a number.
        maximum: The greatest value, of a number.
        choices: All values, of a str.
        **default: `default=`, as of `dataclasses.field`; without it, the two
            instances that a script has say it.
    """
    about = {"kind": kind, "text": text, "minimum": minimum, "maximum": maximum}
    return dataclasses.field(metadata={**about, "choices": choices}, **default)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """What every model has; a model's own are added by a subclass."""

    epochs: int = setting(int, "Passes over the training trees.", minimum=1)
    batch_size: int = setting(int, "Trees a step, of all workers.", minimum=1)
    learning_rate: float = setting(float, "Of AdaGrad.", minimum=0)
    hidden: int = setting(int, "Length of a node's h.", minimum=1)
    data: str | None = setting(
        str, "Folder with the data. Without it, data is generated.", default=None
    )
    limit_trees: int | None = setting(
        int,
        "Use only the first trees of each split. Words and labels are those of all "
        "training trees.",
        minimum=1,
        default=None,
    )
    seed: int = setting(
        int,
        "Of weights, order, dropout, generated data.",
        minimum=0,
        maximum=2**32 - 1,
        default=0,
    )
    hold_out: float = setting(
        float,
        "Share of the training trees that is not learned from, and takes the place of "
        "the development split: it decides which epoch's model is kept. Which trees "
        "these are follows from their words.",
        minimum=0,
        maximum=1,
        default=0.0,
    )
    checkpoint_every: int = setting(
        int,
        "Steps from one checkpoint to the next within an epoch. There is one at the "
        "end of each epoch, too.",
        minimum=1,
        default=200,
    )
    executor: str = setting(
        str, "What runs the recursion.", choices=EXECUTORS, default="auto"
    )
    strategy: str = setting(
        str,
        "Who shares the trees of a step. mirrored: devices of this machine. "
        "multi_worker: processes. parameter_server: processes, each of which takes "
        "steps of its own. Processes are those of TF_CONFIG or of Slurm, or are "
        "started here.",
        choices=rtf.distribute.STRATEGIES,
        default="none",
    )
    num_workers: int = setting(
        int, "Devices, or processes that are started here.", minimum=1, default=2
    )


Chosen = TypeVar("Chosen", bound=Settings)


def define_flags(generated: Settings, given: Settings) -> None:
    """Defines a flag for each setting, which shows both defaults.

    Args:
        generated: The defaults for data that is generated.
        given: The defaults with `--data`.
    """
    for field in dataclasses.fields(given):
        first, second = (getattr(base, field.name) for base in (generated, given))
        both = f"{first}" if first == second else f"{first}; with --data: {second}"
        text = f"{field.metadata['text']} [{both}]"
        _define(field.name, text, field.metadata)


def _define(name: str, text: str, about: Any) -> None:
    if name in flags.FLAGS:
        return  # By another script, in the same process.
    kind = about["kind"]
    bounds = {"lower_bound": about["minimum"], "upper_bound": about["maximum"]}
    if about["choices"]:
        flags.DEFINE_enum(name, None, list(about["choices"]), text)
    elif kind is int:
        flags.DEFINE_integer(name, None, text, **bounds)
    elif kind is float:
        flags.DEFINE_float(name, None, text, **bounds)
        flags.register_validator(
            name,
            lambda value: value is None or math.isfinite(value),
            message="expected a finite number.",
        )
    elif kind is bool:
        flags.DEFINE_boolean(name, None, text)
    else:
        flags.DEFINE_string(name, None, text)


def given_flags(kind: type[Settings]) -> dict[str, Any]:
    """Returns the settings that the command line has."""
    names = [field.name for field in dataclasses.fields(kind)]
    given = {name: flags.FLAGS[name].value for name in names}
    return {name: value for name, value in given.items() if value is not None}


def save(settings: Settings, path: pathlib.Path) -> None:
    """Writes settings as JSON."""
    with replaced(path) as new:
        new.write_text(json.dumps(dataclasses.asdict(settings), indent=2) + "\n")


def load(kind: type[Chosen], path: pathlib.Path) -> Chosen:
    """Reads what `save` wrote.

    Raises:
        RunError: If the file is damaged, or of another model.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RunError.damaged(path, error) from None
    if not isinstance(found, dict):
        raise RunError.damaged(path, "it has no settings")
    fields = {field.name: field for field in dataclasses.fields(kind)}
    others = found.keys() - fields.keys()
    needed = {n for n, f in fields.items() if f.default is dataclasses.MISSING}
    if others or needed - found.keys():
        raise RunError(
            f"{path} is of another model: it has {sorted(others)} besides, and lacks "
            f"{sorted(needed - found.keys())}. Run the script that wrote it."
        )
    for name, value in found.items():
        if not _fits(value, fields[name]):
            raise RunError.damaged(path, f"{name} is {value!r:.40}")
    return kind(**found)


def _fits(value: Any, field: Any) -> bool:
    about = field.metadata
    if value is None:
        return field.default is None
    if about["kind"] in (int, float) and not isinstance(value, bool):
        least, most = about["minimum"], about["maximum"]
        return (
            isinstance(value, (int, about["kind"]))
            and (least is None or value >= least)
            and (most is None or value <= most)
        )
    is_choice = not about["choices"] or value in about["choices"]
    return isinstance(value, about["kind"]) and is_choice
