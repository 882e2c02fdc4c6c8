"""Ops of the library, called with tensors and attributes that nobody would hand them.

Usage: python -m tests.hostile.op_calls FIRST COUNT. It makes calls from FIRST on, and
says of each that it begins. A call may be refused, fail or run, but not end the
process, take much memory, or run on once it is cancelled.
"""

import collections
import os
import random
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import op_def_registry  # noqa: TID251

from recursive_tf.ops import library
from tests.helpers import damaged

PREFIXES = ("Recursive", "StatelessRecursive", "TracedRecursive")
# What measures the machine, for tens of milliseconds each.
SLOW = {"RecursiveProductPeak"}
RANKS = [[], [], [0], [1], [2], [2], [3], [4], [0, 2], [2, 1], [2, 2], [3, 2]]
SHAPES = [*RANKS, [1, 3], [2, 3], [1, 4], [2, 4], [3, 0], [1, 1, 1]]
NUMBERS = [-(2**31), -2, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 2**31 - 1]
FLOATS = [-1.0, 0.0, 0.5, 1.0, 1e30, float("nan"), float("inf")]
TEXTS = ["", "agenda", "sufficient", "fsm sort 0:0", "fsm max 0,1,1:1", "no such"]
TEXTS += ["1x1 first_come moving", "2x1 critical_path pinned", "99999x1 a b", "summed"]
TYPES = [tf.float32, tf.float64, tf.int32, tf.int64, tf.uint64, tf.bool, tf.string]
TYPES += [tf.variant, tf.half, tf.resource]


def op_defs():
    """Returns all ops that the library registers, by name."""
    names = [name for name in dir(library) if name.startswith(PREFIXES)]
    return [op_def_registry.get(name) for name in names if name not in SLOW]


class Caller:
    """Adds ops to a graph, at random.

    Args:
        seed: Of all that is drawn.
        functions: The names of the graph's functions.
        handles: Tensors that name root calls.
    """

    def __init__(self, seed, functions, handles):
        self._random = random.Random(seed)
        self._functions = functions
        self._handles = handles

    def add(self, op_def):
        """Adds an op to the current graph, and returns it."""
        # Half of all calls agree in shapes, so that more of them get past the checks.
        self._shapes = self._random.choice([SHAPES, [self._pick(SHAPES)]])
        attributes, lengths = {}, {}
        for attribute in op_def.attr:
            attributes[attribute.name] = self._attribute(attribute)
        for argument in op_def.input_arg:
            if argument.number_attr and argument.number_attr not in lengths:
                lengths[argument.number_attr] = self._random.randrange(3)
                attributes[argument.number_attr].i = lengths[argument.number_attr]
        inputs = [
            self._tensor(dtype)
            for argument in op_def.input_arg
            for dtype in _types_of(argument, attributes, lengths)
        ]
        graph = tf.compat.v1.get_default_graph()  # noqa: TID251
        return graph.create_op(op_def.name, inputs, attrs=attributes)

    def _pick(self, items):
        return self._random.choice(items)

    def _attribute(self, attribute):
        allowed = attribute.allowed_values.list
        value = attr_value_pb2.AttrValue()
        kind = attribute.type
        if kind.startswith("list("):
            kind = kind[5:-1]
            for _ in range(self._random.randrange(4)):
                self._add(value.list, kind, allowed)
            value.list.SetInParent()
            return value
        items = attr_value_pb2.AttrValue.ListValue()
        self._add(items, kind, allowed)
        made = next(iter(items.ListFields()))[1][0]
        field = {"int": "i", "bool": "b", "string": "s", "float": "f"}.get(kind, kind)
        if hasattr(made, "CopyFrom"):
            getattr(value, field).CopyFrom(made)
        else:
            setattr(value, field, made)
        return value

    def _add(self, items, kind, allowed):
        if kind == "type":
            dtypes = list(allowed.type) or [t.as_datatype_enum for t in TYPES]
            items.type.append(self._pick(dtypes))
        elif kind == "string":
            texts = list(allowed.s) or [text.encode() for text in TEXTS]
            items.s.append(self._pick(texts))
        elif kind == "func":
            items.func.add().name = self._pick(self._functions)
        elif kind == "shape":
            shape = self._pick(damaged.SHAPES)
            items.shape.add().CopyFrom(tf.TensorShape(shape).as_proto())
        elif kind == "bool":
            items.b.append(self._random.random() < 0.5)
        elif kind == "float":
            items.f.append(self._pick(FLOATS))
        else:
            items.i.append(self._pick(NUMBERS))

    def _tensor(self, dtype):
        shape = self._pick(self._shapes)
        count = int(np.prod(shape))
        if dtype == tf.variant:
            handle = self._pick(self._handles)
            return self._pick([handle, tf.zeros_like(handle), tf.stack([handle])])
        if dtype == tf.resource:
            return tf.raw_ops.VarHandleOp(
                dtype=self._pick([tf.float32, tf.int32]),
                shape=shape,
                shared_name=str(self._random.random()),
            )
        if dtype == tf.string:
            values = [self._pick(TEXTS) for _ in range(count)]
        elif dtype == tf.bool:
            values = [self._random.random() < 0.5 for _ in range(count)]
        elif dtype.is_floating:
            values = [self._pick(FLOATS) for _ in range(count)]
        else:
            number = self._pick([0, 1, None])
            values = [self._number(number) for _ in range(count)]
            values = (
                [value % 2**31 for value in values] if dtype.is_unsigned else values
            )
        return tf.reshape(tf.constant(values, dtype, [count]), shape)

    def _number(self, fixed):
        """Returns a number, most often a small one: another may be no index."""
        if fixed is not None:
            return fixed
        return self._pick(NUMBERS if self._random.random() < 0.3 else [0, 1, 2, 3, 4])


