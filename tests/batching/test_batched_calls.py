"""Root calls in the batched executor: what only it does, and large ones.

That it computes what the dataflow executor does is tested with that: what is marked
`every_executor`, and the random programs.
"""

import concurrent.futures
import functools

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from examples.tree_lstm import TreeLSTMCell, encode
from recursive_tf.python import tf_compat
from tests.helpers.failures import failure_of, message_of
from tests.helpers.subgraphs import define_fib

VOCABULARY, EMBEDDING, HIDDEN = 11, 5, 4
FOREST_SPEC = rtf.data.forest_spec(tf.int32, labels=tf.int32)


def trees(num_trees, words, seed=0):
    return rtf.data.generate(
        "random", num_trees, words=words, vocabulary=VOCABULARY, seed=seed
    )


@pytest.fixture
def cell():
    tf.keras.utils.set_random_seed(0)
    return TreeLSTMCell(VOCABULARY, EMBEDDING, HIDDEN)


def make_step(cell, executor):
    """Returns a function from a forest to values and gradients."""

    @tf.function(input_signature=[FOREST_SPEC])
    def step(forest):
        with tf.GradientTape() as tape:
            roots, h = encode(forest, cell, executor=executor)
            loss = tf.reduce_sum(tf.sin(h)) + tf.reduce_sum(roots.c**2)
        return roots, h, tape.gradient(loss, cell.trainable_variables)

    return step


FORESTS = {
    "one tree": trees(1, 9),
    "unlike trees": rtf.data.concat(
        [trees(3, words, words) for words in (1, 2, 7, 20)]
    ),
    "a thousand trees": trees(1000, 4),
    "single leaves": trees(30, 1),
    "no trees": trees(1, 9)[:0],
}


@pytest.mark.parametrize("name", FORESTS)
def test_forests_of_any_size_have_the_values_of_the_dataflow_executor(cell, name):
    found = make_step(cell, "batched")(FORESTS[name])
    expected = make_step(cell, "dataflow")(FORESTS[name])
    for one, other in zip(
        tf.nest.flatten(found, expand_composites=False),
        tf.nest.flatten(expected, expand_composites=False),
        strict=True,
    ):
        np.testing.assert_allclose(
            tf.convert_to_tensor(one), tf.convert_to_tensor(other), 1e-4, 1e-5
        )


def test_two_runs_give_the_same_bits(cell):
    step = make_step(cell, "batched")
    forest = FORESTS["unlike trees"]
    runs = [[*map(tf.convert_to_tensor, tf.nest.flatten(step(forest)))] for _ in "ab"]
    for one, other in zip(*runs, strict=True):
        assert one.numpy().tobytes() == other.numpy().tobytes()


def test_the_gradient_of_an_embedding_stays_sparse(cell):
    *_, gradients = make_step(cell, "batched")(FORESTS["one tree"])
    kinds = {
        v.name: type(g)
        for v, g in zip(cell.trainable_variables, gradients, strict=True)
    }
    assert kinds["embedding:0"] is tf.IndexedSlices


def test_steps_in_flight_do_not_meet(cell):
    step = make_step(cell, "batched")
    forests = [trees(3, 2 + i, i) for i in range(8)]
    expected = [step(forest)[1].numpy() for forest in forests]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            found = pool.map(lambda forest: step(forest)[1].numpy(), forests)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)


def define_chain(executor="batched"):
    weight = tf.Variable(1.0, dtype=tf.float64)
    with rtf.SubGraph("chain", executor=executor) as chain:
        n, x = chain.input(tf.int32), chain.input(tf.float64)
        chain.output(tf.cond(n < 1, lambda: x, lambda: weight * chain(n - 1, x)))
    return chain, weight


