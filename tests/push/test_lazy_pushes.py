"""Products that only a push needs are made once, of all rows, after the calls."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.program import lazy_pushes
from recursive_tf.python.subgraphs.subgraph import root_call_of
from tests.helpers.derivatives import curvatures
from tests.helpers.failures import failure_of

SIZE, CLASSES, ROWS = 3, 4, 6


@pytest.fixture(autouse=True)
def any_matrix_is_large(monkeypatch):
    monkeypatch.setattr(lazy_pushes, "_LEAST_WEIGHTS", 1)


@pytest.fixture
def weights():
    rng = np.random.default_rng(0)
    shapes = [SIZE, SIZE], [SIZE, CLASSES], [CLASSES]
    return [tf.Variable(rng.normal(size=shape), dtype=tf.float32) for shape in shapes]


def rows_of(count):
    rng = np.random.default_rng(1)
    return tf.constant(rng.normal(size=[count, SIZE]), tf.float32)


def product(h, weights):
    return tf.nn.softmax((h[None] @ weights[1])[0] + weights[2])


def define(weights, push_of=product, *, executor="batched", body=None, **options):
    """Returns a SubGraph of a chain whose every second step pushes."""
    options = rtf.Options(**options)
    with rtf.SubGraph("chain", executor=executor, options=options) as chain:
        n, x = chain.input(tf.int32), chain.input(tf.float32, [SIZE])
        h = tf.tanh(tf.linalg.matvec(weights[0], x))
        value = push_of(h, weights)
        chain.push("scores", value, index=2 * n, size=2 * ROWS)
        if body is not None:
            body(chain, n, h, value)
        else:
            chain.output(tf.cond(n < 1, lambda: h, lambda: chain(n - 1, h)))
    return chain


def waiting(subgraph):
    """Returns the names of the tables of pushes that wait."""
    return [push.table for push in root_call_of(subgraph).program.lazy]


def everything(subgraph, weights):
    """Returns outputs, table, gradients, and gradients of those."""

    def loss(x):
        outputs, pushed = subgraph(ROWS - 1, x, with_pushed=True)
        return tf.reduce_sum(outputs) + tf.reduce_sum(pushed["scores"] ** 2)

    x = rows_of(1)[0]
    outputs, pushed = subgraph(ROWS - 1, x, with_pushed=True)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = loss(x)
    gradients = tape.gradient(value, [x, *weights], unconnected_gradients="zero")
    return [outputs, pushed["scores"], *gradients, *curvatures(loss, x, weights)]


def assert_alike(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


# --- What waits


def test_values_and_gradients_are_those_of_pushes_that_do_not_wait(weights):
    lazy = define(weights)
    assert waiting(lazy) == ["scores"]
    eager = define(weights, lazy_pushes=False)
    assert waiting(eager) == []
    expected = everything(define(weights, executor="dataflow"), weights)
    for subgraph in (lazy, eager):
        assert_alike(everything(subgraph, weights), expected)


def test_the_dataflow_executor_lets_nothing_wait(weights):
    assert waiting(define(weights, executor="dataflow")) == []


def test_it_is_the_same_in_a_function_and_a_map(weights):
    found = []
    for lazy_pushes_ in (True, False):
        chain = define(weights, lazy_pushes=lazy_pushes_)
        run = tf.function(lambda c=chain: c.map([5, 0], rows_of(2), with_pushed=True))
        with pytest.raises(tf.errors.InvalidArgumentError, match="'scores'"):
            run()  # Both push row 0.
        one = tf.function(lambda c=chain: c(3, rows_of(1)[0], with_pushed=True))
        outputs, pushed = one()
        assert pushed["scores"].shape == [2 * ROWS, CLASSES]
        found.append([outputs, pushed["scores"]])
    assert_alike(*found)


def test_rows_that_nobody_pushed_are_zero_and_have_no_part_in_gradients(weights):
    # Of rows of zeros, the logarithm would be infinite, and gradients NaN.
    logarithms = lambda h, w: tf.math.log((h[None] @ w[1])[0] ** 2)  # noqa: E731
    chain = define(weights, logarithms)
    assert waiting(chain) == ["scores"]
    found = everything(chain, weights)
    assert np.all(found[1][1::2] == 0)
    assert all(np.all(np.isfinite(each)) for each in found)


def test_a_map_over_no_rows_pushes_none(weights):
    chain = define(weights)
    none = tf.zeros([0], tf.int32), tf.zeros([0, SIZE])
    outputs, pushed = chain.map(*none, with_pushed=True)
    assert outputs.shape == [0, SIZE]
    np.testing.assert_array_equal(pushed["scores"], np.zeros([2 * ROWS, CLASSES]))


def test_captured_tensors_have_gradients(weights):
    weights = [tf.convert_to_tensor(w) for w in weights]
    chain = define(weights)
    found = []
    for subgraph in (chain, define(weights, executor="dataflow")):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            _, pushed = subgraph(ROWS - 1, rows_of(1)[0], with_pushed=True)
            loss = tf.reduce_sum(pushed["scores"] ** 2)
        found.append(tape.gradient(loss, weights))
    assert_alike(*found)


def test_two_pushes_of_one_body_wait_each_by_itself(weights):
    def body(chain, n, h, value):
        del value
        twice = tf.linalg.matvec(weights[1], h, transpose_a=True)
        chain.push("twice", 2.0 * twice + h[0], index=n, size=ROWS)
        chain.output(tf.cond(n < 1, lambda: h, lambda: chain(n - 1, h)))

    chain = define(weights, body=body)
    assert waiting(chain) == ["scores", "twice"]
    found, expected = (
        f(ROWS - 1, rows_of(1)[0], with_pushed=True)[1]
        for f in (chain, define(weights, body=body, executor="dataflow"))
    )
    assert found.keys() == expected.keys() == {"scores", "twice"}
    assert_alike(list(found.values()), list(expected.values()))


def test_a_vertex_function_lets_pushes_wait(weights):
    def make(executor):
        @rtf.vertex(state=tf.TensorSpec([SIZE]), executor=executor)
        def total(v):
            h = tf.tanh(v.pull() + tf.reduce_sum(v.gather(), axis=0))
            v.scatter(h)
            v.push(product(h, weights))

        return total

    graph = tf.ragged.constant([[], [], [0, 1], [2, 0]])
    step = tf.function(lambda: make("batched")(graph, rows_of(4)))
    assert_alike([step()], [make("dataflow")(graph, rows_of(4))])
    assert any(": push" in program.name for program in rtf.explain(step))


def test_an_explanation_says_so(weights):
    text = repr(rtf.explain(define(weights)))
    assert "after the calls, for all rows: push 'scores'" in text
    assert "after" not in repr(rtf.explain(define(weights, lazy_pushes=False)))


def test_a_saved_model_does_the_same(weights, tmp_path):
    module = tf.Module()
    module.weights, chain = weights, define(weights)
    spec = tf.TensorSpec([SIZE])
    module.run = tf.function(
        lambda x: chain(ROWS - 1, x, with_pushed=True)[1]["scores"], [spec]
    )
    x = rows_of(1)[0]
    expected = module.run(x)
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert_alike([loaded.run(x)], [expected])


# --- What does not


def test_a_small_matrix_is_not_worth_it(weights, monkeypatch):
    monkeypatch.setattr(lazy_pushes, "_LEAST_WEIGHTS", SIZE * CLASSES + 1)
    assert waiting(define(weights)) == []


def _returned(chain, n, h, value):
    del n, h
    chain.output(value)


def _used_by_a_branch(chain, n, h, value):
    chain.output(tf.cond(n < 1, lambda: h * value[0], lambda: chain(n - 1, h)))


def _pushed_again(chain, n, h, value):
    del value
    chain.push("scores", tf.zeros([CLASSES]), index=2 * n + 1, size=2 * ROWS)
    chain.output(tf.cond(n < 1, lambda: h, lambda: chain(n - 1, h)))


def _used_by_another_body(chain, n, h, value):
    with rtf.SubGraph("inner") as inner:
        inner.output(h * value[0])
    chain.output(tf.cond(n < 1, inner, lambda: chain(n - 1, h)))


@pytest.mark.parametrize(
    "body", [_returned, _used_by_a_branch, _pushed_again, _used_by_another_body]
)
def test_what_others_need_does_not_wait(weights, body):
    chain = define(weights, body=body)
    assert waiting(chain) == []
    x = rows_of(1)[0]
    expected = define(weights, body=body, executor="dataflow")(3, x)
    assert_alike([chain(3, x)], [expected])


def test_a_program_with_effects_lets_nothing_wait(weights):
    count = tf.Variable(0)

    def body(chain, n, h, value):
        del value
        count.assign_add(1)
        chain.output(tf.cond(n < 1, lambda: h, lambda: chain(n - 1, h)))

    chain = define(weights, body=body, executor="auto")
    assert waiting(chain) == []


@pytest.mark.parametrize(
    "push_of",
    [
        lambda h, w: tf.debugging.check_numerics((h[None] @ w[1])[0], "scores"),
        lambda h, w: (h[None] @ tf.random.normal([SIZE, CLASSES]))[0] + w[2],
        lambda h, w: h * w[2][:SIZE],
    ],
    ids=["what may fail", "what is drawn", "no product"],
)
def test_only_products_that_cannot_fail_wait(weights, push_of):
    assert waiting(define(weights, push_of)) == []


def test_a_body_with_a_gradient_of_its_own_lets_nothing_wait(weights):
    @tf.custom_gradient
    def doubled(x):
        return 2.0 * x, lambda upstream: upstream

    assert waiting(define(weights, lambda h, w: product(doubled(h), w))) == []


def test_what_another_body_computed_is_pushed(weights):
    with rtf.SubGraph("around", executor="batched") as around:
        x = around.input(tf.float32, [SIZE])
        scale = tf.reduce_sum(x, keepdims=True)
        with rtf.SubGraph("inside") as inside:
            h = inside.input(tf.float32, [SIZE])
            inside.push("scores", scale * product(h, weights), index=0, size=1)
            inside.output(h)
        around.output(inside(2.0 * x))
    assert waiting(around) == ["scores"]
    x = rows_of(1)[0]
    _, pushed = around(x, with_pushed=True)
    expected = tf.reduce_sum(x) * product(2.0 * x, weights)
    assert_alike([pushed["scores"][0]], [expected])


def test_a_policy_that_was_learned_is_one_of_the_calls(weights):
    chain = define(weights)
    x = rows_of(1)[0]
    policy = rtf.learn_policy(
        tf.function(lambda: chain(3, x, with_pushed=True)), [()], verbose=False
    )
    learned = define(weights, policy=policy)
    assert waiting(learned) == ["scores"]
    found, expected = (f(3, x, with_pushed=True)[1] for f in (learned, chain))
    assert_alike([found["scores"]], [expected["scores"]])


def test_a_row_that_is_pushed_twice_is_named(weights):
    chain = define(weights)
    assert waiting(chain) == ["scores"]
    message = failure_of(lambda: chain.map([0, 0], rows_of(2)))
    assert "push 'scores' to row 0 happened twice" in message
