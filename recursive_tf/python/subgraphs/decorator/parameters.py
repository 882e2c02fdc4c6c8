"""What a decorated function takes."""

import collections
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.subgraphs.decorator.annotations import annotated_specs
from recursive_tf.python.subgraphs.decorator.arguments import Arguments
from recursive_tf.python.subgraphs.decorator.pattern import Key, Pattern
from recursive_tf.python.subgraphs.decorator.static_value import StaticValue
from recursive_tf.python.tracing.specs import (
    as_spec,
    format_error,
    format_spec,
    format_structure,
    is_composite,
    leaves_like,
    spec_of,
    with_rows,
)

# What the decorated function itself takes.
RESERVED = "with_pushed"
_NUMBERS = (int, float, complex, np.ndarray, np.generic)
_NUMBERS_AND_TEXTS = (*_NUMBERS, str, bytes)
Leaf = tuple[Key, Any]


class Parameters:
    """The parameters of a Python function, and how a call's arguments fill them.

    Args:
        function: The function.
        name: Of the SubGraph, for errors.

    Attributes:
        specs: What annotations say, by parameter.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._signature = inspect.signature(function)
        self._name = name
        self.specs = annotated_specs(function, name)
        if RESERVED in self._signature.parameters:
            raise SubGraphError(
                f"SubGraph '{name}' has a parameter '{RESERVED}', but root calls take "
                "an argument of that name. Rename the parameter."
            )

    def signature(self, *, left_out: int = 0) -> inspect.Signature:
        """Returns the signature without its first parameters."""
        rest = list(self._signature.parameters.values())[left_out:]
        return self._signature.replace(parameters=rest)

    def split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], *, mapped: bool = False
    ) -> Arguments:
        """Takes the arguments of a call apart.

        Args:
            args: By position.
            kwargs: By name.
            mapped: Each tensor has a dimension of rows in front.

        Raises:
            SubGraphError: If they are not what the function takes.
        """
        structure: list[Any] = []
        leaves: list[Leaf] = []
        for name, value in self._bind(args, kwargs).items():
            specs = self._specs_of(name, value)
            if specs is None:
                value = _with_tensors(value, self._what(name), mapped=mapped)
            like = value if specs is None else specs
            structure.append(tf.nest.map_structure(lambda _: None, like))
            leaves += self._leaves(name, value, specs, mapped=mapped)
        keys = [key for key, _ in leaves]
        return Arguments(Pattern(structure, keys), [value for _, value in leaves])

    def call(self, function: Callable[..., Any], values: list[Any]) -> Any:
        """Calls the function with a value for each parameter."""
        named = dict(zip(self._signature.parameters, values, strict=True))
        bound = inspect.BoundArguments(self._signature, named)
        return function(*bound.args, **bound.kwargs)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            takes = _without_annotations(self._signature)
            raise SubGraphError(
                f"SubGraph '{self._name}' takes {takes}: {error}."
            ) from error
        bound.apply_defaults()
        return bound.arguments

    def _specs_of(self, name: str, value: Any) -> Any:
        """Returns what annotations say of the value of a parameter."""
        specs = self.specs.get(name)
        kind = self._signature.parameters[name].kind
        if specs is not None and kind is inspect.Parameter.VAR_POSITIONAL:
            return (specs,) * len(value)
        if specs is not None and kind is inspect.Parameter.VAR_KEYWORD:
            return dict.fromkeys(value, specs)
        return specs

    def _what(self, name: str) -> str:
        return f"Argument '{name}' of SubGraph '{self._name}'"

    def _leaves(self, name: str, value: Any, specs: Any, *, mapped: bool) -> list[Leaf]:
        what = self._what(name)
        if specs is None:
            flat = tf.nest.flatten(value)
            return [_leaf(leaf, what, mapped=mapped) for leaf in flat]
        if isinstance(specs, tf.TypeSpec):
            return [_declared(value, specs, what, mapped=mapped)]
        try:
            leaves = leaves_like(specs, value)
        except (TypeError, ValueError) as error:
            raise SubGraphError(
                f"{what} has the structure {format_structure(specs)} by its "
                f"annotation, but another in this call: {error}"
            ) from error
        pairs = zip(leaves, tf.nest.flatten(specs), strict=True)
        return [_declared(leaf, spec, what, mapped=mapped) for leaf, spec in pairs]


def _without_annotations(signature: inspect.Signature) -> inspect.Signature:
    empty = inspect.Parameter.empty
    bare = [p.replace(annotation=empty) for p in signature.parameters.values()]
    return signature.replace(parameters=bare, return_annotation=empty)


def _with_tensors(value: Any, what: str, *, mapped: bool) -> Any:
    """Makes a tensor of each list of numbers: it is no structure of scalars.

    So does a map of each list of texts, which are its rows.
    """
    kinds = _NUMBERS_AND_TEXTS if mapped else _NUMBERS
    if isinstance(value, list) and value and _consists_of(kinds, value):
        return _as_tensor(value, what)
    convert = functools.partial(_with_tensors, what=what, mapped=mapped)
    if type(value) in (dict, collections.OrderedDict):
        return type(value)((key, convert(v)) for key, v in value.items())
    if type(value) in (list, tuple):
        return type(value)(map(convert, value))
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(convert, value))
    return value


def _consists_of(kinds: tuple[type, ...], value: list[Any]) -> bool:
    return all(
        _consists_of(kinds, item) if isinstance(item, list) else isinstance(item, kinds)
        for item in value
    )


def _as_tensor(value: list[Any], what: str) -> tf.Tensor:
    try:
        return tf.convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise SubGraphError(
            f"{what} is a list that is not a tensor: {error} Pad its lists to one "
            "length. Or make a tf.ragged.constant of it: calls take one, maps do not."
        ) from error


def _is_tensor_like(value: Any, *, mapped: bool) -> bool:
    if isinstance(value, _NUMBERS):
        return not isinstance(value, bool)  # A flag, which Python looks at.
    if hasattr(value, "assign"):
        # Variables are used where they are, and are not passed; but a map takes rows.
        return mapped and (tf.is_tensor(value) or hasattr(value, "__tf_tensor__"))
    return hasattr(value, "__tf_tensor__")


def _leaf(value: Any, what: str, *, mapped: bool) -> Leaf:
    if isinstance(value, tf.TypeSpec):
        return value, value  # It stands for a value of that spec.
    if _is_tensor_like(value, mapped=mapped):
        value = tf.convert_to_tensor(value)
    if isinstance(value, tf.TensorArray):
        as_spec(tf.type_spec_from_value(value))  # Refuses it.
    if is_composite(value) or isinstance(value, tf.Tensor):
        spec = spec_of(value)
        return (_of_one_row(spec, what) if mapped else spec), value
    return StaticValue(value), value


def _declared(value: Any, spec: tf.TypeSpec, what: str, *, mapped: bool) -> Leaf:
    """Returns the leaf that an annotation describes."""
    if not isinstance(spec, tf.TensorSpec) or isinstance(value, tf.TypeSpec):
        return spec, value
    needed = with_rows(spec) if mapped else spec
    says = f"{what} is {format_spec(needed)} by its annotation, but in this call"
    try:
        tensor = tf.convert_to_tensor(value, dtype=spec.dtype)
    except (TypeError, ValueError) as error:
        raise SubGraphError(
            f"{says} it is not: {format_error(error)} Cast it."
        ) from error
    if not needed.shape.is_compatible_with(tensor.shape):
        hint = " A scalar has no rows." if mapped and tensor.shape.rank == 0 else ""
        raise SubGraphError(f"{says} {format_spec(spec_of(tensor))}.{hint}")
    return spec, tensor


def _of_one_row(spec: tf.TypeSpec, what: str) -> tf.TypeSpec:
    if not isinstance(spec, tf.TensorSpec):
        # What has no rows that are like each other is refused where it is mapped.
        unbatch = getattr(spec, "_unbatch", None)
        return spec if unbatch is None else unbatch()
    if spec.shape.rank == 0:
        raise SubGraphError(
            f"{what} is a scalar, but a map takes rows: a tensor with a dimension in "
            "front, one row for each invocation. Do not pass what all rows share: use "
            "it in the body."
        )
    return tf.TensorSpec(spec.shape[1:], spec.dtype)
