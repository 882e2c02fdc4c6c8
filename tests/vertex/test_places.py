"""Where vertex functions are called from, and what comes with SubGraphs."""

import gc
import inspect
import weakref

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.close import assert_all_close
from tests.vertex import oracle
from tests.vertex.functions import PAIR, SIZE, TREES, Weights, n_ary, rows


def expected_of(weights):
    return oracle.run(n_ary(weights, 2), PAIR, TREES, rows(len(TREES)))


@pytest.fixture
def weights():
    return Weights(2)


@pytest.fixture
def tree_lstm(weights):
    return rtf.vertex(state=PAIR)(n_ary(weights, 2))


@pytest.mark.every_executor
def test_branches_and_loops_of_a_function(tree_lstm, weights):
    @tf.function
    def run(x, twice):
        total = tf.zeros([])
        for _ in tf.range(3):
            if twice:
                total += 2 * tf.reduce_sum(tree_lstm(TREES, x))
            else:
                total += tf.reduce_sum(tree_lstm(TREES, x))
        return total

    expected = 3 * tf.reduce_sum(expected_of(weights))
    x = rows(len(TREES))
    assert_all_close(run(x, tf.constant(False)), expected, rtol=1e-4)
    assert_all_close(run(x, tf.constant(True)), 2 * expected, rtol=1e-4)


@pytest.mark.every_executor
def test_a_map_of_a_dataset(tree_lstm, weights):
    graphs = tf.data.Dataset.from_tensors((TREES, rows(len(TREES)))).repeat(3)
    found = list(graphs.map(tree_lstm, num_parallel_calls=2))
    assert_all_close(found, [expected_of(weights)] * 3)


@pytest.mark.every_executor
def test_a_loop_of_training_in_a_function():
    """The sum of a chain of numbers learns a weight."""
    w = tf.Variable(0.0)

    @rtf.vertex(state=tf.float32)
    def total(v):
        y = v.gather(0) + w * v.pull()
        v.scatter(y)
        v.push(y)

    @tf.function
    def train(graph, x, y):
        for _ in tf.range(100):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((total(graph, x) - y) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))

    train([[-1], [0], [1]], tf.constant([1.0, 0.5, 1.0]), tf.constant([3, 4.5, 7.5]))
    np.testing.assert_allclose(w, 3, rtol=1e-4)


class Model(tf.Module):
    """A vertex function that is a method."""

    def __init__(self, scale):
        super().__init__()
        self.scale = tf.Variable(scale)

    @rtf.vertex(state=tf.float32)
    def total(self, v):
        """Adds up."""
        y = v.gather(0) + self.scale * v.pull()
        v.scatter(y)
        v.push(y)

    @tf.function(
        input_signature=[tf.TensorSpec([None, 1], tf.int32), tf.TensorSpec([None])]
    )
    def __call__(self, graph, x):
        return self.total(graph, x)


@pytest.mark.parametrize("plain", [False, True])
def test_a_method_is_one_of_each_instance(plain):
    two, three = Model(2.0), Model(3.0)
    graph, x = tf.constant([[-1], [0]]), tf.constant([1.0, 2.0])
    tf.config.run_functions_eagerly(plain)
    try:
        for model, expected in ((two, [2, 6]), (three, [3, 9]), (two, [2, 6])):
            assert model.total(graph, x).numpy().tolist() == expected
    finally:
        tf.config.run_functions_eagerly(False)
    assert Model.total.__doc__ == "Adds up."
    assert repr(two.total) == "<rtf.vertex 'total'>"
    assert (
        str(inspect.signature(two.total))
        == "(graph: Any, inputs: Any = None, *, at: Any = None) -> Any"
    )


def test_an_instance_dies_with_what_was_traced_for_it():
    model = Model(2.0)
    model.total(tf.constant([[-1]]), tf.constant([1.0]))
    died = weakref.ref(model)
    del model
    gc.collect()
    assert died() is None


def test_a_bound_method_is_decorated_where_its_size_is_known():
    class Encoder(tf.keras.layers.Layer):
        def __init__(self, size):
            super().__init__()
            self.dense = tf.keras.layers.Dense(size, activation="tanh")
            self.encode = rtf.vertex(state=tf.TensorSpec([size]))(self.step)
            self.dense.build([None, size + SIZE])

        def step(self, v):
            parts = tf.concat([tf.reduce_sum(v.gather(), 0), v.pull()], 0)
            h = self.dense(parts[tf.newaxis])[0]
            v.scatter(h)
            v.push(h)

        def call(self, graph, x):
            return self.encode(graph, x)

    encoder = Encoder(4)
    graph, x = tf.ragged.constant([[], [], [0, 1]], dtype=tf.int32), rows(3)
    found = encoder.encode(graph, x)
    assert found.shape == (3, 4)
    below = tf.reduce_sum(found[:2], 0)
    last = encoder.dense(tf.concat([below, x[2]], 0)[tf.newaxis])[0]
    assert_all_close(found[2], last)
    assert len(encoder.trainable_variables) == 2


