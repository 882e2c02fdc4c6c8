"""What a root op carries, whichever executor it is for."""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.batching.compilation import Compilation
from recursive_tf.python.tf_compat import AtomicFunction, FuncGraph
from recursive_tf.python.tracing.specs import count_of_rows, with_rows

# The types of root ops, by executor.
DATAFLOW = "RecursiveInvoke"
BATCHED = "RecursiveInvokeBatched"
BATCHED_GRADIENT = "RecursiveInvokeBatchedGradient"
ROOT_OPS = (DATAFLOW, BATCHED)
# Of a RecursiveInvoke op: why its program is not batched. It is saved with the op.
REASONS_ATTRIBUTE = "_not_batched"
# An attribute of a RecursiveInvokeBatched op: the executor that the user asked for by
# name, if there is one. Saved models have it.
_ASKED_FOR_ATTRIBUTE = "_insisted"
# Of tests, which must know what executor a program really runs in.
_observers: list[list[str]] = []


@dataclasses.dataclass(frozen=True)
class Carried:
    """A closed program as the attributes of a root op.

    Attributes:
        procedures: Each takes a handle, its arguments, and captures.
        names: Of the SubGraphs.
        captures: Which captures of the program each procedure takes.
        outputs: Of one invocation.
        pushes: The name of each table.
        rows: What is pushed to each table.
        mapped: Whether each argument has rows in front.
        max_depth: See `rtf.Options`; 0 is no limit.
        max_activations: The same.
        max_bytes: The same; -1 is "auto".
        schedule: The teams that operations run on; empty for TensorFlow's threads.
    """

    procedures: list[AtomicFunction]
    names: list[str]
    captures: list[list[int]]
    outputs: list[tf.TensorSpec]
    pushes: list[str]
    rows: list[tf.TensorSpec]
    mapped: bool
    max_depth: int
    max_activations: int
    max_bytes: int
    schedule: str = ""

    @classmethod
    def by(cls, op: tf.Operation) -> "Carried":
        """Returns what an op carries."""
        return cls(
            procedures=procedures_of(op),
            names=texts_of(op, "names"),
            captures=capture_indices(op),
            outputs=_specs(op, "output_shapes", "Toutputs"),
            pushes=texts_of(op, "push_names"),
            rows=_specs(op, "pushed_shapes", "Tpushed"),
            **{
                name: op.get_attr(name)
                for name in ("mapped", "max_depth", "max_activations", "max_bytes")
            },
            schedule=op.get_attr("schedule").decode(),
        )

    def attributes(self, graph: tf.Graph) -> dict[str, Any]:
        """Returns it as attributes of an op that is added to `graph`."""
        for procedure in self.procedures:
            tf_compat.add_function(graph, procedure)
        return {
            "procedures": [tf.compat.as_str(p.name) for p in self.procedures],
            "names": self.names,
            "capture_counts": [len(indices) for indices in self.captures],
            "capture_indices": [i for indices in self.captures for i in indices],
            "Toutputs": [spec.dtype for spec in self.outputs],
            "output_shapes": [spec.shape for spec in self.outputs],
            "Tpushed": [row.dtype for row in self.rows],
            "push_names": self.pushes,
            "pushed_shapes": [row.shape for row in self.rows],
            "mapped": self.mapped,
            "max_depth": self.max_depth,
            "max_activations": self.max_activations,
            "max_bytes": self.max_bytes,
            "schedule": self.schedule,
        }


@dataclasses.dataclass(frozen=True)
class Chosen:
    """What runs a program.

    Attributes:
        compilation: For the batched executor, if that runs it.
        attributes: What it was told; see `Options.batched_attributes`.
        reasons: Why it does not.
        must_batch: Whether the batched executor was asked for, and so may not leave
            the gradient to the other one.
    """

    compilation: Compilation | None
    attributes: Mapping[str, str]
    reasons: list[str]
    must_batch: bool = False


