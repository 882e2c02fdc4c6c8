"""The only package that imports private TensorFlow, for version 2.21.

What is here has no public equivalent: building function graphs by hand, naming
functions in op attributes, and the derivative of one graph within another.
"""

from tensorflow.core.framework.attr_value_pb2 import AttrValue
from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction
from tensorflow.python.framework.auto_control_deps import AutomaticControlDependencies
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.framework.ops import EagerTensor, RegisterGradient
from tensorflow.python.util.dispatch import GlobalOpDispatcher

from recursive_tf.python.tf_compat.added_ops import add_like, create_op
from recursive_tf.python.tf_compat.attributes import (
    get_strings,
    set_attr,
    set_attrs,
    set_strings,
)
from recursive_tf.python.tf_compat.autograph import (
    convert_by_autograph,
    is_autographs_branch,
)
from recursive_tf.python.tf_compat.functions import (
    add_function,
    find_function,
    function_names,
    is_tracing_a_function,
    make_function,
    python_function_of,
    set_branch_graphs,
    set_function,
    set_functions,
    set_loop_graphs,
    to_func_graph,
    trace,
    traced_functions,
)
from recursive_tf.python.tf_compat.gradients import (
    custom_gradient_of,
    gradient_function,
    gradients_between,
    has_custom_gradient,
    map_gradients,
    set_custom_gradient,
    set_gradient,
    set_gradient_function,
)
from recursive_tf.python.tf_compat.graphs import (
    add_control_inputs,
    capture_placeholder,
    capture_stepwise,
    copy_handle_data,
    copy_static_info,
    default_graph,
    evaluate_constant,
    graph_chain,
    is_stateful,
    keep_with,
    kept_with,
    mark_resources_read_only,
    may_hold_trainable,
    named,
    op_name,
    placeholder_like,
    scope_of,
    set_captures,
    unique_name,
    without_function,
    zeros_like,
)
from recursive_tf.python.tf_compat.origins import (
    CONDITIONAL_CODE,
    branch_function_name,
    frames_of,
    is_copy,
    op_traceback,
    origin_of,
    place_in_user_code,
    set_origin,
)
from recursive_tf.python.tf_compat.randomness import (
    is_of_batch_normalization,
    is_of_keras_seed,
    op_seed_of,
)
from recursive_tf.python.tf_compat.replicas import (
    handle_of_this_replica,
    keep_caching_device,
    of_this_replica,
    replica_id,
)
from recursive_tf.python.tf_compat.tapes import (
    have_tangents,
    pause_outer_tapes,
    variable_accessed,
    watched_variables,
)
from recursive_tf.python.tf_compat.vectorising import (
    convert_by_vectorized_map,
    has_converter,
    is_elementwise,
    register_converter,
)

__all__ = [
    "CONDITIONAL_CODE",
    "AtomicFunction",
    "AttrValue",
    "AutomaticControlDependencies",
    "EagerTensor",
    "FuncGraph",
    "GlobalOpDispatcher",
    "RegisterGradient",
    "add_control_inputs",
    "add_function",
    "add_like",
    "branch_function_name",
    "capture_placeholder",
    "capture_stepwise",
    "convert_by_autograph",
    "convert_by_vectorized_map",
    "copy_handle_data",
    "copy_static_info",
    "create_op",
    "custom_gradient_of",
    "default_graph",
    "evaluate_constant",
    "find_function",
    "frames_of",
    "function_names",
    "get_strings",
    "gradient_function",
    "gradients_between",
    "graph_chain",
    "handle_of_this_replica",
    "has_converter",
    "has_custom_gradient",
    "have_tangents",
    "is_autographs_branch",
    "is_copy",
    "is_elementwise",
    "is_of_batch_normalization",
    "is_of_keras_seed",
    "is_stateful",
    "is_tracing_a_function",
    "keep_caching_device",
    "keep_with",
    "kept_with",
    "make_function",
    "map_gradients",
    "mark_resources_read_only",
    "may_hold_trainable",
    "named",
    "of_this_replica",
    "op_name",
    "op_seed_of",
    "op_traceback",
    "origin_of",
    "pause_outer_tapes",
    "place_in_user_code",
    "placeholder_like",
    "python_function_of",
    "register_converter",
    "replica_id",
    "scope_of",
    "set_attr",
    "set_attrs",
    "set_branch_graphs",
    "set_captures",
    "set_custom_gradient",
    "set_function",
    "set_functions",
    "set_gradient",
    "set_gradient_function",
    "set_loop_graphs",
    "set_origin",
    "set_strings",
    "to_func_graph",
    "trace",
    "traced_functions",
    "unique_name",
    "variable_accessed",
    "watched_variables",
    "without_function",
    "zeros_like",
]
