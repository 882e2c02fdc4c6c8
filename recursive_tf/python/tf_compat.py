"""The only module that imports private TensorFlow, for version 2.21.

What is here has no public equivalent: building function graphs by hand, naming
functions in op attributes, and the derivative of one graph within another.
"""

import contextlib
import functools
import inspect
import os
import pathlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue, NameAttrList
from tensorflow.python.autograph.core import ag_ctx as autograph_context
from tensorflow.python.autograph.core import converter
from tensorflow.python.autograph.impl import api as autograph_api
from tensorflow.python.autograph.operators import control_flow as autograph_control_flow
from tensorflow.python.autograph.pyct import parser
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.eager import backprop_util, forwardprop_util, record
from tensorflow.python.eager.polymorphic_function import (
    atomic_function,
    tracing_compilation,
)
from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction
from tensorflow.python.framework import (
    auto_control_deps_utils,
    func_graph,
    importer,
    ops,
    random_seed,
)
from tensorflow.python.framework.auto_control_deps import AutomaticControlDependencies
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.framework.ops import EagerTensor, RegisterGradient
from tensorflow.python.ops import (
    cond_v2,
    gradients_util,
    handle_data_util,
    resource_variable_ops,
    script_ops,
    variable_scope,
)
from tensorflow.python.ops.parallel_for import pfor
from tensorflow.python.util import tf_stack
from tensorflow.python.util.dispatch import GlobalOpDispatcher

__all__ = [
    "AtomicFunction",
    "AttrValue",
    "AutomaticControlDependencies",
    "EagerTensor",
    "FuncGraph",
    "GlobalOpDispatcher",
    "RegisterGradient",
]

# The code of the functions that trace the branches of a conditional. Their frames'
# locals hold the branch functions, and the graphs of those traced so far.
CONDITIONAL_CODE = frozenset((cond_v2.cond_v2.__code__, cond_v2.indexed_case.__code__))
_PREFIX = "__recursive_"
_NOT_USER_CODE = (
    f"{pathlib.Path(tf.__file__).parent}{os.sep}",
    f"{pathlib.Path(tf.__file__).parents[1] / 'keras'}{os.sep}",
    f"{pathlib.Path(__file__).parents[1]}{os.sep}",
    "<string>",  # Generated functions that add ops.
)
_KERAS = pathlib.Path(tf.__file__).parents[1] / "keras" / "src"
_SEED_GENERATORS = str(_KERAS / "random" / "seed_generator.py")
_BATCH_NORMALIZATION = str(_KERAS / "layers/normalization/batch_normalization.py")
_CONDITIONAL_FRAMES = frozenset((c.co_filename, c.co_name) for c in CONDITIONAL_CODE)
# What AutoGraph calls the branches of an `if` statement, and Python a lambda.
_NO_NAMES = frozenset(("<lambda>", "else_body", "if_body"))


def is_autographs_branch(function: Callable[[], Any]) -> bool:
    """Says whether AutoGraph made this branch of an `if` statement."""
    module = getattr(function, "__module__", None)
    return bool(module == autograph_control_flow.__name__)


def default_graph() -> tf.Graph:
    """Returns the graph that ops are added to now."""
    return ops.get_default_graph()


def unique_name(base: str) -> str:
    """Returns a function name that this process never used before.

    TensorFlow returns the old function when a name is used again in a context.
    """
    base = base.removeprefix(_PREFIX).rstrip("0123456789_")
    return f"{_PREFIX}{op_name(base)}_{ops.uid()}"


def scope_of(op: tf.Operation) -> AbstractContextManager[Any]:
    """Returns a context in which ops get names beside that of `op`."""
    scope = op.name.rpartition("/")[0]
    return named(scope) if scope else contextlib.nullcontext()


def named(scope: str) -> AbstractContextManager[Any]:
    """Returns a context in which names of ops begin with a scope, and no other."""
    context: AbstractContextManager[Any] = tf.name_scope(f"{scope}/")
    return context


def op_name(text: str) -> str:
    """Returns `text` with only what TensorFlow allows in names of ops."""
    safe = "".join(c if c.isascii() and c.isalnum() else "_" for c in text)
    return safe.lstrip("_") or "unnamed"


