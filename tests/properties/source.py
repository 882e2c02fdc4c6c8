"""The text of a random program: Python for the library, complete and runnable."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping

from tests.properties import checking
from tests.properties.body_source import (
    BodyText,
    declaration,
    indented,
    packed_text,
    shape_text,
    spec_text,
)
from tests.properties.choices import EXECUTORS, LEARNED
from tests.properties.forests import capture_values
from tests.properties.operations import Array
from tests.properties.syntax import (
    BOOL,
    CHILDREN,
    COUNTS,
    WORDS,
    Program,
    Type,
    Var,
)

_HEAD = '''\
"""A random recursive program, and what it shows on one forest."""

import collections
from typing import Any

import numpy as np
import tensorflow as tf

import recursive_tf as rtf

# TensorFlow 2.21 makes the gradient of where(False, x, y + (x - x)) in a tf.cond empty.
tf.config.optimizer.set_experimental_options({"arithmetic_optimization": False})

Pair = collections.namedtuple("Pair", ["first", "second"])
counter = tf.Variable(0)
generator = tf.random.Generator.from_seed(7)


@tf.custom_gradient
def slanted(x):
    """Returns x; its gradient is another than that of x, and needs x."""
    return tf.identity(x), lambda dy: 0.5 * dense(dy) * tf.cos(3 * x)


@tf.custom_gradient
def steady(x):
    """Returns sin(x), and says itself how that grows."""
    return tf.sin(x), lambda dy: dense(dy) * tf.cos(x)


def dense(gradient):
    """Returns a gradient, which after a lookup is `tf.IndexedSlices`, as a tensor."""
    return tf.convert_to_tensor(gradient)


def for_each(rows, x):
    """Returns as many copies of x as there are rows."""
    return tf.tile(x[tf.newaxis], [tf.shape(rows)[0], *[1] * x.shape.rank])


def sum_of(rows):
    """Returns one value of many, even if there are none."""
    if rows.dtype == tf.bool:
        return tf.reduce_any(rows, 0)
    total = tf.reduce_sum(rows, 0)
    return total % 7 if rows.dtype.is_integer else total


def draw(shape, dtype):
    """Returns random numbers that are exact in every dtype."""
    whole = generator.uniform(shape, -64, 65, tf.int32)
    return tf.cast(whole, dtype) / 64
'''

LOSS = '''
def loss_of(outputs, pushed):
    """Returns the sum of all floats, each with a weight of its own."""
    loss = tf.zeros([], tf.float64)
    values = outputs + [pushed[name] for name in TABLES]
    for position, value in enumerate(values):
        if value.dtype.is_complex:
            value = tf.math.real(value) + 0.5 * tf.math.imag(value)
        if value.dtype.is_floating:
            flat = tf.reshape(tf.cast(value, tf.float64), [-1])
            order = tf.cast(tf.range(tf.size(flat)), tf.float64)
            loss += tf.reduce_sum(flat * tf.sin(1.7 * order + position))
    return loss
'''

SLOPE = '''
def slope_of(gradients):
    """Returns the sum of all gradients, each number with a weight of its own."""
    slope = tf.zeros([], tf.float64)
    for position, value in enumerate(gradients):
        if value is not None:
            flat = tf.reshape(tf.cast(value, tf.float64), [-1])
            order = tf.cast(tf.range(tf.size(flat)), tf.float64)
            slope += tf.reduce_sum(flat * tf.sin(1.7 * order + position))
    return slope
'''

# Which the policy "fsm" takes from then on.
_LEARN = '''
learned = []
start_as_learned = start


def start(data):
    """Learns a policy from a first run, if that is batched."""
    if not learned:
        try:
            rtf.learn_policy(start_as_learned, [(data,)], trials=10, verbose=False)
        except rtf.SubGraphError as error:
            # It is not batched.
            if "nothing to learn from" not in str(error):
                raise
        learned.append(True)
        counter.assign(0)
        generator.reset_from_seed(7)
    return start_as_learned(data)
'''

_RUN = '''
def run(data):
    """Returns all that a run on a forest shows, by name."""
    counter.assign(0)
    generator.reset_from_seed(7)
    data = {name: tf.constant(data[name], s.dtype) for name, s in SPECS.items()}
    outputs, pushed, gradients, *second = start(data)
    found = {"counter": counter}
    found.update({f"output {i}": y for i, y in enumerate(outputs)})
    found.update({f"pushed {name}": pushed[name] for name in TABLES})
    found.update({f"gradient of {n}": g for n, g in zip(SOURCES, gradients)})
    for n, g in zip(SOURCES, *second) if second else ():
        found[f"gradient of gradient of {n}"] = g
    return {k: None if v is None else v.numpy() for k, v in found.items()}
'''

# How the root call is made, by `Program.form`.
_STEP = """
{decorator}def step({parameters}):
    with tf.GradientTape() as tape:
        tape.watch([{watched}])
        {callee}
        outputs, pushed = {call}(root{arguments}, with_pushed=True)
        outputs = tf.nest.flatten(outputs)
        loss = loss_of(outputs, pushed)
    gradients = tape.gradient(loss, [{sources}])
    gradients = [None if g is None else tf.convert_to_tensor(g) for g in gradients]
    return outputs, pushed, gradients
