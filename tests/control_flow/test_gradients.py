"""Gradients through what a body may do between its calls.

The expected gradients are TensorFlow's own, of the same program with the recursion
unrolled in Python.
"""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close

pytestmark = [pytest.mark.every_executor, pytest.mark.slow]


@pytest.fixture
def w():
    return tf.Variable([0.5, -1.5])


@pytest.fixture
def x():
    return tf.constant([0.8, 1.2])


def slopes(function, x, weights):
    """Returns the value of a program, and the gradients of a loss that weighs it."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
        loss = tf.reduce_sum(y * tf.constant([1.0, -2.0], y.dtype))
    gradients = tape.gradient(loss, [x, *weights], unconnected_gradients="zero")
    return [y, *map(tf.convert_to_tensor, gradients)]


def assert_same(recursive, unrolled, x, *weights):
    found = slopes(tf.function(recursive), x, weights)
    assert_all_close(found, slopes(unrolled, x, weights))


def recursion(base, step, **signature):
    """Returns x, n -> base(x) for n = 0, and step(x, n, call) above."""
    with rtf.SubGraph("recursion", **signature) as f:
        x, n = f.input(tf.float32, [2]), f.input(tf.int32)
        f.output(tf.cond(n < 1, lambda: base(x), lambda: step(x, n, f)))
    return f


def unroll(base, step, x, n):
    """Computes what `recursion(base, step)` does, in Python."""

    def call(x, n):
        n = int(n)
        return base(x) if n < 1 else step(x, tf.constant(n), call)

    return call(x, n)


# A step of the recursion, by what it shows. `w` is a weight of two elements.
STEPS = {
    "a call whose result is used": lambda w, x, n, f: tf.tanh(w * f(x, n - 1)),
    "a call whose result is used twice": lambda w, x, n, f: square(f(w * x, n - 1)),
    "a call whose result is not used": lambda w, x, n, f: (f(x, n - 1), w * x)[1],
    "an input that is used twice": lambda w, x, n, f: x * f(w * x, n - 1) + x,
    "an input that is handed on": lambda w, x, n, f: f(x, n - 1) * w,
    "two calls": lambda w, x, n, f: f(w * x, n - 1) * f(tf.sin(x), n - 1),
    "a call of the result of a call": lambda w, x, n, f: f(w * f(x, n - 1), n - 2),
    "a call with a constant": lambda w, x, n, f: w * f(tf.ones([2]), n - 1),
    "no call": lambda w, x, n, f: w * x,
    "a plain conditional before the call": lambda w, x, n, f: f(
        tf.cond(x[0] > 0.5, lambda: w * x, lambda: x - w), n - 1
    ),
    "a plain conditional after the call": lambda w, x, n, f: branch_on(f(x, n - 1), w),
    "a call in one branch of an inner conditional": lambda w, x, n, f: tf.cond(
        x[0] > 0.5, lambda: f(x * 0.7, n - 1) * w, lambda: w - x
    ),
    "a call in each branch of an inner conditional": lambda w, x, n, f: tf.cond(
        tf.equal(n % 2, 0), lambda: f(w * x, n - 1), lambda: tf.exp(f(x, n - 1))
    ),
    "a conditional in a conditional": lambda w, x, n, f: tf.cond(
        n < 2,
        lambda: tf.cond(x[0] > 9, lambda: x, lambda: f(w * x, n - 1)),
        lambda: tf.cond(x[0] > 9, lambda: f(x, n - 1), lambda: w * f(x + w, n - 1)),
    ),
    "a switch": lambda w, x, n, f: tf.switch_case(
        n % 3, [lambda: w + x, lambda: f(w * x, n - 1), lambda: f(x, n - 1) * x]
    ),
    "a switch in a conditional": lambda w, x, n, f: tf.cond(
        x[1] > 0,
        lambda: tf.switch_case(n % 2, [lambda: f(w * x, n - 1), lambda: f(w, n - 1)]),
        lambda: x,
    ),
    "a case": lambda w, x, n, f: tf.case(
        [(n < 2, lambda: f(w * x, n - 1)), (n < 3, lambda: w)],
        default=lambda: x * f(x, n - 1),
    ),
    "a branch without a gradient": lambda w, x, n, f: tf.cond(
        n < 2, lambda: tf.ones([2]), lambda: w * f(x, n - 1)
    ),
    "a branch that returns an outer tensor": lambda w, x, n, f: tf.cond(
        n < 2, lambda: x, lambda: f(x * w, n - 1)
    ),
    "a loop": lambda w, x, n, f: f(repeat(3, lambda _, y: y * w + 0.1, x), n - 1),
    "a loop whose steps are computed": lambda w, x, n, f: repeat(
        n, lambda _, y: y * w, f(x, n - 1)
    ),
    "a loop in a branch": lambda w, x, n, f: tf.cond(
        n < 2, lambda: repeat(2, lambda _, y: w * y * y, x), lambda: w * f(x, n - 1)
    ),
    "a branch in a loop": lambda w, x, n, f: repeat(
        3, lambda i, y: tf.cond(i < 1, lambda: y * w, lambda: y - w), f(x, n - 1)
    ),
    "a call in a loop": lambda w, x, n, f: repeat(
        2, lambda _, y: w * f(y, n - 1) + 0.1, x
    ),
    "two calls in a loop": lambda w, x, n, f: repeat(
        2, lambda _, y: f(w * y, n - 1) + f(y, n - 2), x
    ),
    "a call in a branch in a loop": lambda w, x, n, f: repeat(
        3, lambda i, y: tf.cond(i < 1, lambda: f(y * w, n - 1), lambda: y * w), x
    ),
    "a call in a loop in a branch": lambda w, x, n, f: tf.cond(
        n < 2, lambda: w * x, lambda: repeat(2, lambda _, y: w * f(y, n - 1), x)
    ),
    "a call in a loop in a loop": lambda w, x, n, f: repeat(
        2, lambda _, y: repeat(2, lambda _, z: w * f(z, n - 1), y), x
    ),
    "a loop over a call as often as computed": lambda w, x, n, f: repeat(
        n, lambda i, y: y + f(w * x, i), x
    ),
    "a loop in a loop in a branch in a loop": lambda w, x, n, f: repeat(
        2,
        lambda i, y: tf.cond(
            i < 1,
            lambda: repeat(2, lambda _, z: repeat(2, lambda _, v: w * v, z), y),
            lambda: y + w,
        ),
        f(x, n - 1),
    ),
    "a function in a loop in a loop": lambda w, x, n, f: repeat(
        2,
        lambda _, y: repeat(2, lambda _, z: function(lambda v: tf.sin(w * v))(z), y),
        f(x, n - 1),
    ),
    "a function called twice": lambda w, x, n, f: twice(
        function(lambda y: tf.sin(w * y)), f(x, n - 1)
    ),
    "a tensor array": lambda w, x, n, f: collect(n, lambda i: f(w * x, i)),
    "map_fn": lambda w, x, n, f: tf.reduce_sum(
        tf.map_fn(lambda row: row * w, tf.stack([x, f(x, n - 1)])), 0
    ),
    "a function": lambda w, x, n, f: function(lambda y: w * y)(f(x, n - 1)),
    "a function that calls": lambda w, x, n, f: function(lambda y: f(w * y, n - 1))(x),
    "stop_gradient": lambda w, x, n, f: w * f(x, n - 1) + tf.stop_gradient(w * x),
    "a custom gradient": lambda w, x, n, f: doubled_gradient(w * f(x, n - 1)),
    "a custom gradient in a branch": lambda w, x, n, f: tf.cond(
        n < 2, lambda: doubled_gradient(w * x), lambda: f(w * x, n - 1)
    ),
    "a custom gradient in a loop": lambda w, x, n, f: repeat(
        2, lambda _, y: doubled_gradient(w * y), f(x, n - 1)
    ),
    "a custom gradient that uses values": lambda w, x, n, f: tf.nn.swish(
        w * f(x, n - 1)
    ),
    "a custom gradient that uses values of a branch": lambda w, x, n, f: tf.cond(
        n < 2, lambda: tf.nn.swish(w * x), lambda: f(tf.nn.swish(w * x), n - 1)
    ),
    "a custom gradient that uses values of a loop": lambda w, x, n, f: repeat(
        2, lambda _, y: tf.nn.swish(w * y), f(x, n - 1)
    ),
    "a custom gradient that uses values of a loop with a call": lambda w, x, n, f: (
        repeat(2, lambda _, y: tf.nn.swish(w * f(y, n - 1)), x)
    ),
    "a custom gradient that uses values of a function": lambda w, x, n, f: function(
        lambda y: tf.nn.swish(w * y)
    )(f(x, n - 1)),
    "a custom gradient in a function that is called twice": lambda w, x, n, f: twice(
        function(lambda y: tf.nn.swish(w * y)), f(x, n - 1)
    ),
    "a custom gradient that uses values of the outside": lambda w, x, n, f: (
        tf.nn.swish(w) * f(tf.nn.swish(x), n - 1)
    ),
    "grad_pass_through": lambda w, x, n, f: tf.grad_pass_through(tf.round)(
        w * f(x, n - 1)
    ),
    "recompute_grad": lambda w, x, n, f: tf.recompute_grad(lambda y: tf.sin(y) * x)(
        w * f(x, n - 1)
    ),
    "shapes that are used": lambda w, x, n, f: (
        w * f(x, n - 1) / tf.cast(tf.shape(x)[0], tf.float32)
    ),
    "a print and an assertion": lambda w, x, n, f: asserted(w * f(x, n - 1)),
    "integers on the way": lambda w, x, n, f: (
        w * f(x, n - 1) * tf.cast(tf.argmax(x), tf.float32)
    ),
}


def square(y):
    return y * y


def twice(f, y):
    return f(f(y))


def branch_on(y, w):
    return tf.cond(y[0] > 0, lambda: w * y, lambda: y - w)


def repeat(times, step, x):
    return tf.while_loop(
        lambda i, _: i < times, lambda i, y: (i + 1, step(i, y)), (0, x)
    )[1]


def collect(size, element):
    array = tf.TensorArray(tf.float32, size, element_shape=[2])
    _, array = tf.while_loop(
        lambda i, _: i < size, lambda i, a: (i + 1, a.write(i, element(i))), (0, array)
    )
    return tf.reduce_sum(array.stack(), 0)


@tf.custom_gradient
def doubled_gradient(x):
    return tf.identity(x), lambda dy: 2.0 * dy


def function(f):
    """Makes a function of `f` while a body is traced: what is unrolled has none."""
    return f if tf.executing_eagerly() else tf.function(f)


def asserted(x):
    tf.debugging.assert_less(x, 1e9)
    return tf.identity(x)


@pytest.mark.parametrize("shows", STEPS)
@pytest.mark.falls_back("a list of unknown length", at="a tensor array")
def test_a_step_of_a_recursion_has_the_gradient_of_the_unrolled_one(shows, w, x):
    def step(x, n, f):
        return STEPS[shows](w, x, n, f)

    f = recursion(tf.sin, step)
    assert_same(lambda x: f(x, 3), lambda x: unroll(tf.sin, step, x, 3), x, w)


def test_the_base_case_may_be_the_second_branch(w, x):
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32, [2]), f.input(tf.int32)
        f.output(tf.cond(n > 0, lambda: w * f(tf.sin(y), n - 1), lambda: w + y))
    sin = tf.sin
    assert_same(lambda x: f(x, 2), lambda x: w * w * (w + sin(sin(x))), x, w)


def test_a_step_may_look_at_values_that_it_computed(w, x):
    def descend(y, f):
        return tf.cond(tf.norm(y) < 0.3, lambda: w + y, lambda: f(0.7 * y) * w)

    with rtf.SubGraph("shrink") as shrink:
        y = shrink.input(tf.float32, [2])
        shrink.output(descend(y, shrink))

    def unrolled(y):
        return descend(y, unrolled)

    assert_same(shrink, unrolled, x, w)


# --- Several SubGraphs


def test_mutual_recursion(w, x):
    even, odd = rtf.SubGraph("even"), rtf.SubGraph("odd")
    with even:
        y, n = even.input(tf.float32, [2]), even.input(tf.int32)
        even.output(tf.cond(n < 1, lambda: y, lambda: w * odd(tf.sin(y), n - 1)))
    with odd:
        y, n = odd.input(tf.float32, [2]), odd.input(tf.int32)
        odd.output(tf.cond(n < 1, lambda: -y, lambda: y + even(w * y, n - 1)))

    def in_python(y, n):
        if n < 1:
            return y
        y = tf.sin(y)
        return w * (-y if n < 2 else y + in_python(w * y, n - 2))

    for n in (2, 3):
        assert_same(lambda x, n=n: even(x, n), lambda x, n=n: in_python(x, n), x, w)


def test_a_subgraph_that_another_one_calls(w, x):
    with rtf.SubGraph("scale") as scale:
        scale.output(w * scale.input(tf.float32, [2]))
    f = recursion(tf.sin, lambda x, n, f: scale(f(scale(x), n - 1)))
    assert_same(lambda x: f(x, 2), lambda x: w**2 * tf.sin(w**2 * x), x, w)


def test_what_a_subgraph_uses_of_the_body_around_it_has_a_gradient(w, x):
    with rtf.SubGraph("outer") as outer:
        y = outer.input(tf.float32, [2])
        hidden = w * y
        with rtf.SubGraph("inner") as inner:
            z, n = inner.input(tf.float32, [2]), inner.input(tf.int32)
            inner.output(tf.cond(n < 1, lambda: z, lambda: hidden * inner(z, n - 1)))
        outer.output(inner(tf.sin(y), 3))
    assert_same(outer, lambda x: (w * x) ** 3 * tf.sin(x), x, w)


def test_what_a_branch_hands_to_a_subgraph_within_it_has_a_gradient(w, x):
    with rtf.SubGraph("outer") as outer:
        y, n = outer.input(tf.float32, [2]), outer.input(tf.int32)

        def deeper():
            hidden = outer(w * y, n - 1)
            with rtf.SubGraph("inner") as inner:
                inner.output(hidden * inner.input(tf.float32, [2]))
            return inner(y) + inner(hidden)

        outer.output(tf.cond(n < 1, lambda: tf.sin(y), deeper))

    def in_python(y, n):
        if n < 1:
            return tf.sin(y)
        hidden = in_python(w * y, n - 1)
        return hidden * y + hidden * hidden

    assert_same(lambda x: outer(x, 2), lambda x: in_python(x, 2), x, w)


def test_the_callers_in_between_hand_on_what_is_hidden(w, x):
    """`inner` does not use the outer tensor: what it calls does."""
    with rtf.SubGraph("outer") as outer:
        y = outer.input(tf.float32, [2])
        hidden = w * y
        with rtf.SubGraph("leaf") as leaf:
            leaf.output(hidden * leaf.input(tf.float32, [2]))
        with rtf.SubGraph("inner") as inner:
            z, n = inner.input(tf.float32, [2]), inner.input(tf.int32)
            inner.output(tf.cond(n < 1, lambda: z, lambda: leaf(inner(z, n - 1))))
        outer.output(inner(tf.sin(y), 2))
    assert_same(outer, lambda x: (w * x) ** 2 * tf.sin(x), x, w)


# --- Outputs


def test_an_output_may_be_an_input_and_another_a_constant(w, x):
    with rtf.SubGraph("f") as f:
        y, n = f.input(tf.float32, [2]), f.input(tf.int32)
        f.output(
            tf.cond(
                n < 1,
                lambda: (y, tf.constant([1.0, 2.0]), y),
                lambda: tuple(w * z for z in f(y, n - 1)),
            )
        )

    def together(outputs):
        return outputs[0] * outputs[1] + tf.sin(outputs[2])

    def in_python(x):
        return together((w**2 * x, w**2 * tf.constant([1.0, 2.0]), w**2 * x))

    assert_same(lambda x: together(f(x, 2)), in_python, x, w)


@pytest.mark.falls_back("a shape that differs between invocations")
def test_rows_may_be_of_any_number(w, x):
    """A list that grows on the way down has a gradient of its own length."""
    with rtf.SubGraph("grow") as grow:
        rows, n = grow.input(tf.float32, [None, 2]), grow.input(tf.int32)
        grow.output(
            tf.cond(
                n < 1,
                lambda: tf.reduce_prod(rows, 0),
                lambda: grow(tf.concat([rows, rows[:1] * w], 0), n - 1),
            )
        )
    assert_same(lambda x: grow(x[tf.newaxis], 3), lambda x: x**4 * w**3, x, w)


def test_a_recursion_of_ten_thousand_levels_has_a_gradient():
    w = tf.Variable(1.0, dtype=tf.float64)
    depth = 10_000
    with rtf.SubGraph("deep") as deep:
        n = deep.input(tf.int32)
        deep.output(
            tf.cond(n < 1, lambda: tf.ones([], w.dtype), lambda: w * deep(n - 1))
        )
    with tf.GradientTape() as tape:
        y = deep(depth)
    assert float(tape.gradient(y, w)) == depth


def test_a_custom_gradient_may_use_a_constant_of_the_outside(w, x):
    big = tf.range(1000.0)

    @tf.custom_gradient
    def scaled(y):
        return tf.identity(y), lambda dy: dy * big[2]

    f = recursion(tf.sin, lambda x, n, f: scaled(w * f(x, n - 1)))
    assert_same(lambda x: f(x, 2), lambda x: scaled(w * scaled(w * tf.sin(x))), x, w)


@pytest.mark.falls_back("a gradient that cannot be batched")
def test_a_custom_gradient_that_uses_a_variable_of_its_own_is_refused(w, x):
    @tf.custom_gradient
    def scaled(y):
        return tf.identity(y), lambda dy: dy * w

    f = recursion(tf.sin, lambda x, n, f: scaled(f(x, n - 1)))
    with pytest.raises(NotImplementedError, match="Make it an argument"):
        slopes(lambda x: f(x, 2), x, [w])


def test_a_body_may_use_a_gradient_of_its_own_ops(w, x):
    def slope(y):
        z = tf.sin(w * y)
        return tf.gradients(z, y)[0]

    f = recursion(tf.sin, lambda x, n, f: slope(f(x, n - 1)))
    assert_same(lambda x: f(x, 1), lambda x: w * tf.cos(w * tf.sin(x)), x, w)


# --- Effects


def counted(w, counter):
    """Returns x, n -> w^n x; each of its invocations counts itself."""
    with rtf.SubGraph("counted") as f:
        y, n = f.input(tf.float32, [2]), f.input(tf.int32)
        counter.assign_add(1)
        f.output(tf.cond(n < 1, lambda: y, lambda: w * f(y, n - 1)))
    return f


@pytest.mark.falls_back("an effect")
def test_a_program_with_an_effect_has_the_same_gradient(w, x):
    counter = tf.Variable(0)
    f = counted(w, counter)
    assert_same(lambda x: f(x, 3), lambda x: w**3 * x, x, w)


@pytest.mark.falls_back("an effect")
def test_a_gradient_does_not_repeat_an_effect(w, x):
    counter = tf.Variable(0)
    f = counted(w, counter)
    with tf.GradientTape() as tape:
        y = f(x, 3)
    tape.gradient(y, w)
    assert int(counter) == 4


@pytest.mark.falls_back("an effect")
def test_a_gradient_uses_the_weight_as_it_was_when_it_was_read(x):
    """Each level reads the weight, and doubles it before the next one."""
    w = tf.Variable([0.5, -1.5])
    with rtf.SubGraph("doubling") as doubling:
        y, n = doubling.input(tf.float32, [2]), doubling.input(tf.int32)

        def more():
            value = w.read_value()
            with tf.control_dependencies([value]):
                changed = w.assign(2.0 * value, read_value=False)
            with tf.control_dependencies([changed]):
                return value * doubling(tf.identity(y), n - 1)

        doubling.output(tf.cond(n < 1, lambda: y, more))
    with tf.GradientTape() as tape:
        tape.watch(x)
        product = tf.reduce_sum(doubling(x, 2))
    by_x, by_w = tape.gradient(product, [x, w])
    start = np.array([0.5, -1.5])
    np.testing.assert_allclose(w, 4 * start)
    np.testing.assert_allclose(by_x, start * 2 * start)
    np.testing.assert_allclose(by_w, x * (start + 2 * start), rtol=1e-6)


@pytest.mark.parametrize("kind", ["bool", "int32"])
def test_what_a_loop_only_reads_and_has_no_gradient_gets_none(w, kind):
    """TensorFlow's gradient of a loop has zeros for it, of its own dtype."""
    flag = tf.Variable(tf.cast(1, kind))

    with rtf.SubGraph("f", output_signature=tf.TensorSpec([2])) as f:
        n = f.input(tf.int32)

        def more():
            def step(i, y):
                return i + 1, tf.sin(w * y * tf.cast(flag, tf.float32))

            return tf.while_loop(lambda i, *_: i < 2, step, (0, f(n - 1)))[1]

        f.output(tf.cond(n < 1, lambda: tf.sin(w), more))

    def unrolled(n):
        y = tf.sin(w)
        for _ in range(2 * n):
            y = tf.sin(w * y)
        return y

    with tf.GradientTape() as tape:
        found = f(2)
    gradients = tape.gradient(found, [w, flag])
    with tf.GradientTape() as tape:
        expected = unrolled(2)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(gradients[0], tape.gradient(expected, w), rtol=1e-5)
    assert gradients[1] is None