def graph_chain(graph: tf.Graph) -> Iterator[tf.Graph]:
    """Yields `graph` and the graphs that enclose it, from inside out."""
    while graph is not None:
        yield graph
        graph = getattr(graph, "outer_graph", None)


def pause_outer_tapes() -> AbstractContextManager[None]:
    """Stops this thread's gradient tapes, if there are any, while a body is traced.

    A persistent or nested tape would have TensorFlow wrap every conditional in a
    function and differentiate that at once, calls of unfinished SubGraphs included.
    The tapes need nothing of a body: they record the root call.
    """
    if record.could_possibly_record():
        paused: AbstractContextManager[None] = record.stop_recording()
        return paused
    return contextlib.nullcontext()


def find_function(graph: tf.Graph, name: str) -> AtomicFunction:
    """Returns the function `name` of `graph` or of a graph that encloses it."""
    for g in graph_chain(graph):
        function = g._get_function(name)
        if function is not None:
            return function
    raise KeyError(f"There is no function {name!r} in {graph!r}.")


def traced_functions(function: Any) -> list[Any]:
    """Returns the concrete functions that a `tf.function` was traced to so far.

    Where its signature is known it is traced for that.
    """
    if not hasattr(function, "_list_all_concrete_functions"):
        return [function.get_concrete_function()]
    found = list(function._list_all_concrete_functions())
    if getattr(function, "_created_variables", None) and len(found) > 1:
        # It was traced once to create variables, and then as it runs.
        first = function._concrete_variable_creation_fn
        found = [concrete for concrete in found if concrete is not first]
    return found


def function_names(op: tf.Operation) -> list[str]:
    """Returns the names of all functions in the attributes of `op`, as declared.

    For an If that is the branch for true and the one for false; a protobuf's map has
    no order of its own.
    """
    names = []
    attrs = op.node_def.attr
    for attr in op.op_def.attr:
        if attr.name not in attrs:
            continue
        value = attrs[attr.name]
        kind = value.WhichOneof("value")
        if kind == "func":
            names.append(value.func.name)
        elif kind == "list":
            names += [function.name for function in value.list.func]
    return [name for name in names if name]


def add_function(graph: tf.Graph, function: AtomicFunction) -> None:
    """Makes `graph` know `function` and what it calls."""
    graph._add_function_recursive(function)


def trace(function: Callable[[], Any], name: str) -> FuncGraph:
    """Returns the graph of a function without arguments."""
    return func_graph.func_graph_from_py_func(unique_name(name), function, [], {})


def make_function(graph: FuncGraph) -> AtomicFunction:
    """Returns a function of `graph` as it is now, under a new name."""
    return atomic_function.from_func_graph(unique_name(graph.name), graph, {})


def to_func_graph(function: AtomicFunction) -> FuncGraph:
    """Returns the graph that `function` was made of, or one like it."""
    return function.graph


def create_op(
    graph: tf.Graph,
    source: tf.Operation,
    inputs: Sequence[tf.Tensor],
) -> tf.Operation:
    """Adds to `graph` an op like `source` with other inputs, and what it names."""
    _add_functions_of(graph, source)
    op = graph._create_op_internal(
        source.type,
        list(inputs),
        [output.dtype for output in source.outputs],
        name=source.name,
        attrs={k: v for k, v in source.node_def.attr.items() if k != "_class"},
        op_def=source.op_def,
    )
    for old, new in zip(source.outputs, op.outputs, strict=True):
        copy_static_info(old, new)
    return op


def add_like(
    graph: tf.Graph,
    source: tf.Operation,
    inputs: Sequence[tf.Tensor],
    name: str | None = None,
) -> tf.Operation:
    """Adds to `graph` an op of the kind of `source`, for inputs of other shapes."""
    _add_functions_of(graph, source)
    attrs = source.node_def.attr.items()
    op = graph._create_op_internal(
        source.type,
        list(inputs),
        [output.dtype for output in source.outputs],
        name=name,
        attrs={key: value for key, value in attrs if not key.startswith("_")},
    )
    set_origin(op, source)
    return op


def _add_functions_of(graph: tf.Graph, op: tf.Operation) -> None:
    for name in function_names(op):
        add_function(graph, find_function(op.graph, name))