def test_it_stops_in_plain_python(weights):
    seen = []

    @rtf.vertex(state=PAIR)
    def seen_by_python(v):
        n_ary(weights, 2)(v)
        seen.append((int(v.index), int(v.num_inputs)))

    tf.config.run_functions_eagerly(True)
    try:
        found = seen_by_python(TREES, rows(len(TREES)))
    finally:
        tf.config.run_functions_eagerly(False)
    assert_all_close(found, expected_of(weights))
    assert sorted(seen) == [(0, 0), (1, 0), (2, 0), (3, 2), (4, 2), (5, 0)]
    assert seen.index((3, 2)) < seen.index((4, 2))


# --- Executors, options, reports


@pytest.mark.parametrize("executor", ["dataflow", "batched"])
def test_an_executor_is_chosen(executor, weights):
    tree_lstm = rtf.vertex(state=PAIR, executor=executor)(n_ary(weights, 2))
    assert_all_close(tree_lstm(TREES, rows(len(TREES))), expected_of(weights))
    assert rtf.explain(tree_lstm).executor == executor


def test_it_is_explained(tree_lstm):
    message = "was not traced yet"
    with pytest.raises(rtf.SubGraphError, match=message):
        rtf.explain(tree_lstm)
    tree_lstm(TREES, rows(len(TREES)))
    explanation = rtf.explain(tree_lstm)
    assert explanation.executor == "batched"
    tree_lstm(TREES, rows(len(TREES)))
    # One for each level.
    assert sum(explanation.launches.values()) == 3
    assert "calls tree_lstm" in str(explanation)
    run = tf.function(tree_lstm)
    run(TREES, rows(len(TREES)))
    assert rtf.explain(run).executor == "batched"


def test_vertices_are_launched_level_by_level_whatever_their_numbers():
    @rtf.vertex(state=tf.TensorSpec([SIZE]), executor="batched")
    def chain(v):
        h = tf.tanh(v.gather(0) + v.pull())
        v.scatter(h)
        v.push(h)

    @tf.function
    def run(graph, x):
        return chain(graph, x)

    # Eight chains of ten, shuffled.
    place = np.random.default_rng(0).permutation(80)
    graph = np.full([80, 1], -1, np.int32)
    for i in range(80):
        if i % 10:
            graph[place[i], 0] = place[i - 1]
    graph, x = tf.constant(graph), rows(80)
    run(graph, x)
    explanation = rtf.explain(run)
    run(graph, x)
    assert sum(explanation.launches.values()) == 10


@pytest.mark.parametrize("blocks", ["compiled", "tensorflow"])
def test_blocks_are_compiled_as_chosen(blocks, weights):
    options = rtf.Options(blocks=blocks)
    tree_lstm = rtf.vertex(state=PAIR, options=options)(n_ary(weights, 2))
    x = rows(len(TREES))
    tree_lstm(TREES, x)
    explanation = rtf.explain(tree_lstm)
    assert_all_close(tree_lstm(TREES, x), expected_of(weights))
    assert ('="tensorflow"' in str(explanation)) == (blocks == "tensorflow")


def test_a_limit_is_one_of_the_program(weights):
    options = rtf.Options(max_activations=3)
    tree_lstm = rtf.vertex(state=PAIR, options=options)(n_ary(weights, 2))
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tree_lstm(TREES, rows(len(TREES)))


def test_a_name_is_that_of_errors_and_ops(weights):
    named = rtf.vertex(state=PAIR, name="deep")(n_ary(weights, 2))
    assert named.name == "deep"
    named(TREES, rows(len(TREES)))
    assert "SubGraph 'deep_vertices'" in str(rtf.explain(named))


# --- Saved, and among replicas


@pytest.mark.every_executor
def test_it_is_saved_with_its_gradient(tmp_path, weights, tree_lstm):
    module = tf.Module()
    module.weights = weights.variables
    module.run = tf.function(
        tree_lstm,
        input_signature=[
            tf.TensorSpec([None, 2], tf.int32),
            tf.TensorSpec([None, SIZE]),
        ],
    )
    x = rows(len(TREES))
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    with tf.GradientTape() as tape:
        y = loaded.run(TREES, x)
    with tf.GradientTape() as other:
        expected = expected_of(weights)
    assert_all_close(y, expected)
    assert_all_close(
        tape.gradient(y, list(loaded.weights)),
        other.gradient(expected, weights.variables),
        rtol=2e-5,
    )


@pytest.mark.every_executor
def test_a_saved_method_runs(tmp_path):
    model = Model(2.0)
    tf.saved_model.save(model, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert loaded([[-1], [0]], [1.0, 2.0]).numpy().tolist() == [2, 6]


@pytest.mark.every_executor
def test_replicas_share_the_trees_of_a_batch():
    strategy = tf.distribute.MirroredStrategy(["cpu:0"])
    with strategy.scope():
        w = tf.Variable(2.0)

    @rtf.vertex(state=tf.float32)
    def total(v):
        y = tf.reduce_sum(v.gather()) + w * v.pull()
        v.scatter(y)
        v.push(y)

    trees = rtf.data.from_nested([[1, [2, 3]], [4, 5]])

    @tf.function
    def step(trees):
        def replica(trees):
            with tf.GradientTape() as tape:
                x = tf.ones([trees.num_nodes])
                y = tf.reduce_sum(tf.gather(total(trees, x), trees.roots))
            return y, tape.gradient(y, w)

        return strategy.run(replica, [trees])

    y, gradient = step(trees)
    assert float(y) == 16
    assert float(gradient) == 8
