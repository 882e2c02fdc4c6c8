"""The examples, and what their README says of them."""

import contextlib
import importlib.util
import pathlib
import re
import types
from collections.abc import Iterator

import tensorflow as tf

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
ROW = re.compile(r"^\| \[(\w+)\.py\].* (\w+) \|$", re.M)


def executors_in_table() -> dict[str, str]:
    """Returns what the table of examples/README.md says, by example."""
    return dict(ROW.findall((EXAMPLES / "README.md").read_text()))


def load(name: str) -> types.ModuleType:
    """Imports an example anew, so that its SubGraphs are traced anew."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def run_as_plain_python() -> Iterator[None]:
    """Makes decorated functions call themselves as Python functions do."""
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)