def placeholder_like(
    graph: tf.Graph, like: tf.Tensor | tf.TensorSpec, name: str | None = None
) -> tf.Tensor:
    """Adds to `graph` a placeholder for what is known before run time about `like`."""
    with graph.as_default():
        tensor = tf.raw_ops.Placeholder(dtype=like.dtype, shape=like.shape, name=name)
    if isinstance(like, tf.Tensor):
        copy_static_info(like, tensor)
    return tensor


def copy_static_info(old: tf.Tensor, new: tf.Tensor) -> None:
    """Tells `new` what is known before run time about `old`."""
    if new.shape.rank is None or not new.shape.is_fully_defined():
        new.set_shape(old.shape)
    copy_handle_data(old, new)


def copy_handle_data(old: tf.Tensor, new: tf.Tensor) -> None:
    """Tells `new` what the handle `old` leads to, if it is one."""
    if old.dtype in (tf.resource, tf.variant):
        handle_data_util.copy_handle_data(old, new)


def without_function(handle: tf.Tensor) -> Any:
    """Returns the eager handle that one in a function stands for, if it is no variable.

    A tape that may differentiate a gradient lets nothing but variables out of a
    function whose gradient uses them.
    """
    data = handle_data_util.get_resource_handle_data(handle)
    if handle.dtype != tf.resource or (data is not None and data.is_set):
        return handle
    found: Any = handle
    while not isinstance(found, EagerTensor):
        captures = getattr(found.graph, "captures", [])
        outside = [outer for outer, inner in captures if inner is found]
        if not outside:
            return handle
        (found,) = outside
    return found


def may_hold_trainable(variant: tf.Tensor) -> bool:
    """Says whether a variant may be a list of tensors that have gradients."""
    return bool(backprop_util.IsTrainable(variant))


def add_control_inputs(op: tf.Operation, controls: Iterable[tf.Operation]) -> None:
    """Makes `op` wait for `controls`."""
    op._add_control_inputs(list(controls))


def is_stateful(op: tf.Operation) -> bool:
    """Says whether TensorFlow treats `op` as having effects."""
    return bool(op._is_stateful)


def set_functions(op: tf.Operation, attr: str, functions: list[AtomicFunction]) -> None:
    """Sets the list of functions in attribute `attr` of `op`."""
    for function in functions:
        add_function(op.graph, function)
    op._set_func_list_attr(attr, [tf.compat.as_str(f.name) for f in functions])


def set_function(op: tf.Operation, attr: str, function: AtomicFunction) -> None:
    """Sets the function in attribute `attr` of `op`."""
    add_function(op.graph, function)
    op._set_func_attr(attr, tf.compat.as_str(function.name))


def set_loop_graphs(op: tf.Operation, condition: FuncGraph, body: FuncGraph) -> None:
    """Tells the gradient of a While the graphs that its functions were made of.

    Without, it makes graphs of the functions, and these lack the shapes of variables:
    in a loop in a loop, a variable then has no gradient.
    """
    op._cond_graph = condition
    op._body_graph = body


def set_branch_graphs(op: tf.Operation, branches: Sequence[FuncGraph]) -> None:
    """Tells the gradient of an If or a Case the same."""
    names = ["_true_graph", "_false_graph"]
    if "Case" in op.type:
        names = [f"_branch_graph_{i}" for i in range(len(branches))]
    for name, branch in zip(names, branches, strict=True):
        setattr(op, name, branch)


def set_gradient(op: tf.Operation, name: str) -> None:
    """Makes the gradient registered as `name` that of `op`.

    An attribute would do it too, but what has it is differentiated when it is saved.
    """
    op._gradient_function = ops.gradient_registry.lookup(name)


def set_gradient_function(op: tf.Operation, function: Callable[..., Any]) -> None:
    """Makes `function` the gradient of `op`, as long as there is this object."""
    op._gradient_function = function


def custom_gradient_of(op: tf.Operation) -> Callable[..., Any] | None:
    """Returns the gradient that `op`, other than the rest of its type, has."""
    name = op.node_def.attr["_gradient_op_type"].s.decode()
    try:
        gradient: Callable[..., Any] = ops.gradient_registry.lookup(name)
    except LookupError:
        return None
    return gradient


def has_custom_gradient(op: tf.Operation) -> bool:
    """Says whether `op` is meant to have another gradient than the rest of its type."""
    return "_gradient_op_type" in op.node_def.attr