def add_root_op(
    carried: Carried,
    chosen: Chosen,
    *,
    args: Sequence[tf.Tensor],
    captures: Sequence[tf.Tensor],
    push_sizes: Sequence[tf.Tensor],
    name: str,
) -> Any:
    """Adds a root op to the default graph, and returns its outputs by name."""
    graph = tf_compat.default_graph()
    refuse_tangents(name, [*args, *captures])
    arguments = {
        "args": args,
        "captures": captures,
        "push_sizes": push_sizes,
        **carried.attributes(graph),
        "name": tf_compat.op_name(name),
    }
    op_type = DATAFLOW if chosen.compilation is None else BATCHED
    for observer in list(_observers):
        observer.append(op_type)
    if chosen.compilation is None:
        results = library.recursive_invoke(**arguments)
        tf_compat.set_strings(results.activation.op, REASONS_ATTRIBUTE, chosen.reasons)
    else:
        results = library.recursive_invoke_batched(
            **arguments,
            **chosen.attributes,
            **chosen.compilation.attributes(graph, carried.names),
        )
        if chosen.must_batch:
            asked_for = ["batched"]
            op = results.activation.op
            tf_compat.set_strings(op, _ASKED_FOR_ATTRIBUTE, asked_for)
    outputs = [*results.outputs, *results.pushed]
    for tensor, spec in zip(outputs, _result_specs(carried, args), strict=True):
        tensor.set_shape(spec.shape)
    return results


def _result_specs(carried: Carried, args: Sequence[tf.Tensor]) -> list[tf.TensorSpec]:
    outputs = carried.outputs
    if carried.mapped:
        rows = count_of_rows(args)
        outputs = [with_rows(spec, rows) for spec in outputs]
    return outputs + [with_rows(row) for row in carried.rows]


def must_batch(op: tf.Operation) -> bool:
    """Says whether the user asked for the batched executor of a root op by name."""
    return bool(tf_compat.get_strings(op, _ASKED_FOR_ATTRIBUTE))


@contextlib.contextmanager
def observe() -> Iterator[list[str]]:
    """Gives a list to which the type of each root op is added that is made."""
    seen: list[str] = []
    _observers.append(seen)
    try:
        yield seen
    finally:
        _observers[:] = [other for other in _observers if other is not seen]


def refuse_tangents(name: str, inputs: Sequence[Any]) -> None:
    """Raises if TensorFlow would differentiate a root op in forward mode.

    It does that for a function, by the gradient of its gradient, and so for all that is
    called eagerly; but not for an op that carries functions.

    Args:
        name: Of the SubGraph.
        inputs: Of the op, or of that of its gradient; None among them is nothing.
    """
    if tf_compat.have_tangents([t for t in inputs if t is not None]):
        raise NotImplementedError(
            f"A root call of SubGraph '{name}' has no derivative in forward mode "
            "(tf.autodiff.ForwardAccumulator) while a tf.function is traced that makes "
            "it. Make the call eagerly; or trace the function before, and call it "
            "where the accumulator is; or use a tf.GradientTape."
        )


def procedures_of(op: tf.Operation) -> list[AtomicFunction]:
    """Returns the procedures that a root op carries."""
    return [
        tf_compat.find_function(op.graph, function.name)
        for function in op.get_attr("procedures")
    ]


def graphs_of(op: tf.Operation) -> list[FuncGraph]:
    """Returns their graphs."""
    return [tf_compat.to_func_graph(function) for function in procedures_of(op)]


def capture_indices(op: tf.Operation) -> list[list[int]]:
    """Returns which captures of the root op each procedure takes."""
    flat = iter(op.get_attr("capture_indices"))
    return [
        [next(flat) for _ in range(count)] for count in op.get_attr("capture_counts")
    ]


def texts_of(op: tf.Operation, attribute: str) -> list[str]:
    """Returns an attribute that is a list of texts."""
    return [text.decode() for text in op.get_attr(attribute)]


def _specs(op: tf.Operation, shapes: str, types: str) -> list[tf.TensorSpec]:
    pairs = zip(op.get_attr(shapes), op.get_attr(types), strict=True)
    return [tf.TensorSpec(tf.TensorShape(shape), dtype) for shape, dtype in pairs]
