"""What a SubGraph says of itself: inputs, outputs, captures, variables, signature."""

import tensorflow as tf

import recursive_tf as rtf

INT = tf.TensorSpec([], tf.int32)


def power_of(x, scale):
    """Returns a SubGraph of a number that captures a tensor and a variable."""
    with rtf.SubGraph("power") as power:
        n = power.input(tf.int32)
        power.output(tf.cond(n < 1, lambda: x, lambda: scale * x * power(n - 1)))
    return power


def test_inputs_and_outputs_are_structures_of_specs():
    with rtf.SubGraph("f") as f:
        first = f.input({"n": INT, "x": tf.TensorSpec([2])})
        second = f.input(tf.float32, [3])
        f.output({"x": first["x"]}, second)
    assert [*f.inputs[0]] == ["n", "x"]
    assert f.inputs[1].shape == [3]
    assert len(f.inputs) == 2
    assert f.outputs[0]["x"].shape == [2]
    assert f.signature.startswith("({")
    assert f.signature.endswith("-> ({x: float32[2]}, float32[3])")


def test_before_it_is_defined_little_is_known():
    f = rtf.SubGraph("f")
    assert (f.inputs, f.outputs, f.captures, f.variables) == ((), None, (), ())
    assert f.signature == "() -> ?"


def test_captures_are_tensors_and_variables_are_apart():
    x, scale = tf.ones([3]), tf.Variable(2.0)
    power = power_of(x, scale)
    assert len(power.captures) == 1
    assert power.captures[0] is x
    assert len(power.variables) == 1
    assert power.variables[0] is scale


def test_variables_of_what_it_calls_come_after_its_own():
    own, below = tf.Variable(1.0), tf.Variable(2.0)
    with rtf.SubGraph("callee") as callee:
        callee.output(callee.input(tf.float32) * below)
    with rtf.SubGraph("caller") as caller:
        caller.output(callee(own) * own)
    assert [id(one) for one in caller.variables] == [id(own), id(below)]
    assert [id(one) for one in callee.variables] == [id(below)]


def test_gradients_by_all_of_its_variables():
    scale = tf.Variable(2.0)
    power = power_of(tf.constant(3.0), scale)
    with tf.GradientTape() as tape:
        y = power(2)
    (gradient,) = tape.gradient(y, power.variables)
    assert float(y) == 2.0**2 * 3.0**3
    assert float(gradient) == 2 * 2.0 * 3.0**3


def test_those_of_a_memoized_subgraph_are_of_its_body():
    table = tf.Variable([1.0, 2.0])
    with rtf.SubGraph("f", memo=lambda n: n) as f:
        f.output(tf.gather(table, f.input(tf.int32)))
    assert f.variables[0] is table
    assert f.signature == "(int32[]) -> float32[]"


def test_a_decorated_function_has_them_by_signature():
    table = tf.Variable([1.0, 2.0])

    @rtf.subgraph
    def look_up(n):
        return table[n]

    traced = look_up.subgraph_for(INT)
    assert traced.variables[0] is table
    assert traced.outputs.dtype == tf.float32