def gradient_function(op: tf.Operation) -> Callable[..., Any] | None:
    """Returns what differentiates `op`, or None if its gradient is zero.

    Raises:
        LookupError: If nothing does.
    """
    function: Callable[..., Any] | None = ops.get_gradient_function(op)
    return function


def set_custom_gradient(op: tf.Operation, gradient: Callable[..., Any]) -> None:
    """Gives `op` a gradient of its own, which is saved with it."""
    name = f"RecursiveCustomGradient-{ops.uid()}"
    RegisterGradient(name)(gradient)
    set_attr(op, "_gradient_op_type", AttrValue(s=name.encode()))


def map_gradients(function: Callable[[tf.Tensor], tf.Tensor], gradients: Any) -> Any:
    """Applies `function` to the tensors of what a gradient function returned."""
    return tf.nest.map_structure(
        lambda g: function(g) if isinstance(g, tf.Tensor) else g,
        gradients,
        expand_composites=True,
    )


def set_attr(op: tf.Operation, name: str, value: AttrValue) -> None:
    """Sets an attribute of `op` after it was made."""
    op._set_attr(name, value)


def set_attrs(op: tf.Operation, values: Mapping[str, Any]) -> None:
    """Sets attributes of `op`, as the generated function that adds such ops would.

    Args:
        op: The op.
        values: Bools, ints and strings, or lists of these; a string is the name of a
            function where the op takes one.
    """
    types = {attr.name: attr.type for attr in op.op_def.attr}
    for name, value in values.items():
        set_attr(op, name, _attr_value(value, is_function="func" in types[name]))


def set_strings(op: tf.Operation, name: str, values: Sequence[str]) -> None:
    """Sets an attribute of `op` that its type need not know: a name with `_`."""
    texts = [value.encode() for value in values]
    set_attr(op, name, AttrValue(list=AttrValue.ListValue(s=texts)))


def get_strings(op: tf.Operation, name: str) -> list[str]:
    """Returns what `set_strings` set; nothing if it did not."""
    return [text.decode() for text in op.node_def.attr[name].list.s]


def _attr_value(value: Any, *, is_function: bool) -> AttrValue:
    if isinstance(value, list):
        items = [_attr_value(item, is_function=is_function) for item in value]
        return AttrValue(
            list=AttrValue.ListValue(
                i=[item.i for item in items if item.HasField("i")],
                s=[item.s for item in items if item.HasField("s")],
                func=[item.func for item in items if item.HasField("func")],
            )
        )
    if isinstance(value, bool):
        return AttrValue(b=value)
    if isinstance(value, int):
        return AttrValue(i=value)
    if is_function:
        return AttrValue(func=NameAttrList(name=value))
    return AttrValue(s=value.encode())


def gradients_between(
    ys: list[tf.Tensor],
    xs: list[tf.Tensor],
    dys: list[tf.Tensor],
    source: FuncGraph,
) -> list[Any]:
    """Adds the gradient of `ys` by `xs`, which are in `source`, to the default graph.

    Returns:
        For each of `xs` a tensor, an `IndexedSlices`, or None if `ys` do not
        depend on it.
    """
    return list(gradients_util._GradientsHelper(ys, xs, grad_ys=dys, src_graph=source))


def zeros_like(tensor: tf.Tensor) -> tf.Tensor:
    """Adds zeros, which are no constant: that might be as large as rows are many.

    Gradient functions leave out what they would multiply by these.
    """
    if not tensor.shape.is_fully_defined():
        return tf.zeros_like(tensor)
    zeros = tf.fill(tensor.shape, tf.zeros([], tensor.dtype))
    zeros._is_zeros_tensor = True
    return zeros


def evaluate_constant(tensor: tf.Tensor) -> Any:
    """Returns the value of what only depends on constants, or None."""
    graph = tensor.graph._c_graph
    return pywrap_tf_session.TF_TryEvaluateConstant_wrapper(
        graph, tensor._as_tf_output()
    )


def capture_placeholder(
    graph: FuncGraph, tensor: tf.Tensor, name: str | None
) -> tf.Tensor:
    """Captures an eager tensor as a placeholder, also where TensorFlow would copy it.

    TensorFlow makes constants of small eager tensors, which cuts their gradient.
    """
    captures = graph._function_captures
    return captures._create_placeholder_helper(graph, tensor, name or "capture")


