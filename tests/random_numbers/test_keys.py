"""Random numbers of invocations: keys by seed, path and place; both executors alike."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.noise import PLACES, SIZE
from tests.helpers.unrolled import define_repeat, differentiated

MASK = 2**64 - 1
DEPTH = 6
UNITS = 30


# --- What is drawn


def mix(key, number):
    """Returns the key that `number` has below `key`: SplitMix64, in plain Python."""
    z = (key + (number + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def numbers_of(key):
    """Returns what a generator draws that has this key."""
    counter = tf.zeros([2], tf.uint64)
    return tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=[3], key=[key], counter=counter, alg=1, dtype=tf.int64
    )


def seed_of(generator):
    """Returns what a root call takes of a generator now."""
    *counters, seed = map(int, generator.state.numpy().astype(np.uint64))
    for counter in counters:
        seed = mix(seed, counter)
    return seed


def define_numbers(generator):
    """Returns a SubGraph that pushes what each node of a binary tree draws.

    The children of node i are 2i and 2i + 1.
    """
    with rtf.SubGraph("numbers") as numbers:
        i = numbers.input(tf.int32)
        drawn = generator.uniform_full_int([3], tf.int64)
        numbers.push("drawn", drawn, index=i, size=2**DEPTH)
        both = lambda: numbers(2 * i) + numbers(2 * i + 1)  # noqa: E731
        numbers.output(tf.cond(i >= 2 ** (DEPTH - 1), lambda: 1, both))
    return numbers


def expected_numbers(seed):
    """Returns the same by hand: a body draws, and then has two calls."""
    found = np.zeros([2**DEPTH, 3], np.int64)

    def visit(i, key):
        found[i] = numbers_of(mix(mix(key, 0), seed))
        if i < 2 ** (DEPTH - 1):
            visit(2 * i, mix(key, 1))
            visit(2 * i + 1, mix(key, 2))

    visit(1, 0)
    return found


@pytest.mark.every_executor
def test_numbers_follow_from_the_root_calls_seed_the_path_and_the_place():
    generator = tf.random.Generator.from_seed(17)
    numbers = define_numbers(generator)
    seeds = set()
    for _ in range(2):
        seeds.add(seed_of(generator))
        expected = expected_numbers(seed_of(generator))
        _, pushed = numbers(1, with_pushed=True)
        np.testing.assert_array_equal(pushed["drawn"], expected)
    assert len(seeds) == 2


@pytest.mark.every_executor
def test_a_row_of_a_map_is_one_more_step_of_the_path():
    generator = tf.random.Generator.from_seed(17)
    seed = seed_of(generator)
    with rtf.SubGraph("draw") as draw:
        n = draw.input(tf.int64)
        draw.output(generator.uniform_full_int([3], tf.int64) + n)
    drawn = draw.map(tf.zeros([4], tf.int64))
    keys = [mix(mix(mix(0, row), 0), seed) for row in range(4)]
    np.testing.assert_array_equal(drawn, [numbers_of(key) for key in keys])


@pytest.mark.every_executor
def test_two_generators_in_one_body_each_move_on():
    one, other = (tf.keras.random.SeedGenerator(17) for _ in range(2))
    other.next()
    with rtf.SubGraph("seeds") as seeds:
        n = seeds.input(tf.int64)
        drawn = tf.stack([g.next() for g in (one, other, other)])
        seeds.output(tf.cast(drawn, tf.int64) + n)
    found = seeds(0).numpy()
    assert len(np.unique(found)) == 6
    np.testing.assert_array_equal([one.state, other.state], [[17, 1], [17, 2]])


# --- In both executors


@pytest.mark.parametrize("step", PLACES.values(), ids=PLACES)
def test_executors_draw_the_same(step):
    found = []
    for executor in ("dataflow", "batched"):
        tf.random.set_seed(5)
        repeat = define_repeat(step, shape=[SIZE], executor=executor)
        x = tf.fill([2, SIZE], 0.5)
        found += [differentiated(lambda x, f=repeat: f.map([2, 3], x), x)]
        found[-1].append(repeat(2, x[0]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5)


def define_classifier(executor, drop):
    """Returns a recursion over trees with weights, and dropout at each node."""
    dense = tf.keras.layers.Dense(UNITS, activation="tanh", use_bias=False)
    dense.build([None, 2 * UNITS])
    with rtf.SubGraph("encode", executor=executor) as encode:
        i = encode.input(tf.int32)

        def internal():
            both = tf.concat([encode(2 * i), encode(2 * i + 1)], 0)
            return drop(dense(both[tf.newaxis])[0])

        def leaf():
            return drop(tf.fill([UNITS], 0.01 * tf.cast(i, tf.float32)))

        encode.output(tf.cond(i > 7, leaf, internal))
    return encode, dense.kernel


def test_a_tree_with_dropout_has_the_same_weight_gradients_in_both():
    found = []
    for executor in ("dataflow", "batched"):
        tf.keras.utils.set_random_seed(3)
        layer = tf.keras.layers.Dropout(0.5, seed=1)
        encode, kernel = define_classifier(
            executor, lambda x, layer=layer: layer(x, training=True)
        )
        for _ in range(2):
            with tf.GradientTape() as tape:
                y = tf.stack([encode(1), *tf.unstack(encode.map([1, 2, 9]))])
            gradient = tape.gradient(y, kernel)
            kernel.assign_sub(0.1 * gradient)
        found.append([y, gradient, kernel.numpy()])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_dropout_costs_no_launch():
    launches = []
    for layer in (tf.keras.layers.Dropout(0.5), tf.identity):
        more = {"training": True} if layer is not tf.identity else {}
        encode, _ = define_classifier(
            "batched", lambda x, layer=layer, more=more: layer(x, **more)
        )
        explanation = rtf.explain(encode)
        encode(1)
        launches.append(sum(explanation.launches.values()))
    assert launches[0] == launches[1]


# --- Statistics


def define_rows(draw, size):
    """Returns a SubGraph that pushes what each invocation of a binary tree draws."""
    with rtf.SubGraph("rows") as rows:
        i = rows.input(tf.int32)
        rows.push("drawn", draw(), index=i, size=size)
        both = lambda: rows(2 * i) + rows(2 * i + 1)  # noqa: E731
        rows.output(tf.cond(2 * i >= size, lambda: 1, both))
    return rows


def test_numbers_of_invocations_are_independent_and_uniform():
    tf.random.set_seed(1)
    num_numbers = 64
    rows = define_rows(lambda: tf.random.uniform([num_numbers]), 512)
    steps = [rows(1, with_pushed=True)[1]["drawn"][1:].numpy() for _ in range(2)]
    drawn = np.concatenate(steps)
    assert abs(drawn.mean() - 0.5) < 0.005
    assert abs(drawn.std() - 12**-0.5) < 0.005
    counts = np.bincount((drawn.ravel() * 100).astype(int), minlength=100)
    chi_squared = np.sum((counts - counts.mean()) ** 2) / counts.mean()
    assert 60 < chi_squared < 150  # 99 degrees of freedom.
    squares = np.square(np.corrcoef(drawn)[np.triu_indices(len(drawn), 1)])
    # Of independent rows the squared correlation is 1 / n on average.
    assert abs(squares.mean() * (num_numbers - 1) - 1) < 0.02
    assert squares.max() < 0.5


def test_places_of_one_body_are_independent():
    tf.random.set_seed(1)
    with rtf.SubGraph("two") as two:
        n = two.input(tf.float32)
        two.output(n + tf.stack([tf.random.normal([SIZE]) for _ in range(2)]))
    both = two.map(tf.zeros([50])).numpy().reshape([-1, SIZE])
    correlations = np.corrcoef(both)[np.triu_indices(len(both), 1)]
    assert np.abs(correlations).max() < 6 / SIZE**0.5


def test_categories_are_as_frequent_as_they_are_likely():
    tf.random.set_seed(1)
    logits = tf.math.log([[0.1, 0.6, 0.0, 0.3]])
    with rtf.SubGraph("choose", executor="batched") as choose:
        n = choose.input(tf.int64)
        choose.output(n + tf.random.categorical(logits, 100)[0])
    drawn = choose.map(tf.zeros([1000], tf.int64)).numpy()
    shares = np.bincount(drawn.ravel(), minlength=4) / drawn.size
    np.testing.assert_allclose(shares, [0.1, 0.6, 0, 0.3], atol=0.006)


def test_a_shuffle_is_a_permutation_and_all_are_alike_often():
    tf.random.set_seed(1)
    with rtf.SubGraph("shuffle", executor="batched") as shuffle:
        rows = shuffle.input(tf.float32, [3, 2])
        shuffle.output(tf.random.shuffle(rows))
    rows = tf.constant([[1.0, -1], [2, -2], [3, -3]])
    found = shuffle.map(tf.tile(rows[tf.newaxis], [6000, 1, 1])).numpy()
    np.testing.assert_array_equal(found[..., 0], -found[..., 1])
    _, counts = np.unique(found[..., 0], axis=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 850


# --- Around


@pytest.mark.every_executor
@pytest.mark.falls_back("an effect")
def test_a_program_with_another_effect_draws_all_the_same():
    count = tf.Variable(0)
    with rtf.SubGraph("f", output_signature=tf.TensorSpec([None])) as f:
        n = f.input(tf.int32)
        count.assign_add(1)
        own = tf.random.uniform([1])
        more = lambda: tf.concat([own, f(n - 1)], 0)  # noqa: E731
        f.output(tf.cond(n < 1, lambda: own, more))
    assert len(set(f(9).numpy().tolist())) == 10
    assert int(count) == 10


@pytest.mark.falls_back("an effect")
def test_what_a_dataset_in_a_body_draws_is_an_effect():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        numbers = tf.data.Dataset.range(5).map(lambda _: tf.random.uniform([], seed=1))
        total = numbers.reduce(0.0, lambda a, b: a + b)
        f.output(tf.cond(n < 1, lambda: total, lambda: f(n - 1) + total))
    np.testing.assert_allclose(f(1), 2 * f(0))
    assert rtf.explain(f).executor == "dataflow"


@pytest.mark.every_executor
def test_root_calls_of_one_graph_draw_anew_and_by_their_seed():
    tf.random.set_seed(2)
    repeat = define_repeat(lambda y, n: y + tf.random.normal([]))
    found = []
    for _ in range(2):
        tf.random.set_seed(3)
        call = tf.function(lambda: [repeat(2, 0.0), repeat(2, 0.0)])
        found.append([float(y) for _ in range(2) for y in call()])
    assert len(set(found[0])) == 4
    assert found[0] == found[1]


@pytest.mark.every_executor
@pytest.mark.slow
def test_a_saved_program_draws_and_moves_its_generator_on(tmp_path):
    class Noisy(tf.Module):
        def __init__(self):
            super().__init__()
            self.drop = tf.keras.layers.Dropout(0.5, seed=1)
            self.state = self.drop.seed_generator.state.value

        @tf.function(input_signature=[tf.TensorSpec([SIZE])])
        def __call__(self, x):
            step = lambda y, n: self.drop(y, training=True)  # noqa: E731
            return define_repeat(step, shape=[SIZE])(2, x)

    noisy = Noisy()
    tf.saved_model.save(noisy, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    x = tf.ones([SIZE])
    runs = []
    for module in (noisy, loaded):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            ys = [module(x) for _ in range(2)]
        for y in ys:
            np.testing.assert_allclose(tape.gradient(y, x), y)
        runs.append(ys)
    np.testing.assert_array_equal(*runs)
    assert np.any(runs[0][0] != runs[0][1])