"""

_STEP_OF_SECOND_ORDER = """
{decorator}def step({parameters}):
    with tf.GradientTape() as outer:
        outer.watch([{watched}])
        with tf.GradientTape() as tape:
            tape.watch([{watched}])
            {callee}
            outputs, pushed = {call}(root{arguments}, with_pushed=True)
            outputs = tf.nest.flatten(outputs)
            loss = loss_of(outputs, pushed)
        gradients = tape.gradient(loss, [{sources}])
        gradients = [None if g is None else tf.convert_to_tensor(g) for g in gradients]
        slope = slope_of(gradients)
    second = outer.gradient(slope, [{sources}])
    second = [None if g is None else tf.convert_to_tensor(g) for g in second]
    return outputs, pushed, gradients, second
"""

_START_WITH_ARGUMENTS = """
def start(data):
    return step(*[data[name] for name in SPECS]{tensors})
"""

_START_WITH_VARIABLES = """
def start(data):
    for variable in [children, counts, words, features]:
        variable.assign(data[variable.name.split(":")[0]])
    return step(*[data[name] for name in ARGUMENTS])
"""

_MAIN = """
# --- What is wrong

DATA = {data}
EXPECTED = {expected}
TOLERANCE = {tolerance}

if __name__ == "__main__":
    check(run(DATA), EXPECTED, TOLERANCE)
