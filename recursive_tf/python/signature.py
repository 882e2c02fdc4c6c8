"""What a SubGraph takes and returns, known before its body is."""

from typing import Any

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError


def spec_of(tensor: Any) -> tf.TensorSpec:
    """Returns the dtype and static shape of a tensor."""
    return tf.TensorSpec(tensor.shape, tensor.dtype)


def format_spec(spec: tf.TensorSpec) -> str:
    """Returns a spec for a person to read.

    >>> format_spec(tf.TensorSpec([None, 150], tf.float32))
    'float32[?, 150]'
    """
    if spec.shape.rank is None:
        return f"{spec.dtype.name}[...]"
    dims = ", ".join("?" if d is None else str(d) for d in spec.shape.as_list())
    return f"{spec.dtype.name}[{dims}]"


def format_structure(structure: Any) -> str:
    """Returns a structure of specs for a person to read.

    >>> format_structure({"h": tf.TensorSpec([3]), "n": tf.TensorSpec([], tf.int32)})
    '{h: float32[3], n: int32[]}'
    """
    if isinstance(structure, tf.TensorSpec):
        return format_spec(structure)
    if isinstance(structure, dict):
        items = [f"{k}: {format_structure(v)}" for k, v in structure.items()]
        return "{" + ", ".join(items) + "}"
    if isinstance(structure, (tuple, list)):
        return "(" + ", ".join(format_structure(item) for item in structure) + ")"
    return repr(structure)


def source_line(structure: Any) -> str:
    """Returns Python code for a structure of specs, to paste into a program.

    >>> source_line((tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)))
    '(tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([], tf.int32))'
    """
    if isinstance(structure, tf.TensorSpec):
        shape = None if structure.shape.rank is None else structure.shape.as_list()
        return f"tf.TensorSpec({shape}, tf.{structure.dtype.name})"
    if isinstance(structure, dict):
        items = [f"{key!r}: {source_line(v)}" for key, v in structure.items()]
        return "{" + ", ".join(items) + "}"
    items = [source_line(item) for item in structure]
    if hasattr(structure, "_fields"):
        return f"{type(structure).__name__}({', '.join(items)})"
    if isinstance(structure, list):
        return f"[{', '.join(items)}]"
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def as_spec(value: Any, shape: Any = ()) -> tf.TensorSpec:
    """Returns the spec that a dtype and a shape, or a spec, stand for."""
    if isinstance(value, tf.TensorSpec):
        return value
    return tf.TensorSpec(shape, tf.as_dtype(value))


def as_declared(tensor: tf.Tensor, spec: tf.TensorSpec) -> tf.Tensor:
    """Returns `tensor`, with its shape checked when it runs if it is not known before.

    A body is built on what its inputs declare, so another shape would be folded away.
    """
    if _covers(spec.shape, tensor.shape):
        return tensor
    return tf.ensure_shape(tensor, spec.shape)


