"""Random numbers in bodies."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.noise import PLACES, SIZE
from tests.helpers.unrolled import check_rows, define_repeat, differentiated
from tests.language.features import feature

feature = partial(feature, "Random numbers")

ROWS = [0.5, -1.0, 2.0]


def share_of_zeros(values):
    return np.mean(np.asarray(values) == 0)


# --- With a seed of the user


@feature("`tf.random.stateless_*` with a seed of the outside", gradients=True)
def test_a_seed_of_the_outside():
    seed = tf.constant([5, 7])

    def step(y, n):
        drawn = tf.random.stateless_normal([2], seed)
        return tf.sin(y) * drawn + tf.cast(n, tf.float32)

    check_rows(step, [[0.5, 1.0], [-1.0, 2.0], [0.0, 3.0]])


@feature(
    "`tf.random.stateless_*` with a seed that depends on the activation",
    gradients=True,
)
def test_a_seed_of_the_activation():
    def step(y, n):
        y *= tf.random.stateless_normal([], [n, 7])
        y += tf.random.stateless_uniform([], [7, n], -1, 1)
        y -= tf.random.stateless_truncated_normal([], [n, n])
        return y * tf.cast(
            tf.random.stateless_uniform([], [n, 1], 1, 9, tf.int32), y.dtype
        )

    check_rows(step, ROWS)


@feature(
    "`tf.random.stateless_gamma`, `_poisson`, `_binomial`, `_categorical` with such a "
    "seed",
    gradients=True,
    refused="activations may differ in its seed, or in what it draws",
)
def test_other_distributions_of_the_activation():
    check_rows(lambda y, n: y * tf.random.stateless_gamma([], [n, 7], 2.0), ROWS)


@feature("`tf.nn.experimental.stateless_dropout`", gradients=True)
def test_stateless_dropout():
    def step(y, n):
        return tf.nn.experimental.stateless_dropout(tf.sin(y), 0.4, [n, 3])

    check_rows(step, np.linspace(0.1, 1, 30, dtype=np.float32).reshape([3, 10]))


# --- With one that a root call draws


DRAWS = {
    "normal": lambda: tf.random.normal([]),
    "uniform": lambda: tf.random.uniform([]),
    "truncated": lambda: tf.random.truncated_normal([]),
    "integers": lambda: tf.cast(tf.random.uniform([], 0, 2**30, tf.int32), tf.float32),
    "shuffle": lambda: tf.random.shuffle(tf.range(1.0, 200_000.0))[0],
    "categorical": lambda: tf.cast(
        tf.random.categorical(tf.zeros([1, 200_000]), 1)[0, 0], tf.float32
    ),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@feature(
    "`tf.random.normal`, `uniform`, `truncated_normal`, `shuffle`, `categorical`: "
    "other numbers in each invocation"
)
def test_each_invocation_draws_its_own(draw):
    with rtf.SubGraph("draw") as f:
        n = f.input(tf.int32)
        own = draw()[tf.newaxis]
        more = lambda: tf.concat([f(n - 1)[1:], own], 0)  # noqa: E731
        f.output(tf.cond(n < 1, lambda: tf.tile(own, [10]), more))
    drawn = np.concatenate([f(9), f(9), *f.map([9, 9])])
    # Two of so many numbers may be the same.
    assert len(set(drawn.tolist())) >= 39


@feature(
    "`tf.random.gamma`, `tf.random.poisson`",
    refused="activations may differ in its seed, or in what it draws",
)
def test_other_distributions():
    def step(y, n):
        del n
        return y + tf.random.gamma([], [2.0, 5.0]) - tf.random.poisson([], [7.0, 0.0])

    shape = [2]
    found = define_repeat(step, shape=shape).map(
        tf.fill([SIZE], 3), tf.zeros([SIZE, 2])
    )
    # Two of so many numbers may be the same.
    assert len(set(found.numpy().ravel().tolist())) >= 1.9 * SIZE
    np.testing.assert_allclose(np.mean(found, 0), [-15, 15], atol=0.8)


@feature("`tf.random.set_seed` gives the same numbers again", gradients=True)
def test_a_seed_is_set():
    tf.random.set_seed(1)
    repeat = define_repeat(lambda y, n: y * tf.random.normal([]) + tf.random.normal([]))
    x = tf.constant(0.5)
    runs = []
    for _ in range(2):
        tf.random.set_seed(7)
        runs.append([differentiated(lambda x: repeat(3, x), x) for _ in range(2)])
    np.testing.assert_array_equal(*runs)
    assert len({float(y) for y, _ in runs[0]}) == 2


@feature("`tf.random.Generator`, which root calls move on")
def test_generators():
    drawn = []
    for _ in range(2):
        generator = tf.random.Generator.from_seed(3)
        repeat = define_repeat(
            lambda y, n, g=generator: y + g.normal([SIZE]), shape=[SIZE]
        )
        runs = [repeat(n, tf.zeros([SIZE])).numpy() for n in (1, 1, 4)]
        drawn.append([*runs, generator.normal([3]).numpy()])
    for one, other in zip(*drawn, strict=True):
        np.testing.assert_array_equal(one, other)
    first, second, fourfold, _ = drawn[0]
    assert not np.intersect1d(first, second).size
    assert abs(np.std(fourfold) - 2) < 0.2


# --- Dropout


LAYERS = {
    "dropout": lambda: partial(tf.nn.dropout, rate=0.25),
    "keras": lambda: partial(tf.keras.layers.Dropout(0.25, seed=1), training=True),
    "without a seed": lambda: partial(tf.keras.layers.Dropout(0.25), training=True),
}


@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS)
@feature(
    "`tf.nn.dropout` and Keras `Dropout` in training: another mask for each "
    "invocation, the same in its gradient",
    gradients=True,
)
def test_dropout(make):
    drop = make()
    repeat = define_repeat(lambda y, n: drop(y), shape=[SIZE])
    x = tf.ones([2, SIZE])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = repeat.map([1, 3], x)
    gradient = tape.gradient(y, x)
    np.testing.assert_allclose(y, gradient)  # As x is 1.
    rates = [share_of_zeros(row) for row in y.numpy()]
    np.testing.assert_allclose(rates, [0.25, 1 - 0.75**3], atol=0.06)
    kept = {round(float(value), 4) for value in np.unique(y)}
    assert kept == {0.0, 1.3333, 2.3704}


@feature("Keras `Dropout` in inference", gradients=True)
def test_dropout_in_inference():
    layer = tf.keras.layers.Dropout(0.5, seed=1)
    state = layer.seed_generator.state.numpy()
    check_rows(lambda y, n: tf.sin(layer(y, training=False)), ROWS)
    np.testing.assert_array_equal(layer.seed_generator.state, state)


@feature("Keras's other layers of noise, and `keras.random`", gradients=True)
def test_layers_of_noise():
    noise = tf.keras.layers.GaussianNoise(0.5, seed=2)
    alpha = tf.keras.layers.AlphaDropout(0.3, seed=3)
    generator = tf.keras.random.SeedGenerator(4)

    def step(y, n):
        y = noise(y, training=True) + alpha(y, training=True)
        y += tf.keras.random.uniform([SIZE], seed=generator)
        return y + tf.keras.random.normal([SIZE], seed=generator)

    repeat = define_repeat(step, shape=[SIZE])
    x = tf.zeros([SIZE])
    first, second = (differentiated(lambda x: repeat(2, x), x)[0] for _ in range(2))
    assert not np.intersect1d(first, second).size
    # alpha(x) has the mean and the variance of x, so x has twice the mean of before.
    assert abs(np.mean(first) - 1.5) < 0.2


@feature("one seed of a Keras `SeedGenerator` for each root call")
def test_a_seed_generator_moves_on_once_a_root_call():
    layer = tf.keras.layers.Dropout(0.5, seed=1)
    repeat = define_repeat(lambda y, n: layer(y, training=True), shape=[SIZE])
    call = tf.function(
        lambda n: (repeat(n, tf.ones([SIZE])), repeat(n, tf.ones([SIZE])))
    )
    state = layer.seed_generator.state.numpy()
    first, second = call(1)
    np.testing.assert_array_equal(
        layer.seed_generator.state, [*state[:1], state[1] + 2]
    )
    assert 0.3 < np.mean(first == second) < 0.7
    layer.seed_generator.state.assign(state)
    np.testing.assert_array_equal(call(1)[0], first)
    np.testing.assert_array_equal(
        layer.seed_generator.state, [*state[:1], state[1] + 2]
    )
    repeat.map([5, 0, 3], tf.ones([3, SIZE]))
    np.testing.assert_array_equal(
        layer.seed_generator.state, [*state[:1], state[1] + 3]
    )


class Noisy(tf.keras.layers.Layer):
    """Drops twice, in a recursion."""

    def __init__(self):
        super().__init__()
        self.drop = tf.keras.layers.Dropout(0.5, seed=1)

    def call(self, x, training=None):
        step = lambda y, n: self.drop(y, training=training)  # noqa: E731
        repeat = define_repeat(step, shape=[SIZE])
        return repeat.map(tf.fill([tf.shape(x)[0]], 2), x)

    def compute_output_shape(self, shape):
        return shape


@feature("a Keras model that drops in a recursion: `fit`, `predict`", gradients=True)
def test_a_model_with_dropout():
    trained = []
    for _ in range(2):
        tf.keras.utils.set_random_seed(1)
        dense = tf.keras.layers.Dense(SIZE, use_bias=False)
        inputs = tf.keras.Input([3])
        model = tf.keras.Model(inputs, Noisy()(dense(inputs)))
        model.compile(tf.keras.optimizers.SGD(1.0), "mae")
        before = dense.kernel.numpy()
        model.fit(tf.ones([1, 3]), tf.fill([1, SIZE], 9.0), verbose=0)
        trained.append(dense.kernel.numpy())
    np.testing.assert_array_equal(*trained)
    assert 0.7 < share_of_zeros(trained[0] - before) < 0.8
    expected = np.sum(trained[0], 0, keepdims=True)
    np.testing.assert_allclose(
        model.predict(tf.ones([1, 3]), verbose=0), expected, rtol=1e-5
    )


# --- Where draws stand


@pytest.mark.parametrize("step", PLACES.values(), ids=PLACES)
@feature("draws in loops, branches, functions, maps and calls in loops", gradients=True)
def test_places(step):
    repeat = define_repeat(step, shape=[SIZE])
    x = tf.ones([2, SIZE])
    y, _ = differentiated(lambda x: repeat.map([2, 3], x), x)
    assert len(np.unique(y)) == 2 * SIZE