"""


def program_source(program: Program, executor: str = "dataflow") -> str:
    """Returns a module with `run`, from the data of a forest to what a run shows.

    Args:
        program: The program.
        executor: One of `choices.EXECUTORS`.
    """
    return "\n".join(_lines(program, executor))


def script(
    text: str,
    data: Mapping[str, Array],
    expected: Mapping[str, Array | None],
    tolerance: Mapping[str, Array],
) -> str:
    """Returns a module that ends with an error if a run does not show `expected`.

    Args:
        text: Of `program_source`.
        data: Of a forest.
        expected: What a run on it has to show.
        tolerance: How exactly, by name.
    """
    main = _MAIN.format(
        data=_table(data),
        expected=_table(expected),
        tolerance=_table(tolerance),
    )
    return text + "\n\n" + inspect.getsource(checking.check) + main


def _table(values: Mapping[str, Array | None]) -> str:
    def text(value: Array | None) -> str:
        if value is None or value.size:
            return repr(value if value is None else value.tolist())
        # A list would lose its shape.
        return f"np.zeros({list(value.shape)}, np.{value.dtype})"

    return "{\n" + "".join(f"    {k!r}: {text(v)},\n" for k, v in values.items()) + "}"


def _lines(program: Program, executor: str) -> Iterator[str]:
    yield _HEAD
    yield f"CHOICES = {EXECUTORS[executor]}"
    yield f"TABLES = {[name for name, _ in program.tables]}"
    yield f"ARGUMENTS = {['root', *(x.name for x in program.arguments)]}"
    yield f"SOURCES = {[x.name for x in program.sources]}"
    yield "SPECS = {"
    for var in _parameters(program):
        yield f"    {var.name!r}: {spec_text(var.type)},"
    yield "}"
    yield from _capture_lines(program)
    yield ""
    yield f"def define({', '.join(v.name for v in _defining(program))}):"
    yield from indented(_define_lines(program))
    yield LOSS
    if program.order > 1:
        yield SLOPE
    yield _step(program)
    if executor == LEARNED:
        yield _LEARN
    yield _RUN


# --- The outside of SubGraphs


def _forest_vars(program: Program) -> list[Var]:
    children = Var(CHILDREN.name, Type("int32", (None, program.arity)))
    return [children, COUNTS, WORDS, program.features]


def _parameters(program: Program) -> list[Var]:
    rows = (None,) if program.is_mapped else ()
    arguments = [Var("root", Type("int32")), *program.arguments]
    mapped = [Var(x.name, Type(x.type.dtype, rows + x.type.shape)) for x in arguments]
    return _forest_vars(program) + mapped


def _tensors(program: Program) -> list[Var]:
    """Returns the captures that a `tf.function` takes as its arguments."""
    if program.form != "inside":
        return []
    return [c.var for c in program.captures if not c.is_variable]


def _defining(program: Program) -> list[Var]:
    return _forest_vars(program) + _tensors(program)


def _capture_lines(program: Program) -> Iterator[str]:
    values = capture_values(program)
    for capture in program.captures:
        var = capture.var
        of_values = f"{values[var.name].tolist()}, dtype=tf.{var.type.dtype}"
        # A tape in a function follows variables of the outside, but no tensors.
        is_followed = program.form == "outside" and var.type != BOOL
        is_variable = capture.is_variable or is_followed
        maker = "Variable" if is_variable else "constant"
        yield f"{var.name} = tf.{maker}({of_values})"
    if program.form == "inside":
        return
    for var in _forest_vars(program):
        empty = [0 if n is None else n for n in var.type.shape]
        yield (
            f"{var.name} = tf.Variable(tf.zeros({empty}, tf.{var.type.dtype}), "
            f"shape={shape_text(var.type)}, name={var.name!r})"
        )


def _step(program: Program) -> str:
    is_inside = program.form == "inside"
    define = f"define({', '.join(v.name for v in _defining(program))})"
    taken = _parameters(program)[0 if is_inside else 4 :]
    specs = [f"*list(SPECS.values())[{0 if is_inside else 4}:]"]
    specs += [spec_text(var.type) for var in _tensors(program)]
    names = [var.name for var in taken + _tensors(program)]
    roots = [x.name for x in program.arguments]
    decorator = f"@tf.function(autograph=False, input_signature=[{', '.join(specs)}])\n"
    step = _STEP if program.order == 1 else _STEP_OF_SECOND_ORDER
    text = step.format(
        decorator="" if program.form == "eager" else decorator,
        parameters=", ".join(names),
        watched=", ".join(
            x.name for x in program.sources if x.name in _watched(program)
        ),
        callee=f"f = {define}" if is_inside else "f = the_program",
        call="f.map" if program.is_mapped else "f",
        arguments="".join(f", {text}" for text in packed_text(program.root, roots)),
        sources=", ".join(x.name for x in program.sources),
    )
    if is_inside:
        tensors = "".join(f", {var.name}" for var in _tensors(program))
        return text + _START_WITH_ARGUMENTS.format(tensors=tensors)
    return f"\nthe_program = {define}\n" + text + _START_WITH_VARIABLES


def _watched(program: Program) -> set[str]:
    """Returns the names of what is a tensor where the tape is."""
    found = {x.name for x in program.float_arguments}
    if program.form == "inside":
        found |= {program.features.name} | {var.name for var in _tensors(program)}
    if program.form == "eager":
        found |= {c.var.name for c in program.captures if not c.is_variable}
    return found


# --- SubGraphs


def _define_lines(program: Program) -> Iterator[str]:
    for subgraph in program.subgraphs:
        yield declaration(subgraph.header)
    headers = {s.header.name: s.header for s in program.subgraphs}
    captured = frozenset(c.var.name for c in program.captures) | {"features"}
    for subgraph in program.subgraphs:
        yield from BodyText(subgraph, headers, captured).definition()
    yield f"return {program.root.name}"
