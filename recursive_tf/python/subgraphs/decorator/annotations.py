"""Annotations of a Python function that say what a SubGraph takes and returns."""

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.tracing.specs import as_spec, spec_of

RETURN = "return"


def annotated_specs(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Returns structures of specs, by parameter, or "return".

    An annotation counts if it consists of specs and dtypes, e.g. `tf.TensorSpec([3])`,
    `(tf.int32, tf.TensorSpec([3]))`; a dtype is a scalar. So does that it returns None.
    Others are for other readers.

    Raises:
        SubGraphError: If one that is a text cannot be read.
    """
    found = {}
    for parameter, annotation in inspect.get_annotations(function).items():
        if isinstance(annotation, str):
            annotation = _evaluate(annotation, function, name)
        if annotation is None and parameter == RETURN:
            annotation = spec_of(None)
        if _is_of_specs(annotation):
            found[parameter] = tf.nest.map_structure(as_spec, annotation)
    return found


def _is_of_specs(annotation: Any) -> bool:
    leaves = tf.nest.flatten(annotation)
    return bool(leaves) and all(
        isinstance(leaf, (tf.TypeSpec, tf.DType)) for leaf in leaves
    )


def _evaluate(text: str, function: Callable[..., Any], name: str) -> Any:
    """Evaluates what `from __future__ import annotations` made a text of."""
    plain = inspect.unwrap(function)
    try:
        return eval(text, getattr(plain, "__globals__", {}), _enclosed(plain))
    except Exception as error:
        if "Spec" not in text:
            return ""  # Something for a type checker.
        raise SubGraphError(
            f"The annotation {text!r} of SubGraph '{name}' cannot be read: {error!r}. "
            "Its names must be those of the module, or be used in the body too."
        ) from error


def _enclosed(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns the variables of functions around it that a function uses."""
    function = getattr(function, "__func__", function)
    code, cells = getattr(function, "__code__", None), function.__closure__ or ()
    found = {}
    for variable, cell in zip(getattr(code, "co_freevars", ()), cells, strict=True):
        with contextlib.suppress(ValueError):  # Its own name has no value yet.
            found[variable] = cell.cell_contents
    return found