@pytest.mark.parametrize("conditional", ["cond", "switch_case"])
def test_a_conditional_whose_inputs_have_no_gradient_has_one(conditional):
    scale = tf.Variable(0.5)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        branches = [lambda: tf.sin(tf.cast(n, tf.float32)), lambda: tf.constant(0.3)]
        if conditional == "cond":
            y = tf.cond(n < 1, *branches)
        else:
            y = tf.switch_case(n, branches)
        f.output(scale * y)
    with tf.GradientTape() as tape:
        y = f(1)
    np.testing.assert_allclose(tape.gradient(y, scale), 0.3, rtol=1e-6)


@pytest.mark.falls_back("an unknown shape")
def test_a_map_over_no_rows_of_unknown_shape_has_a_gradient():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        x = f.input(tf.float32, [None])
        f.output(tf.reduce_sum(x) * tf.cast(n, tf.float32))
    rows = tf.zeros([0, 3])
    with tf.GradientTape() as tape:
        tape.watch(rows)
        y = f.map(tf.zeros([0], tf.int32), rows)
    assert tape.gradient(y, rows).shape == [0, 3]


@pytest.mark.parametrize("conditional", ["cond", "switch_case"])
def test_branches_may_return_shapes_of_their_own(w, conditional):
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([None])) as f:
        n = f.input(tf.int32)
        branches = [lambda: tf.constant([0.3]), lambda: tf.tanh(w)]
        if conditional == "cond":
            f.output(tf.cond(n < 1, *branches))
        else:
            f.output(tf.switch_case(n, branches))
    for n, expected in ((0, [0.0, 0.0]), (1, 1 - np.tanh([0.5, -1.5]) ** 2)):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(f(n))
        gradient = tape.gradient(loss, w, unconnected_gradients="zero")
        np.testing.assert_allclose(gradient, expected, rtol=1e-5)
