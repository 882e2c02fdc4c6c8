"""The backward side: a graph that computes the gradient of one region."""

from collections.abc import Container, Sequence
from typing import Any, NoReturn

import tensorflow as tf

from recursive_tf.ops import library
from recursive_tf.python import tf_compat
from recursive_tf.python.gradient.region import Region
from recursive_tf.python.gradient.sinks import Sinks
from recursive_tf.python.program.graph_copy import GraphCopy
from recursive_tf.python.program.reachable import reachable
from recursive_tf.python.program.trainable import is_trainable
from recursive_tf.python.tf_compat import FuncGraph


class GradientGraph(FuncGraph):
    """Computes the gradient of a region from the values that the region keeps.

    While it is built, a forward value is a placeholder here; `finish` replaces the
    placeholders of those that are really needed by one read of the backprop cache.

    Attributes:
        region: What is differentiated.
        sinks: Where the gradients of captures go.
        parent: The gradient graph of the region around `region`, or None.
    """

    def __init__(
        self, region: Region, sinks: Sinks, parent: "GradientGraph | None" = None
    ) -> None:
        super().__init__(tf_compat.unique_name("gradient"))
        self.region = region
        self.sinks = sinks
        self.parent = parent
        self.capture_arguments: dict[int, tf.Tensor] = {}
        self._recalled: dict[int, tf.Tensor] = {}
        self._kept: list[tuple[tf.Tensor, tf.Tensor]] = []
        self._handle: tf.Tensor | None = None
        if parent is None:
            self._handle = self.add_input(tf.TensorSpec([], tf.variant))

    @property
    def handle(self) -> tf.Tensor:
        """The gradient activation's handle."""
        if self._handle is None:
            assert self.parent is not None
            self._handle = super().capture(self.parent.handle)
        return self._handle

    def add_input(self, spec: Any) -> tf.Tensor:
        """Returns a new argument of a procedure's gradient."""
        tensor = tf_compat.placeholder_like(self, spec)
        self.inputs.append(tensor)
        return tensor

    def capture(self, tensor: Any, name: str | None = None, shape: Any = None) -> Any:
        """Returns this graph's tensor for a forward value, or for an outer one."""
        if isinstance(tensor, tf_compat.EagerTensor):
            return self._constant(tensor)
        if tensor.graph is self:
            return tensor
        found = self.region.find(tensor)
        if found is not None:
            return self._recall(found)
        if self.parent is None:
            _refuse(tensor)
        elif tensor.graph is not self.parent:
            tensor = self.parent.capture(tensor)
        return super().capture(tensor, name)

    def capture_argument(self, index: int, like: tf.Tensor) -> tf.Tensor:
        """Returns a capture of the program, which the root passes to gradients too."""
        if self.parent is not None:
            return super().capture(self.parent.capture_argument(index, like))
        if index not in self.capture_arguments:
            self.capture_arguments[index] = tf_compat.placeholder_like(self, like)
        return self.capture_arguments[index]

    def differentiate(
        self, outputs: list[tuple[tf.Tensor, tf.Tensor]]
    ) -> dict[int, tf.Tensor]:
        """Adds the gradient of the region.

        Args:
            outputs: Tensors of the region, each with its gradient.

        Returns:
            The gradients by inputs of the region's graph, by the input's id. Those by
            captures are not among them: they go to the sinks.
        """
        with self.as_default():
            outputs = outputs + self._gradients_of_effects()
            inputs = self.region.differentiable_inputs()
            if not outputs:
                return {}
            ys, dys = (list(tensors) for tensors in zip(*outputs, strict=True))
            # By the handle too, which has none: TensorFlow visits only what lies in
            # between, and calls without floating-point arguments must be visited.
            gradients = tf_compat.gradients_between(
                ys, [*inputs, self.region.handle], dys, self.region.graph
            )
            gradients.pop()
            return self._deliver(inputs, gradients)

    def _gradients_of_effects(self) -> list[tuple[tf.Tensor, tf.Tensor]]:
        pushed = []
        for value, index, slot in self.region.pushes:
            gradient = library.recursive_push_gradient(
                handle=self.handle, index=index, slot=slot, T=value.dtype
            )
            gradient.set_shape(value.shape)
            pushed.append((value, gradient))
        # Any gradient of the right dtype makes TensorFlow visit the op.
        return pushed + [(token, self.handle) for token in self.region.tokens]

    def _deliver(
        self, inputs: list[tf.Tensor], gradients: list[Any]
    ) -> dict[int, tf.Tensor]:
        results = {}
        for tensor, gradient in zip(inputs, gradients, strict=True):
            if gradient is None or not self._has_gradient(tensor, gradient):
                continue
            capture = self.region.captures.get(id(tensor))
            if capture is not None:
                self.sinks.add(self.handle, capture, gradient)
            else:
                results[id(tensor)] = tf.convert_to_tensor(gradient)
        return results

    def _has_gradient(self, tensor: tf.Tensor, gradient: Any) -> bool:
        """Says whether an input has a gradient, which TensorFlow may make up.

        A loop gives what it only reads a gradient, zeros, also a bool or a handle.
        """
        if gradient.dtype != tf.variant:
            return is_trainable(gradient.dtype)
        if tensor is self.region.handle or not tf_compat.may_hold_trainable(tensor):
            return False
        if self.parent is None or id(tensor) in self.region.captures:
            _refuse_list(tensor)
        return True

    def finish(self, left_out: Sequence[tf.Tensor] = ()) -> FuncGraph:
        """Returns the graph with its forward values read from the backprop cache.

        Also makes the region keep them. It keeps as much whatever is left out, since
        another tape may need more.

        Args:
            left_out: Gradients that are not returned, because nobody needs them.
        """
        everything = _needed_ops(self, left_out)
        kept = [(v, p) for v, p in self._kept if p.op in everything]
        needed = _needed_ops(self, without=self.sinks.unneeded)
        # A branch may capture the handle only now, for this: before inputs are bound.
        handle = self.handle if kept else None
        outer = self.parent
        if outer is None:
            final = FuncGraph(self.name)
        else:
            with outer.as_default():
                final = FuncGraph(self.name)
        copy = GraphCopy(self, final)
        self._bind_inputs(copy)
        if handle is not None:
            self._bind_kept(copy, kept, handle)
        copy.run(only=needed)
        self.region.keep([value for value, _ in kept])
        return final

    def _bind_inputs(self, copy: GraphCopy) -> None:
        for external, internal in self.captures:
            copy.bind(internal, external)
        if self.parent is not None:
            return
        captures = [self.capture_arguments[i] for i in sorted(self.capture_arguments)]
        for tensor in [*self.inputs, *captures]:
            copy.bind_input(tensor)

    def _bind_kept(
        self,
        copy: GraphCopy,
        kept: list[tuple[tf.Tensor, tf.Tensor]],
        handle: tf.Tensor,
    ) -> None:
        with copy.target.as_default():
            values = library.recursive_recall(
                handle=copy.resolve(handle),
                region=self.region.index,
                T=[value.dtype for value, _ in kept],
                output_shapes=[value.shape for value, _ in kept],
            )
        for (_, placeholder), value in zip(kept, values, strict=True):
            tf_compat.copy_static_info(placeholder, value)
            copy.bind(placeholder, value)

    def _constant(self, tensor: tf_compat.EagerTensor) -> tf.Tensor:
        if tensor.dtype in (tf.resource, tf.variant):
            _refuse(tensor)
        with self.as_default():
            return tf.constant(tensor.numpy(), tensor.dtype)

    def _recall(self, value: tf.Tensor) -> tf.Tensor:
        if id(value) not in self._recalled:
            self._recalled[id(value)] = self._make_recalled(value)
        return self._recalled[id(value)]

    def _make_recalled(self, value: tf.Tensor) -> tf.Tensor:
        if value.op.type == "Const":
            return tf_compat.create_op(self, value.op, []).outputs[0]
        capture = self.region.captures.get(id(value))
        if capture is not None:
            return self.capture_argument(capture, value)
        placeholder = tf_compat.placeholder_like(self, value)
        self._kept.append((value, placeholder))
        return placeholder


