"""What a SubGraph takes and returns, known before its body is."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.tracing.specs import (
    as_declared,
    as_spec,
    covers,
    format_error,
    format_spec,
    format_structure,
    is_composite,
    is_tensor_spec,
    leaves_like,
    source_line,
    spec_of,
    tensor_parts,
    with_rows,
)


class Signature:
    """The inputs and outputs of one SubGraph, as far as they are known.

    What is flat has the tensors of composites, one by one.

    Attributes:
        name: The SubGraph's.
        inputs: A structure of specs for each input.
        names: What calls may call each input by; None of those without a name.
        outputs: A structure of specs, or None if it is not known yet.
        guessed: `outputs` was taken from a sibling branch, not declared.
    """

    def __init__(self, name: str, output_signature: Any = None) -> None:
        self.name = name
        self.inputs: list[Any] = []
        self.names: list[str | None] = []
        self.outputs: Any = None
        self.guessed = False
        if output_signature is not None:
            self.outputs = tf.nest.map_structure(as_spec, output_signature)

    @property
    def flat_inputs(self) -> list[tf.TensorSpec]:
        """The specs of all inputs, in order."""
        return tensor_parts(self.inputs)

    @property
    def flat_outputs(self) -> list[tf.TensorSpec]:
        """The specs of all outputs, in order."""
        return tensor_parts(self.outputs)

    def check_name(self, name: str | None) -> None:
        """Raises a SubGraphError if the next input cannot have this name."""
        if name is not None and name in self.names:
            raise SubGraphError(
                f"SubGraph '{self.name}' has two inputs with the name '{name}'. Give "
                "one of them another name."
            )

    def in_order(
        self, args: tuple[Any, ...], named: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Returns the arguments of a call, those by name in their places.

        Raises:
            SubGraphError: If there is no such name, or an argument is there already.
        """
        if not named:
            return args
        places = {name: place for place, name in enumerate(self.names) if name}
        for name in named:
            if name not in places:
                raise SubGraphError(
                    f"SubGraph '{self.name}' is called with {name}=, but has no input "
                    f"of this name; it has {sorted(places)}. Name an input where it is "
                    f'declared: `.input(tf.int32, name="{name}")`.'
                )
            if places[name] < len(args):
                raise SubGraphError(
                    f"SubGraph '{self.name}' is called with {name}= and with an "
                    f"argument at its place, {places[name]}. Leave out one of them."
                )
        left = self.names[len(args) :]
        missing = [
            place for place, name in enumerate(left, len(args)) if name not in named
        ]
        if missing:
            raise SubGraphError(
                f"SubGraph '{self.name}' is called without its input {missing[0]}, but "
                f"with {sorted(named)}. Pass an argument for each input."
            )
        return (*args, *(named[name] for name in left if name is not None))

    def flatten_arguments(self, args: tuple[Any, ...], *, mapped: bool) -> list[Any]:
        """Returns the tensors of a call's arguments, converted and checked.

        Args:
            args: One argument for each input, of the same structure.
            mapped: Each tensor has a dimension of rows in front.

        Raises:
            SubGraphError: If the number, structure, dtype or shape does not fit; if it
                is mapped and takes or returns what has no such dimension.
        """
        if mapped:
            self._structure_of_rows()
        if len(args) != len(self.inputs):
            takes = format_structure(tuple(self.inputs))
            raise SubGraphError(
                f"SubGraph '{self.name}' takes {len(self.inputs)} input(s) {takes}, "
                f"but was called with {len(args)}."
            )
        tensors = []
        for i, (arg, structure) in enumerate(zip(args, self.inputs, strict=True)):
            leaves = self._leaves(arg, structure, i)
            for leaf, spec in zip(leaves, tf.nest.flatten(structure), strict=True):
                needed = self._rows_of(spec) if mapped else spec
                tensors += self._convert(leaf, needed, i, mapped=mapped)
        return tensors

    def pack_outputs(self, tensors: Sequence[tf.Tensor], *, mapped: bool) -> Any:
        """Returns the structure of a call's results, which are flat."""
        outputs = self._structure_of_rows() if mapped else self.outputs
        return tf.nest.pack_sequence_as(outputs, tensors, expand_composites=True)

    def _structure_of_rows(self) -> Any:
        """Returns what a map returns, as far as it is known; of tensors, any specs."""
        return tf.nest.map_structure(
            lambda s: s if s is None or is_tensor_spec(s) else self._rows_of(s),
            self.outputs,
        )

    def _rows_of(self, spec: tf.TypeSpec) -> tf.TypeSpec:
        """Returns what a map takes or returns for a leaf.

        Raises:
            SubGraphError: If rows are not one more dimension of each of its tensors, as
                in a RaggedTensor, whose rows differ in size.
        """
        if is_tensor_spec(spec):
            return with_rows(spec)
        batch = getattr(spec, "_batch", None)
        rows = None if batch is None else batch(None)
        if rows is None or not _are_rows(rows, spec):
            raise SubGraphError(
                f"`.map` of SubGraph '{self.name}', which takes or returns "
                f"{format_spec(spec)}: its rows cannot be stacked. Map over the "
                "indices of rows and use the whole in the body, or take and return "
                "tensors or a tf.experimental.BatchableExtensionType of tensors."
            )
        return rows

    def _leaves(self, arg: Any, structure: Any, index: int) -> list[Any]:
        if isinstance(structure, tf.TypeSpec):
            return [arg]  # Perhaps a list of numbers, which is one tensor.
        try:
            return leaves_like(structure, arg)
        except (TypeError, ValueError) as error:
            raise SubGraphError(
                f"Input {index} of SubGraph '{self.name}' has the structure "
                f"{format_structure(structure)}, but the argument has another: {error}"
            ) from error

    def _convert(
        self, value: Any, needed: tf.TypeSpec, index: int, *, mapped: bool
    ) -> list[tf.Tensor]:
        """Returns the tensors of a leaf."""
        if not is_tensor_spec(needed):
            return self._convert_composite(value, needed, index)
        try:
            tensor = tf.convert_to_tensor(value, dtype=needed.dtype)
        except (TypeError, ValueError) as error:
            if is_composite(value):
                found = format_spec(spec_of(value))
                raise SubGraphError(
                    f"{self._takes(needed, index)}, but the argument is {found}. "
                    "Declare an input of that spec, or convert the argument to a "
                    "tensor."
                ) from error
            raise SubGraphError(
                f"{self._takes(needed, index)}, but the argument is not: "
                f"{format_error(error)} Cast it before the call."
            ) from error
        if not needed.shape.is_compatible_with(tensor.shape):
            hint = " `.map` takes one row for each invocation." if mapped else ""
            found = format_spec(spec_of(tensor))
            raise SubGraphError(
                f"{self._takes(needed, index)}, but the argument is {found}.{hint}"
            )
        return [as_declared(tensor, needed)]

    def _convert_composite(
        self, value: Any, needed: tf.TypeSpec, index: int
    ) -> list[tf.Tensor]:
        if not is_composite(value) or not needed.is_compatible_with(value):
            known = is_composite(value) or tf.is_tensor(value)
            found = format_spec(spec_of(value)) if known else repr(value)
            raise SubGraphError(
                f"{self._takes(needed, index)}, but the argument is {found}."
            )
        pairs = zip(tensor_parts(value), tensor_parts(needed), strict=True)
        return [as_declared(tensor, spec) for tensor, spec in pairs]

    def _takes(self, needed: tf.TypeSpec, index: int) -> str:
        return f"Input {index} of SubGraph '{self.name}' is {format_spec(needed)}"

    def guess_outputs(self, shown: Any) -> None:
        """Takes the specs of what a sibling branch returns."""
        self.outputs = tf.nest.map_structure(_promise_of, shown)
        self.guessed = True

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
        leaves = tf.nest.flatten(self.outputs), tf.nest.flatten(observed)
        return all(itertools.starmap(_is_special, zip(*leaves, strict=True)))

    def _refine_structure(self, observed: Any) -> None:
        """Keeps the promised shapes, which calls have used, in the body's structure."""
        leaves = tf.nest.flatten(self.outputs)
        self.outputs = tf.nest.pack_sequence_as(observed, leaves)


def _are_rows(rows: tf.TypeSpec, spec: tf.TypeSpec) -> bool:
    """Says whether `rows` consists of what `spec` does, with a dimension in front."""
    return list(map(spec_of, tensor_parts(rows))) == list(
        map(with_rows, tensor_parts(spec))
    )


def _promise_of(spec: tf.TypeSpec) -> tf.TypeSpec:
    """Returns what another branch may be expected to return if one returns `spec`."""
    if isinstance(spec, tf.SparseTensorSpec) and spec.shape.rank is not None:
        # What is known of its shape is lost in any op on it.
        return tf.SparseTensorSpec([None] * spec.shape.rank, spec.dtype)
    return spec


def _is_special(spec: tf.TypeSpec, seen: tf.TypeSpec) -> bool:
    """Says whether every value of spec `seen` is one of `spec`."""
    if is_tensor_spec(spec) and is_tensor_spec(seen):
        return bool(spec.dtype == seen.dtype and covers(spec.shape, seen.shape))
    return bool(seen.is_subtype_of(spec))