def capture_stepwise(tensor: tf.Tensor) -> tf.Tensor:
    """Returns the default graph's tensor for one of a graph around it.

    Every graph in between captures it too, as gradients of conditionals need.
    """
    inside = []
    for graph in graph_chain(default_graph()):
        if graph is tensor.graph:
            break
        inside.append(graph)
    for graph in reversed(inside):
        tensor = graph.capture(tensor)
    return tensor


def set_captures(graph: FuncGraph, externals: list[tf.Tensor]) -> None:
    """Makes the inputs of `graph` stand for `externals`, in order."""
    graph._function_captures.reset_captures(externals, graph.inputs)


def watched_variables(graph: FuncGraph) -> list[tf.Variable]:
    """Returns the variables that were read while `graph` was traced."""
    return sorted(graph._watched_variables, key=id)


def variable_accessed(variable: tf.Variable) -> None:
    """Tells gradient tapes and enclosing functions that `variable` is read here."""
    resource_variable_ops.variable_accessed(variable)


@contextlib.contextmanager
def keep_caching_device() -> Iterator[None]:
    """Puts back where variables are cached.

    `tf.map_fn` changes that for all of the process while it traces, and leaves it so
    where the function that it traces raises.
    """
    scope = variable_scope.get_variable_scope()
    device = scope.caching_device
    try:
        yield
    finally:
        scope._caching_device = device


def replica_id() -> int:
    """Returns which replica of `tf.distribute` runs this; 0 where there is one."""
    if not tf.distribute.has_strategy():
        return 0  # The usual case, which each eager root call asks for.
    context = tf.distribute.get_replica_context()
    found = None if context is None else context.replica_id_in_sync_group
    return 0 if found is None else int(tf.get_static_value(found))


def of_this_replica(variable: Any) -> Any:
    """Returns the copy of a variable, or of a replica's copy, that is this replica's.

    A body captures the copy of the replica that traced it.
    """
    found = _variable_here(variable.handle)
    return variable if found is None else found


def handle_of_this_replica(tensor: Any) -> Any:
    """Returns the handle of such a copy; any other tensor as it is."""
    found = _variable_here(tensor)
    return tensor if found is None else found.handle


def _variable_here(handle: Any) -> Any:
    """Returns this replica's copy of a variable by the handle of any, if it has one."""
    container = getattr(handle, "_distributed_container", None)
    mirrored = None if container is None else container()
    if mirrored is None or tf.distribute.get_replica_context() is None:
        return None
    return mirrored._get()


def have_tangents(tensors: Sequence[Any]) -> bool:
    """Says whether a `tf.autodiff.ForwardAccumulator` follows inputs of an op."""
    if not record.could_possibly_record():
        return False
    graph = default_graph()
    if isinstance(graph, FuncGraph):
        captured = {id(outer): inner for outer, inner in graph.captures}
        tensors = [captured.get(id(t), t) for t in tensors]
        # What stands for an eager tensor in a function is followed if that is, and
        # nothing is paused.
        tensors = [graph.capture(t) if _is_followed_eagerly(t) else t for t in tensors]
    return any(map(_is_followed, tensors))


def _is_followed_eagerly(tensor: Any) -> bool:
    return isinstance(tensor, EagerTensor) and _is_followed(tensor)


def _is_followed(tensor: Any) -> bool:
    return bool(forwardprop_util.pack_tangents([tensor]).tangents)


def is_elementwise(op_type: str) -> bool:
    """Says whether TensorFlow vectorises ops of this type element by element."""
    converter = pfor._pfor_converter_registry.get(op_type)
    return bool(converter is pfor._convert_cwise)


def has_converter(op_type: str) -> bool:
    """Says whether `tf.vectorized_map` knows ops of this type."""
    return op_type in pfor._pfor_converter_registry


def register_converter(op_type: str, convert: Callable[..., Any]) -> None:
    """Tells `tf.vectorized_map` how an op runs for many rows.

    Args:
        op_type: Of the op.
        convert: Takes the op, each input with whether it has rows in front, and the
            number of rows; returns the same for each output.
    """

    def converter(pfor_input: Any) -> list[Any]:
        inputs = [(wrapped.t, wrapped.is_stacked) for wrapped in pfor_input.inputs]
        num_rows = pfor_input.pfor.loop_len_vector[0]
        results = convert(pfor_input.op, inputs, num_rows)
        return [pfor.wrap(tensor, has_rows) for tensor, has_rows in results]

    pfor.RegisterPFor(op_type)(converter)


