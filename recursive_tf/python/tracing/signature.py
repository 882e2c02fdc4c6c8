"""What a SubGraph takes and returns, known before its body is.

A leaf of a structure is a tensor or a composite: a RaggedTensor, SparseTensor, an
extension type. To calls, a composite is the tensors that it consists of.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.python.errors import SubGraphError

# Names of specs that `repr` writes without their module.
_BARE_NAMES = re.compile(
    r"(?<![\w.])(?=(IndexedSlices|RaggedTensor|SparseTensor|Tensor)(Spec|Shape)\()"
)


_NONE_SPEC = tf.type_spec_from_value(None)
_NO_TENSOR_ARRAY = (
    "A SubGraph takes and returns no tf.TensorArray. Use what its .stack() returns."
)


def is_composite(value: Any) -> bool:
    """Says whether a value consists of tensors, and is none itself."""
    # A variable does too, of its handle; here it stands for its value.
    is_variable = isinstance(value, tf.Variable)
    return isinstance(value, tf.__internal__.CompositeTensor) and not is_variable


def spec_of(value: Any) -> tf.TypeSpec:
    """Returns the dtype and static shape of a tensor, or the spec of a composite.

    None has a spec too: that of a composite of no tensors.
    """
    if value is None or is_composite(value):
        return tf.type_spec_from_value(value)
    return tf.TensorSpec(value.shape, value.dtype)


def as_output(leaf: Any) -> Any:
    """Returns a tensor or composite that is a body's own, for what it outputs.

    Raises:
        SubGraphError: If that is neither, nor None.
    """
    if leaf is None:
        return None
    if is_composite(leaf):
        return tf.nest.map_structure(tf.identity, leaf, expand_composites=True)
    if isinstance(leaf, tf.TensorArray):
        raise SubGraphError(_NO_TENSOR_ARRAY)
    return tf.identity(tf.convert_to_tensor(leaf))


def flat_tensors(structure: Any) -> list[tf.Tensor]:
    """Returns the tensors of a structure, those of composites one by one."""
    flat = tf.nest.flatten(structure)
    leaves = [v if is_composite(v) else tf.convert_to_tensor(v) for v in flat]
    return _parts(leaves)


def output_tensors(structure: Any) -> list[tf.Tensor]:
    """Returns the tensors of what a body outputs, in which None has none."""
    return [tensor for tensor in _parts(structure) if tensor is not None]


def with_rows(spec: tf.TensorSpec, count: int | None = None) -> tf.TensorSpec:
    """Returns what a map takes or returns: `count` rows like `spec`, or any number."""
    shape = tf.TensorShape([count]).concatenate(spec.shape)
    return tf.TensorSpec(shape, spec.dtype)


def count_of_rows(tensors: Sequence[tf.Tensor]) -> int | None:
    """Returns how many rows the arguments of a map have, if that is known."""
    counts = (t.shape[0] for t in tensors if t.shape.rank)
    return next((count for count in counts if count is not None), None)


def leaves_like(specs: Any, value: Any) -> list[Any]:
    """Returns what stands in a structure for each spec of another, e.g. a list.

    Raises:
        TypeError: If the structures differ.
        ValueError: The same.
    """
    try:
        tf.nest.assert_same_structure(specs, value)
        return list(tf.nest.flatten(value))
    except (TypeError, ValueError) as error:
        if isinstance(value, (tf.Tensor, tf.Variable)):
            raise
        try:
            return list(tf.__internal__.nest.flatten_up_to(specs, value))
        except (TypeError, ValueError):
            raise error from None


def format_spec(spec: tf.TypeSpec) -> str:
    """Returns a spec for a person to read.

    >>> format_spec(tf.TensorSpec([None, 150], tf.float32))
    'float32[?, 150]'
    """
    if spec == _NONE_SPEC:
        return "None"
    if not _is_tensor(spec):
        return repr(spec)
    if spec.shape.rank is None:
        return f"{spec.dtype.name}[...]"
    dims = ", ".join("?" if d is None else str(d) for d in spec.shape.as_list())
    return f"{spec.dtype.name}[{dims}]"


def format_structure(structure: Any) -> str:
    """Returns a structure of specs for a person to read.

    >>> format_structure({"h": tf.TensorSpec([3]), "n": tf.TensorSpec([], tf.int32)})
    '{h: float32[3], n: int32[]}'
    """
    if isinstance(structure, tf.TypeSpec):
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
    if _is_tensor(structure):
        shape = None if structure.shape.rank is None else structure.shape.as_list()
        return f"tf.TensorSpec({shape}, tf.{structure.dtype.name})"
    if structure == _NONE_SPEC:
        return "type(None)"
    if isinstance(structure, dict):
        items = [f"{key!r}: {source_line(v)}" for key, v in structure.items()]
        return "{" + ", ".join(items) + "}"
    if not isinstance(structure, (tuple, list)):
        return _BARE_NAMES.sub("tf.", repr(structure))
    items = [source_line(item) for item in structure]
    if hasattr(structure, "_fields"):
        return f"{type(structure).__name__}({', '.join(items)})"
    if isinstance(structure, list):
        return f"[{', '.join(items)}]"
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def as_spec(value: Any, shape: Any = ()) -> tf.TypeSpec:
    """Returns the spec that a dtype and a shape, a spec, or None's type stand for.

    Raises:
        SubGraphError: If no input or output can be of it.
    """
    if value is None or value is type(None):
        return _NONE_SPEC
    if isinstance(value, tf.TensorArraySpec):
        raise SubGraphError(_NO_TENSOR_ARRAY)
    if isinstance(value, tf.TypeSpec):
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

    What is flat has the tensors of composites, one by one.

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
        return _parts(self.inputs)

    @property
    def flat_outputs(self) -> list[tf.TensorSpec]:
        """The specs of all outputs, in order."""
        return _parts(self.outputs)

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
            lambda s: s if s is None or _is_tensor(s) else self._rows_of(s),
            self.outputs,
        )

    def _rows_of(self, spec: tf.TypeSpec) -> tf.TypeSpec:
        """Returns what a map takes or returns for a leaf.

        Raises:
            SubGraphError: If rows are not one more dimension of each of its tensors, as
                in a RaggedTensor, whose rows differ in size.
        """
        if _is_tensor(spec):
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
        if not _is_tensor(needed):
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
                f"{self._takes(needed, index)}, but the argument is not: {error} Cast "
                "it before the call."
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
        pairs = zip(_parts(value), _parts(needed), strict=True)
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


def _is_tensor(spec: Any) -> bool:
    return isinstance(spec, tf.TensorSpec)


def _parts(structure: Any) -> list[Any]:
    return list(tf.nest.flatten(structure, expand_composites=True))


def _are_rows(rows: tf.TypeSpec, spec: tf.TypeSpec) -> bool:
    """Says whether `rows` consists of what `spec` does, with a dimension in front."""
    return list(map(spec_of, _parts(rows))) == list(map(with_rows, _parts(spec)))


def _promise_of(spec: tf.TypeSpec) -> tf.TypeSpec:
    """Returns what another branch may be expected to return if one returns `spec`."""
    if isinstance(spec, tf.SparseTensorSpec) and spec.shape.rank is not None:
        # What is known of its shape is lost in any op on it.
        return tf.SparseTensorSpec([None] * spec.shape.rank, spec.dtype)
    return spec


def _is_special(spec: tf.TypeSpec, seen: tf.TypeSpec) -> bool:
    """Says whether every value of spec `seen` is one of `spec`."""
    if _is_tensor(spec) and _is_tensor(seen):
        return bool(spec.dtype == seen.dtype and _covers(spec.shape, seen.shape))
    return bool(seen.is_subtype_of(spec))


def _covers(general: tf.TensorShape, special: tf.TensorShape) -> bool:
    """Says whether every tensor of shape `special` is one of shape `general`."""
    return bool(
        tf.TensorSpec(special, tf.float32).is_subtype_of(
            tf.TensorSpec(general, tf.float32)
        )
    )