def _refuse(tensor: tf.Tensor) -> NoReturn:
    what = "a variable" if tensor.dtype == tf.resource else str(tensor)
    raise NotImplementedError(
        f"A custom gradient in a SubGraph uses {what}, which the op that has the "
        "gradient does not. Make it an argument of the function with the custom "
        "gradient."
    )


def _refuse_list(tensor: tf.Tensor) -> NoReturn:
    place = tf_compat.op_traceback(tensor.consumers()[0])
    raise NotImplementedError(
        f"A list of tensors, e.g. a tf.TensorArray, comes into the body of a SubGraph "
        f"from outside, and is read at {place}. It has no gradient there: hand in "
        "`.stack()` of it, and read that with tf.gather."
    )


def enclosing_gradient(graph: tf.Graph) -> GradientGraph | None:
    """Returns the innermost gradient graph that `graph` is or is a part of."""
    for g in tf_compat.graph_chain(graph):
        if isinstance(g, GradientGraph):
            return g
    return None


def _needed_ops(
    graph: FuncGraph,
    others: Sequence[tf.Tensor] = (),
    without: Container[tf.Operation] = (),
) -> set[tf.Operation]:
    """Returns the ops that the outputs, others or an effect depend on.

    Args:
        graph: The graph.
        others: Tensors beside its outputs.
        without: Effects that nobody needs.
    """
    effects = [
        op
        for op in graph.get_operations()
        if tf_compat.is_stateful(op) and op not in without
    ]
    return reachable(
        [*(tensor.op for tensor in (*graph.outputs, *others)), *effects],
        lambda op: [*(tensor.op for tensor in op.inputs), *op.control_inputs],
    )