def convert_by_vectorized_map(
    op: tf.Operation, inputs: Sequence[tuple[tf.Tensor, bool]], num_rows: int
) -> list[tuple[tf.Tensor, bool]]:
    """Adds what `tf.vectorized_map` makes of one op, in the default graph.

    Args:
        op: The op, as it stands for one row.
        inputs: For each input a tensor, and whether it has rows in front.
        num_rows: How many rows.

    Returns:
        For each output the same.
    """

    class Loop:
        loop_len_vector = tf.constant([num_rows])
        all_indices_partitioned = False
        all_indices = None
        loop_var = None
        fallback_to_while_loop = False
        pfor_config = None

    wrapped = [pfor.wrap(tensor, is_row) for tensor, is_row in inputs]
    convert = pfor._pfor_converter_registry[op.type]
    results = convert(pfor._PforInput(Loop(), op, wrapped))
    if isinstance(results, pfor.WrappedTensor):
        results = [results]
    return [(result.t, result.is_stacked) for result in results]


def python_function_of(op: tf.Operation) -> Callable[..., Any]:
    """Returns what a `tf.py_function` calls.

    Raises:
        NotImplementedError: If that is not in this process.
    """
    known = script_ops._py_funcs.get(tf.compat.as_str(op.get_attr("token")))
    if known is None:
        raise NotImplementedError(
            f"The Python function of {op.name} is not in this process. Python "
            "functions are not saved with a model."
        )
    function: Callable[..., Any] = known._func
    return function


def set_origin(op: tf.Operation, source: tf.Operation) -> None:
    """Says that `op` is a copy of `source`, whose place in user code it then has."""
    op._recursive_origin = origin_of(source)


def origin_of(op: tf.Operation) -> tf.Operation:
    """Returns what `op` is a copy of, or `op`."""
    origin: tf.Operation = getattr(op, "_recursive_origin", op)
    return origin


def is_copy(op: tf.Operation) -> bool:
    """Says whether `op` is a copy of what was traced."""
    return origin_of(op) is not op


def op_traceback(op: tf.Operation) -> str:
    """Returns the line of user code that made `op`, e.g. "model.py:12"."""
    frames = _traceback_of(op)
    if not frames:
        return "an unknown place"
    users = [f for f in frames if _is_users(f)]
    return _place((users or frames)[-1])


def place_in_user_code(op: tf.Operation) -> str | None:
    """Returns the same for an op that is a copy of one that a user's line made."""
    if not is_copy(op):
        return None
    users = [f for f in _traceback_of(op) if _is_users(f)]
    return _place(users[-1]) if users else None


def branch_function_name(op: tf.Operation) -> str | None:
    """Returns the name of the function that was traced as the branch `op` is in."""
    frames = [f for f in _traceback_of(op) if _is_users(f) or _is_conditional(f)]
    for i in reversed(range(len(frames) - 1)):
        if _is_conditional(frames[i]) and _is_users(frames[i + 1]):
            name = str(frames[i + 1].name)
            # To AutoGraph a lambda is a part of the function around it.
            around = {frame.name for frame in frames[:i]}
            return None if name in _NO_NAMES | around else name
    return None


def _is_conditional(frame: Any) -> bool:
    return (frame.filename, frame.name) in _CONDITIONAL_FRAMES


def _traceback_of(op: tf.Operation) -> list[Any]:
    """Returns the frames in which an op was made; none if it was loaded from a file."""
    frames = list(origin_of(op).traceback or ())
    return [] if any(f.filename == importer.__file__ for f in frames) else frames


def _is_users(frame: Any) -> bool:
    return not frame.filename.startswith(_NOT_USER_CODE)


def _place(frame: Any) -> str:
    return f"{frame.filename}:{frame.lineno}"


def op_seed_of(op: tf.Operation) -> int | None:
    """Returns the `seed=` that a stateful random op got, if that alone decides.

    With `tf.random.set_seed`, TensorFlow gives seeds to those ops too that got none.
    """
    has_own = op.get_attr("seed") == random_seed.DEFAULT_GRAPH_SEED
    return int(op.get_attr("seed2")) if has_own else None


