"""Where a root call may stand, and what may stand around it."""

from functools import partial

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.derivatives import differentiated
from tests.helpers.threads import run_in_threads
from tests.helpers.unrolled import assert_close, define_repeat, unroll
from tests.language.features import feature

feature = partial(feature, "Where a root call may be")

W = 1.5
ROWS = [0.5, -1.0, 2.0]


@pytest.fixture
def w():
    return tf.Variable(W)


@pytest.fixture
def step(w):
    return lambda y, n: tf.sin(y * w) * tf.cast(n, tf.float32)


@pytest.fixture
def runs(step):
    """A recursion of a number, three deep, and the loop that it unrolls to."""
    repeat = define_repeat(step)
    return lambda x: repeat(3, x), lambda x: unroll(step, 3, x)


def assert_all_close(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other)


# --- Functions


@feature("eagerly", gradients=True)
def test_eagerly(runs, w):
    x = tf.constant(0.7)
    assert_all_close(*(differentiated(run, w)(x) for run in runs))


@feature(
    "`tf.function`, that defines the SubGraph or uses one of the outside",
    gradients=True,
)
def test_functions(runs, step, w):
    @tf.function
    def defining(x):
        return differentiated(lambda x: define_repeat(step)(3, x), w)(x)

    x = tf.constant(0.7)
    recurse, loop = (differentiated(run, w) for run in runs)
    assert_all_close(tf.function(recurse)(x), loop(x))
    assert_all_close(defining(x), loop(x))


@feature("a function that is traced again for other shapes and dtypes", gradients=True)
def test_retracing(w):
    @tf.function
    def run(x):
        step = lambda y, n: tf.sin(y) * tf.cast(w, y.dtype)  # noqa: E731
        repeat = define_repeat(step, x.dtype, x.shape)
        return differentiated(lambda x: repeat(3, x), w)(x)

    for x in [0.5, [0.5, 1.0], [[2.0]], tf.constant([1, -1], tf.float64)]:
        x = tf.constant(x)
        step = lambda y, n: tf.sin(y) * tf.cast(w, y.dtype)  # noqa: E731
        loop = differentiated(lambda x, step=step: unroll(step, 3, x), w)
        assert_all_close(run(x), loop(x))
    assert run.experimental_get_tracing_count() == 4


@feature("`tf.function(reduce_retracing=True)`", gradients=True)
def test_reduced_retracing(step, w):
    repeat = define_repeat(step)

    @tf.function(reduce_retracing=True)
    def run(x):
        return differentiated(lambda x: repeat.map(tf.fill(tf.shape(x), 3), x), w)(x)

    for count in range(1, 5):
        x = tf.linspace(-1.0, 1.0, count)
        loop = lambda x: tf.stack([unroll(step, 3, y) for y in tf.unstack(x)])  # noqa: E731
        assert_all_close(run(x), differentiated(loop, w)(x))
    assert run.experimental_get_tracing_count() == 2


@feature("`tf.config.run_functions_eagerly(True)`", gradients=True)
def test_functions_that_run_eagerly(runs, step, w):
    recurse, loop = (differentiated(run, w) for run in runs)
    x = tf.constant(0.7)
    tf.config.run_functions_eagerly(True)
    try:
        defined = tf.function(lambda x: define_repeat(step)(3, x))
        assert_all_close(tf.function(recurse)(x), loop(x))
        assert_all_close(differentiated(defined, w)(x), loop(x))
    finally:
        tf.config.run_functions_eagerly(False)


@feature("`tf.py_function`", gradients=True)
def test_python_functions(runs, w):
    @tf.function
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(runs[0], [x], tf.float32)
        return y, tape.gradient(y, x)

    x = tf.constant(0.7)
    assert_all_close(run(x), differentiated(runs[1], w)(x)[:2])


@feature("several threads at once", gradients=True)
def test_threads(runs, w):
    recurse, loop = (differentiated(run, w) for run in runs)
    traced = tf.function(recurse)
    inputs = [tf.constant(0.1 * i) for i in range(16)]
    for function in (recurse, traced):
        found = run_in_threads(lambda i, f=function: f(inputs[i]), len(inputs))
        for x, one in zip(inputs, found, strict=True):
            assert_all_close(one, loop(x))


@feature(
    "`tf.function(jit_compile=True)`",
    raises=tf.errors.UnimplementedError,
    says="compiled by XLA, which has no recursion. Leave out jit_compile=True",
)
def test_compiled_functions(runs):
    tf.function(runs[0], jit_compile=True)(tf.constant(0.7))


# --- Control flow