def _types_of(argument, attributes, lengths):
    """Returns the dtype of each tensor that an argument of an op is."""
    if argument.type_list_attr:
        return [tf.as_dtype(t) for t in attributes[argument.type_list_attr].list.type]
    dtype = argument.type or attributes[argument.type_attr].type
    return [tf.as_dtype(dtype)] * lengths.get(argument.number_attr, 1)


def handles_of(graph):
    """Returns the handles of the root calls in a graph."""
    ops = [op for op in graph.get_operations() if op.type.startswith("RecursiveInvoke")]
    return [out for op in ops for out in op.outputs if out.dtype == tf.variant]


def call(number, op_def, programs):
    """Returns what becomes of a call."""
    graph_def, _ = programs[number % len(programs)]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        functions = [f.signature.name for f in graph_def.library.function]
        op = Caller(number, functions, handles_of(graph)).add(op_def)
        damaged.say("call", number, op.node_def.name, _summary(op))
        with damaged.session(graph) as session:
            session.run(list(op.outputs) or op)


def _summary(op):
    inputs = [f"{x.dtype.name}{x.shape.as_list() if x.shape.rank is not None else '?'}"
              for x in op.inputs]  # fmt: skip
    return f"{op.type}({', '.join(inputs)})"


def main(first, count):
    programs = [
        damaged.saved(program, executor, learns=True)
        for program in (damaged.tree, damaged.memo)
        for executor in ("batched", "dataflow")
    ]
    for graph_def, results in programs:
        damaged.run(graph_def, results)
    damaged.limit_memory()
    ops = op_defs()
    outcomes = collections.Counter()
    for number in range(first, first + count):
        op_def = ops[number % len(ops)]
        outcome = damaged.outcome_of(lambda: call(number, op_def, programs))  # noqa: B023
        outcomes[outcome] += 1
        if os.environ.get("DAMAGED_VERBOSE"):
            damaged.say("  ", outcome)
    damaged.say(dict(outcomes))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