class Signature:
    """The inputs and outputs of one SubGraph, as far as they are known.

    Attributes:
        name: The SubGraph's.
        inputs: A structure of specs for each input.
        outputs: A structure of specs, or None if it is not known yet.
        guessed: `outputs` was taken from a sibling branch, not declared.
    """

    def __init__(self, name: str, output_signature: Any = None) -> None:
        self.name = name
        self.inputs: list[Any] = []
        self.outputs: Any = None
        self.guessed = False
        if output_signature is not None:
            self.outputs = tf.nest.map_structure(as_spec, output_signature)

    @property
    def flat_inputs(self) -> list[tf.TensorSpec]:
        """The specs of all inputs, in order."""
        return list(tf.nest.flatten(self.inputs))

    @property
    def flat_outputs(self) -> list[tf.TensorSpec]:
        """The specs of all outputs, in order."""
        return list(tf.nest.flatten(self.outputs))

    def flatten_arguments(self, args: tuple[Any, ...], *, mapped: bool) -> list[Any]:
        """Returns the tensors of a call's arguments, converted and checked.

        Args:
            args: One argument for each input, of the same structure.
            mapped: Each tensor has a dimension of rows in front.

        Raises:
            SubGraphError: If the number, structure, dtype or shape does not fit.
        """
        if len(args) != len(self.inputs):
            takes = format_structure(tuple(self.inputs))
            raise SubGraphError(
                f"SubGraph '{self.name}' takes {len(self.inputs)} input(s) {takes}, "
                f"but was called with {len(args)}."
            )
        tensors = []
        for i, (arg, structure) in enumerate(zip(args, self.inputs, strict=True)):
            specs = tf.nest.flatten(structure)
            leaves = zip(self._leaves(arg, structure, i), specs, strict=True)
            tensors += [self._convert(a, s, i, mapped=mapped) for a, s in leaves]
        return tensors

    def _leaves(self, arg: Any, structure: Any, index: int) -> list[Any]:
        if isinstance(structure, tf.TensorSpec):
            return [arg]  # Perhaps a list of numbers, which is one tensor.
        try:
            tf.nest.assert_same_structure(arg, structure)
        except (TypeError, ValueError) as error:
            raise SubGraphError(
                f"Input {index} of SubGraph '{self.name}' has the structure "
                f"{format_structure(structure)}, but the argument has another: {error}"
            ) from error
        return list(tf.nest.flatten(arg))

    def _convert(
        self, value: Any, spec: tf.TensorSpec, index: int, *, mapped: bool
    ) -> tf.Tensor:
        needed = spec
        if mapped:
            shape = tf.TensorShape([None]).concatenate(spec.shape)
            needed = tf.TensorSpec(shape, spec.dtype)
        try:
            tensor = tf.convert_to_tensor(value, dtype=spec.dtype)
        except (TypeError, ValueError) as error:
            raise SubGraphError(
                f"Input {index} of SubGraph '{self.name}' is {format_spec(needed)}, "
                f"but the argument is not: {error} Cast it before the call."
            ) from error
        if not needed.shape.is_compatible_with(tensor.shape):
            hint = " `.map` takes one row for each invocation." if mapped else ""
            raise SubGraphError(
                f"Input {index} of SubGraph '{self.name}' is {format_spec(needed)}, "
                f"but the argument is {format_spec(spec_of(tensor))}.{hint}"
            )
        return as_declared(tensor, needed)

    def check_outputs(self, observed: Any) -> None:
        """Takes the specs of the body's outputs, or checks them against earlier ones.

        Raises:
            SubGraphError: If calls before the definition assumed something else.
        """
        if self.outputs is None:
            self.outputs = observed
            return
        if not self._fits(observed):
            how = (
                "a call inside its body took from a sibling branch that it returns"
                if self.guessed
                else "its output_signature says"
            )
            raise SubGraphError(
                f"SubGraph '{self.name}' returns {format_structure(observed)}, but "
                f"{how} {format_structure(self.outputs)}. Change the body, or pass\n"
                f"    output_signature={source_line(observed)}"
            )
        self._refine_structure(observed)

    def _fits(self, observed: Any) -> bool:
        try:
            tf.nest.assert_same_structure(self.outputs, observed)
        except (TypeError, ValueError):
            return False
        pairs = zip(self.flat_outputs, tf.nest.flatten(observed), strict=True)
        return all(
            expected.dtype == seen.dtype and _covers(expected.shape, seen.shape)
            for expected, seen in pairs
        )

    def _refine_structure(self, observed: Any) -> None:
        """Keeps the promised shapes, which calls have used, in the body's structure."""
        self.outputs = tf.nest.pack_sequence_as(observed, self.flat_outputs)


def _covers(general: tf.TensorShape, special: tf.TensorShape) -> bool:
    """Says whether every tensor of shape `special` is one of shape `general`."""
    return bool(
        tf.TensorSpec(special, tf.float32).is_subtype_of(
            tf.TensorSpec(general, tf.float32)
        )
    )