def test_a_chain_of_ten_thousand_has_a_gradient():
    chain, weight = define_chain()
    x = tf.constant(2.0, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = chain(10_000, x)
    by_x, by_weight = tape.gradient(y, [x, weight])
    assert (y.numpy(), by_x.numpy(), by_weight.numpy()) == (2.0, 1.0, 20_000.0)


def test_chains_of_unlike_length_run_together():
    chain, weight = define_chain()
    lengths = np.array([0, 3, 50, 7, 0, 50])
    explanation = rtf.explain(chain)
    with tf.GradientTape() as tape:
        y = chain.map(lengths, tf.ones([6], tf.float64))
    assert tape.gradient(y, weight).numpy() == lengths.sum()
    # The longest looks at 51 numbers, and multiplies 50 times.
    assert sum(explanation.launches.values()) == explanation.lower_bound == 101


@pytest.mark.parametrize("policy", ["critical_path", "agenda", "depth"])
def test_every_policy_gives_the_same(policy):
    fib = define_fib(executor="batched", options=rtf.Options(policy=policy))
    assert fib.map(tf.range(12)).numpy().tolist() == [
        *(0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
    ]


def define_search():
    """Returns a SubGraph that goes on while a score that it computes says so."""
    matrix = tf.Variable([[0.9, 0.3], [-0.4, 0.8]])
    with rtf.SubGraph("search", executor="batched") as search:
        state, steps = search.input(tf.float32, [2]), search.input(tf.int32)
        turned = tf.linalg.matvec(matrix, state)
        is_done = tf.reduce_sum(turned**2) < 1.0
        found, count = tf.cond(
            is_done, lambda: (turned, steps), lambda: search(turned, steps + 1)
        )
        search.output(found, count)
    return search, matrix


def test_structure_may_be_decided_by_computed_values():
    search, matrix = define_search()
    states = np.random.default_rng(0).normal(0, 20, [25, 2]).astype(np.float32)
    with tf.GradientTape() as tape:
        found, counts = search.map(states, tf.zeros([25], tf.int32))
        loss = tf.reduce_sum(found)
    gradient = tape.gradient(loss, matrix)

    def by_loops(state):
        state, count = tf.linalg.matvec(matrix, state), 0
        while tf.reduce_sum(state**2) >= 1.0:
            state, count = tf.linalg.matvec(matrix, state), count + 1
        return state, count

    with tf.GradientTape() as tape:
        expected, steps = zip(*map(by_loops, states), strict=True)
        loss = tf.reduce_sum(tf.stack(expected))
    assert len(set(steps)) > 5
    assert counts.numpy().tolist() == list(steps)
    np.testing.assert_allclose(found, tf.stack(expected), 1e-4, 1e-5)
    np.testing.assert_allclose(gradient, tape.gradient(loss, matrix), 1e-3, 1e-3)


# --- Errors


def define_lookup(say=tf.identity, **choices):
    """Returns a SubGraph that fails, unless its input is -7, -6 or -5."""
    with rtf.SubGraph("look", executor="batched", options=rtf.Options(**choices)) as f:
        n = f.input(tf.int32)
        found = lambda: tf.gather([1, 2, 3], say(n) + 7)  # noqa: E731
        f.output(tf.cond(n < 1, found, lambda: f(n - 1)))
    return f


@pytest.mark.parametrize("blocks", ["compiled", "tensorflow"])
@pytest.mark.parametrize("row", range(5))
def test_of_a_launch_that_fails_the_first_invocation_that_does_is_named(row, blocks):
    roots = [-7, -6, -5, -7, 0]
    roots[row] = -4
    message = failure_of(lambda: define_lookup(blocks=blocks).map(roots))
    place = f"look[row {row}] in block 'look/true test_batched_calls.py:"
    assert f"SubGraph 'look' failed at {place}" in message
    assert "indices[0] = 3 is not in [0, 3)" in message


def test_of_rows_that_were_to_be_shared_it_is_the_first_of_them():
    look = define_lookup(share_rows=True)
    message = failure_of(lambda: look.map([-5, -6, -5, -4, -6, -4]))
    assert "SubGraph 'look' failed at look[row 3] in block" in message
    assert "indices[0] = 3 is not in [0, 3)" in message


def test_of_a_launch_that_fails_in_two_ways_it_is_the_first_too():
    def checked(n):
        tf.debugging.assert_greater(n, -9)
        return n

    for blocks in ("compiled", "tensorflow"):
        look = define_lookup(checked, blocks=blocks)
        # In the batch, either the lookup fails first, or the check does.
        assert "look[row 2]" in failure_of(lambda look=look: look.map([-7, -6, -9, -4]))


def test_what_prints_does_not_run_again_to_find_who_failed(capfd):
    def said(n):
        tf.print("at", n)
        return n

    message = failure_of(lambda: define_lookup(said).map([1, -7, -6, -4, 0]))
    assert "SubGraph 'look' failed at look[row 1], look[row 2], look[row 3]" in message
    assert "… (5 invocations at once) in block 'look/true test_batched_calls.py:" in (
        message
    )
    assert "indices[2] = 3 is not in [0, 3)" in message
    assert capfd.readouterr().err.count("at") == 5


def test_a_gradient_that_fails_names_its_block():
    table = tf.Variable(tf.ones([4, 2]))
    with rtf.SubGraph("f", executor="batched") as f:
        n = f.input(tf.int32)
        checked = tf.raw_ops.CheckNumerics(
            tensor=tf.sqrt(tf.gather(table, n)), message="a bad number"
        )
        f.output(tf.cond(n < 1, lambda: checked, lambda: checked + f(n - 1)))
    with tf.GradientTape() as tape:
        y = f(2)
    message = failure_of(
        lambda: tape.gradient(y, table, output_gradients=tf.fill([2], np.inf))
    )
    assert "SubGraph 'f' failed in the gradient of block 'f " in message


INVALID = tf.errors.InvalidArgumentError


def root_op_of(graph):
    (op,) = (o for o in graph.get_operations() if o.type == "RecursiveInvokeBatched")
    return op


def run_with(attrs):
    """Runs a root call whose op has other attributes."""
    fib = define_fib(executor="batched")
    graph = tf.function(lambda: fib(3)).get_concrete_function().graph
    op = root_op_of(graph)
    tf_compat.set_attrs(op, {name: change(op) for name, change in attrs.items()})
    return tf_compat.make_function(graph).call_flat()


def test_a_plan_of_another_version_is_said_to_be_one():
    newer = lambda op: [99, *op.get_attr("plan")[1:]]  # noqa: E731
    message = message_of(functools.partial(run_with, {"plan": newer}), INVALID)
    assert "The plan has version 99, but this version of recursive_tf reads" in message


def test_a_damaged_plan_is_refused():
    shorter = lambda op: op.get_attr("plan")[:-1]  # noqa: E731
    message = message_of(functools.partial(run_with, {"plan": shorter}), INVALID)
    assert "The plan is damaged: it " in message


@pytest.mark.parametrize("name", ["policy", "block_kind", "share_rows"])
def test_an_unknown_choice_in_a_graph_is_refused(name):
    change = {name: lambda _: "best"}
    message = message_of(functools.partial(run_with, change), INVALID)
    assert f"There is no {name} 'best'" in message


def test_sharing_of_other_blocks_is_refused():
    change = {"sharing": lambda op: op.get_attr("sharing")[:-1]}
    message = message_of(functools.partial(run_with, change), INVALID)
    assert "sharing does not fit blocks" in message


def test_a_program_of_before_rows_were_shared_runs():
    run_with({"sharing": lambda _: []})


def test_what_cannot_be_batched_is_refused_if_that_is_asked_for():
    state = tf.Variable(0.0)
    with rtf.SubGraph("count", executor="batched") as count:
        n = count.input(tf.int32)
        more = lambda: count(n - 1) + state.assign_add(1.0)  # noqa: E731
        count.output(tf.cond(n < 1, lambda: 0.0, more))
    with pytest.raises(
        rtf.SubGraphError, match=r"'count' cannot run in the batched executor: Assign"
    ):
        count(3)


def test_a_recursion_that_branches_without_end_is_stopped():
    """Level by level it gets wide before it gets deep."""
    options = rtf.Options(max_activations=50_000)
    with rtf.SubGraph("f", executor="batched", options=options) as f:
        n = f.input(tf.int32)
        more = lambda: f(n - 1) + f(n - 1)  # noqa: E731
        f.output(tf.cond(tf.equal(n, 0), lambda: 1, more))
    message = failure_of(lambda: f(-1), tf.errors.ResourceExhaustedError)
    assert "reached max_activations=50000" in message
    assert int(f(10)) == 1024
