"""Files that hold a value as JSON, as its `config` gives it."""

import json
import os
import pathlib
import uuid
from collections.abc import Mapping
from typing import Any


def read_config(path: str | os.PathLike[str], what: str, key: str) -> dict[str, Any]:
    """Returns what a file holds.

    Args:
        path: Of the file.
        what: The value that is expected there, e.g. "learned policy".
        key: What the object of each such value has, and those of others do not have.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it holds no object of JSON, or another one.
    """
    text = pathlib.Path(path).read_text("utf-8")
    try:
        config = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"{path} holds no {what}: it is not JSON ({error})."
        ) from error
    if not isinstance(config, dict) or key not in config:
        raise ValueError(
            f"{path} holds no {what}, but {type(config).__name__} {config!r:.40}. Give "
            "the file that `save` wrote."
        )
    return config


def write_config(path: str | os.PathLike[str], config: Mapping[str, Any]) -> None:
    """Writes a file whole or not at all: the one before stays until it is there.

    Args:
        path: Of the file.
        config: What JSON has.

    Raises:
        OSError: If the file cannot be written.
    """
    path = pathlib.Path(path)
    text = json.dumps(config)
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with beside.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