def is_of_keras_seed(op: tf.Operation) -> bool:
    """Says whether a Keras `SeedGenerator` made this op of its state for a new seed."""
    if not op.inputs or op.inputs[0].dtype != tf.resource:
        return False
    value = op.outputs[0] if op.outputs else op.inputs[1]
    # Which is quicker to see than who made it.
    if not value.dtype.is_integer or not value.shape.is_compatible_with([2]):
        return False
    made_by = ((f.filename, f.name) for f in _traceback_of(op))
    return (_SEED_GENERATORS, "next") in made_by


def is_of_batch_normalization(op: tf.Operation) -> bool:
    """Says whether a Keras `BatchNormalization` made this op."""
    return any(f.filename == _BATCH_NORMALIZATION for f in _traceback_of(op))


def mark_resources_read_only(op: tf.Operation) -> None:
    """Tells automatic control dependencies that `op` changes none of its resources."""
    indices = [i for i, t in enumerate(op.inputs) if t.dtype == tf.resource]
    ops.set_int_list_attr(
        op, auto_control_deps_utils.READ_ONLY_RESOURCE_INPUTS_ATTR, indices
    )


class _Transpiler(autograph_api.PyToTF):
    """AutoGraph's, which evaluates annotations where their names may mean nothing."""

    def transform_ast(self, node: Any, ctx: Any) -> Any:
        """Makes texts of them first, as `from __future__ import annotations` does."""
        for inner in parser.gast.walk(node):
            if isinstance(inner, parser.gast.FunctionDef):
                _make_text_of(inner, "returns")
            if isinstance(inner, parser.gast.arguments):
                for argument in parser.gast.iter_child_nodes(inner):
                    _make_text_of(argument, "annotation")
        return super().transform_ast(node, ctx)


def _make_text_of(node: Any, field: str) -> None:
    if getattr(node, field, None) is not None:
        text = parser.unparse(getattr(node, field), include_encoding_marker=False)
        setattr(node, field, parser.parse_expression(repr(text.strip())))


_transpiler = _Transpiler()


def convert_by_autograph(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `function` as AutoGraph converts it, also where AutoGraph is off.

    It is off in functions that are not to be converted, which may call back.
    """
    if autograph_api.is_autograph_artifact(function):
        return function
    if inspect.ismethod(function):
        converted = convert_by_autograph(function.__func__)
        return functools.partial(converted, function.__self__)
    options = converter.ConversionOptions(
        recursive=True, user_requested=True, optional_features=None
    )
    context = converter.ProgramContext(options=options)
    try:
        code, _, code.ag_source_map = _transpiler.transform(function, context)
    except Exception:  # AutoGraph says why, and leaves it as it is.
        return _convert_or_warn(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with autograph_api.StackTraceMapper(code), tf_stack.CurrentModuleFilter():
                return code(*args, **kwargs)
        except Exception as error:
            autograph_api._attach_error_metadata(error, code)
            explained = getattr(error, "ag_error_metadata", None)
            if explained is None:
                raise
            raise explained.to_exception(error) from error.__cause__

    return call


def _convert_or_warn(function: Callable[..., Any]) -> Callable[..., Any]:
    on = autograph_context.ControlStatusCtx(autograph_context.Status.ENABLED)
    converted: Callable[..., Any] = autograph_api.tf_convert(
        function, on, user_requested=True
    )
    return converted


def kept_with(graph: tf.Graph) -> Mapping[Any, Any]:
    """Returns what `keep_with` made to live as long as `graph`, by whose it is."""
    kept: Mapping[Any, Any] = getattr(graph, "_recursive_kept", {})
    return kept


def keep_with(graph: tf.Graph, owner: Any, what: Any) -> None:
    """Makes `what` live as long as `graph` and `owner`."""
    if not kept_with(graph):
        graph._recursive_kept = weakref.WeakKeyDictionary()
    graph._recursive_kept[owner] = what


def is_tracing_a_function(*, within: Callable[..., Any]) -> bool:
    """Says whether a `tf.function` is being traced, in a call of `within`."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not within.__code__:
        if frame.f_code is tracing_compilation.trace_function.__code__:
            return True
        frame = frame.f_back
    return False
