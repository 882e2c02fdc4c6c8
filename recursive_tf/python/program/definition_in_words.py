"""A definition for its user to read: what it takes, uses, calls and returns."""

import textwrap
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.program.definition import Definition
from recursive_tf.python.program.effects import ops_within
from recursive_tf.python.program.substitutions import CALLS
from recursive_tf.python.tracing.function_graph import MAP, PUSH
from recursive_tf.python.tracing.signature import Signature
from recursive_tf.python.tracing.specs import format_spec, format_structure, spec_of


def signature_in_words(signature: Signature) -> str:
    """Returns e.g. "(int32[]) -> float32[3]"; "?" is what is not known yet."""
    takes = format_structure(tuple(signature.inputs))
    gives = signature.outputs
    returns = "?" if gives is None else format_structure(gives)
    return f"{takes} -> {returns}"


def definition_in_words(definition: Definition) -> str:
    """Returns the signature, captures, pushes and call sites, a line each."""
    body = definition.body
    lines = [f"SubGraph '{definition.name}' {signature_in_words(definition.signature)}"]
    if captures := list(_captures(body)):
        text = f"captures {', '.join(captures)}"
        lines += textwrap.wrap(text, 86, subsequent_indent="  ", break_long_words=False)
    for op in ops_within(body):
        if op.type == PUSH:
            name = op.get_attr("table").decode()
            lines.append(f"pushes '{name}' at {tf_compat.op_traceback(op)}")
        elif op.type in CALLS:
            verb = "maps" if op.type == MAP else "calls"
            callee = body.callees[op.get_attr("subgraph")].name
            lines.append(f"{verb} {callee} at {tf_compat.op_traceback(op)}")
    return "\n  ".join(lines)


def _captures(body: tf_compat.FuncGraph) -> Iterator[str]:
    variables = {id(v.handle): v for v in tf_compat.watched_variables(body)}
    for tensor, _ in body.captures:
        if id(tensor) in variables:
            variable = variables[id(tensor)]
            shape = tf.TensorSpec(variable.shape, variable.dtype)
            yield f"{variable.name.partition(':')[0]} {format_spec(shape)}"
        else:
            yield _named(tensor)


def _named(tensor: Any) -> str:
    spec = format_spec(spec_of(tensor))
    is_eager = isinstance(tensor, tf_compat.EagerTensor)
    return spec if is_eager else f"{tensor.op.name} {spec}"
