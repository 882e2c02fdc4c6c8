"""Attributes of ops, which are set after the fact."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue, NameAttrList

from recursive_tf.python.tf_compat.known_gradients import OWN_GRADIENT, kind_of_gradient

# Attributes that consist of names of ops, or of arguments.
_OF_NAMES = frozenset(("_class", "_user_specified_name"))
_PYTHON_FUNCTIONS = frozenset(("EagerPyFunc", "PyFunc", "PyFuncStateless"))


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


def attributes_of(op: tf.Operation) -> dict[str, AttrValue]:
    """Returns the attributes that say what `op` computes: no name begins with `_`."""
    attrs = op.node_def.attr.items()
    return {name: value for name, value in attrs if not name.startswith("_")}


def signature_of(op: tf.Operation) -> tuple[object, ...]:
    """Returns what is equal of two ops that compute the same of equal inputs."""
    return op.type, *content_of(attributes_of(op))


def content_of(attrs: Mapping[str, AttrValue]) -> tuple[tuple[str, bytes], ...]:
    """Returns what is equal of attributes that are equal."""
    return tuple(
        (name, attrs[name].SerializeToString(deterministic=True))
        for name in sorted(attrs)
    )


def content_of_op(op: tf.Operation) -> bytes | None:
    """Returns what `op` is, without its name, its inputs and what it names.

    So without functions: their names say nothing, and differ each time.

    Returns:
        None if it calls Python, or has a gradient of its own that does: that is no
        content.
    """
    node = op.node_def
    if op.type in _PYTHON_FUNCTIONS:
        return None
    if OWN_GRADIENT in node.attr:
        kind = kind_of_gradient(op)
        if kind is None:
            return None
        node.attr[OWN_GRADIENT].s = kind.encode()
    for field in ("name", "input", "experimental_debug_info"):
        node.ClearField(field)
    for name in list(node.attr):
        kind = node.attr[name].WhichOneof("value")
        if name in _OF_NAMES or kind == "func" or node.attr[name].list.func:
            del node.attr[name]
    return bytes(node.SerializeToString(deterministic=True))


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
