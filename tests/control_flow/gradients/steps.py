"""Steps of a recursion, by what they show; `w` is a weight of two elements."""

import tensorflow as tf

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