@feature("branches and loops, also of AutoGraph", gradients=True)
def test_control_flow(runs, w):
    def around(run):
        def function(x):
            total = tf.zeros([])
            for i in tf.range(4):
                if i % 2 == 1:
                    total += run(x * tf.cast(i, tf.float32))
            return tf.cond(total > 0.0, lambda: total, lambda: total + run(total))

        return function

    x = tf.constant(0.7)
    recurse, loop = (tf.function(differentiated(around(run), w)) for run in runs)
    assert_all_close(recurse(x), loop(x))


@feature("`tf.map_fn`, `tf.scan`", gradients=True)
def test_maps(runs, w):
    def around(run):
        return lambda x: tf.scan(lambda total, y: total + run(y), tf.map_fn(run, x))[-1]

    x = tf.constant(ROWS)
    recurse, loop = (tf.function(differentiated(around(run), w)) for run in runs)
    assert_all_close(recurse(x), loop(x))


@feature("a training loop of many steps in one `tf.function`", gradients=True)
def test_a_training_loop(runs, w):
    def train(run):
        w.assign(W)
        optimizer = tf.keras.optimizers.Adam(0.1)
        optimizer.build([w])

        @tf.function
        def steps(count):
            loss = tf.zeros([])
            for _ in tf.range(count):
                with tf.GradientTape() as tape:
                    loss = (run(tf.constant(0.7)) - 0.5) ** 2
                optimizer.apply([tape.gradient(loss, w)], [w])
            return loss

        return [steps(tf.constant(50)), w.read_value()]

    recurse, loop = runs
    assert_all_close(train(recurse), train(loop))


# --- Pipelines, strategies


@pytest.mark.parametrize("parallel", [None, 4])
@feature("`tf.data.Dataset.map`, also in parallel", gradients=True)
def test_datasets(parallel, runs, w):
    function = differentiated(runs[0], w)
    inputs = tf.data.Dataset.from_tensor_slices(ROWS)
    found = list(inputs.map(function, num_parallel_calls=parallel))
    for x, one in zip(ROWS, found, strict=True):
        assert_all_close(one, differentiated(runs[1], w)(tf.constant(x)))


@feature("`tf.distribute.MirroredStrategy`, on one device", gradients=True)
def test_a_strategy():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        w = tf.Variable(W)
    step = lambda y, n: tf.sin(y * w) * tf.cast(n, tf.float32)  # noqa: E731
    repeat = define_repeat(step)

    @tf.function
    def run(x):
        function = differentiated(lambda x: repeat(3, x), w)
        return strategy.experimental_local_results(strategy.run(function, [x]))

    x = tf.constant(0.7)
    expected = differentiated(lambda x: unroll(step, 3, x), w)(x)
    assert_all_close(tf.nest.flatten(run(x)), expected)


@feature("`tf.vectorized_map` of a root call is `.map`", gradients=True)
def test_vectorized_maps(runs, w):
    recurse, loop = (
        differentiated(lambda xs, run=run: tf.vectorized_map(run, xs), w)
        for run in runs
    )
    assert_all_close(recurse(tf.constant(ROWS)), loop(tf.constant(ROWS)))


@feature("`tf.vectorized_map` of `.map`, and of inputs that all rows share")
def test_vectorized_maps_of_maps(step):
    repeat = define_repeat(step)
    counts = tf.constant([[2, 0], [1, 3], [2, 2]])
    found = tf.vectorized_map(lambda n: repeat.map(n, [0.5, -1.0]), counts)
    assert_close(found, tf.stack([repeat.map(n, [0.5, -1.0]) for n in counts]))


@feature(
    "`tf.vectorized_map` of a gradient of a root call",
    raises=rtf.SubGraphError,
    says="a gradient is taken of it there",
)
def test_gradients_in_vectorized_maps(runs, w):
    tf.vectorized_map(differentiated(runs[0], w), tf.constant(ROWS))


# --- Bodies


@feature(
    "a function that a body calls: the root call is one of its calls", gradients=True
)
def test_functions_in_bodies(step, w):
    repeat = define_repeat(step)
    thrice = tf.function(lambda x: repeat(3, x))
    with rtf.SubGraph("outer") as outer:
        n, x = outer.input(tf.int32), outer.input(tf.float32)
        outer.output(tf.cond(n < 1, lambda: x, lambda: thrice(outer(n - 1, x))))

    def plain(x):
        return unroll(step, 3, unroll(step, 3, x))

    x = tf.constant(0.7)
    recurse = differentiated(lambda x: outer(2, x), w)
    assert_all_close(recurse(x), differentiated(plain, w)(x))
