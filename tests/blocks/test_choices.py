"""Who runs blocks: what `blocks=` chooses, and what `explain` says of it."""

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.threads import run_in_threads

WIDTH = 70


def define_chain(weights, cell=tf.tanh, **choices):
    """Returns a SubGraph that multiplies a row with a matrix so many times."""
    spec = tf.TensorSpec([WIDTH])
    choices = {"executor": "batched", "options": rtf.Options(**choices)}
    with rtf.SubGraph("chain", output_signature=spec, **choices) as chain:
        n, x = chain.input(tf.int32), chain.input(spec)
        more = lambda: cell(tf.matmul(chain(n - 1, x)[None], weights)[0])  # noqa: E731
        chain.output(tf.cond(n < 1, lambda: x * 0.5, more))
    return chain


@pytest.fixture
def weights():
    return tf.Variable(tf.random.stateless_normal([WIDTH, WIDTH], [1, 2]) * 0.2)


def arguments(num_rows=9, seed=3):
    rows = tf.random.stateless_normal([num_rows, WIDTH], [seed, 4])
    return tf.range(num_rows) % 4, rows


def test_an_unknown_choice_is_refused_with_the_known_ones():
    message = message_of(lambda: rtf.Options(blocks="xla"), ValueError)
    assert "blocks='xla': choose one of ('auto', 'compiled', 'tensorflow')" in message


def by_branch(reasons):
    """Returns reasons by the last part of a block's name, without its line."""
    return {block.split()[0].rpartition("/")[2]: why for block, why in reasons.items()}


def test_explain_says_which_blocks_are_compiled(weights):
    chain = define_chain(weights, tf.math.lgamma)
    explanation = rtf.explain(chain)
    assert explanation.not_compiled is None
    chain.map(*arguments())
    (why,) = explanation.not_compiled.values()
    assert by_branch(explanation.not_compiled) == {"false": why}
    assert "Lgamma" in why
    assert "no such instruction" in why
    text = str(explanation)
    rows = {
        line.split()[-2].rpartition("/")[2]: line
        for line in text.splitlines()
        if line.split()[3:4] in (["yes"], ["no"])
    }
    compiled = {branch: line.split()[3] for branch, line in rows.items()}
    assert compiled == {"chain": "yes", "true": "yes", "false": "no"}
    assert "Not compiled: chain/false" in text


def test_no_block_is_compiled_if_tensorflow_is_chosen(weights):
    chain = define_chain(weights, blocks="tensorflow")
    explanation = rtf.explain(chain)
    chain.map(*arguments())
    reasons = by_branch(explanation.not_compiled)
    assert set(reasons) == {"chain", "true", "false"}
    assert set(reasons.values()) == {'blocks="tensorflow"'}


def test_blocks_are_compiled_by_default(weights):
    chain, compiled = define_chain(weights), define_chain(weights, blocks="compiled")
    other = define_chain(weights, blocks="tensorflow")
    explanation = rtf.explain(chain)
    assert same_bits(chain.map(*arguments()), compiled.map(*arguments()))
    assert "false" not in by_branch(explanation.not_compiled)
    # Sums are in another order, so this says which of them ran.
    assert not same_bits(chain.map(*arguments()), other.map(*arguments()))


def same_bits(one, other):
    return bool(tf.reduce_all(one == other))


def test_a_block_with_an_op_that_has_no_instruction_runs_as_a_function(weights):
    found, expected = (
        define_chain(weights, tf.math.lgamma, blocks=blocks)
        for blocks in ("compiled", "tensorflow")
    )
    explanation = rtf.explain(found)
    assert same_bits(found.map(*arguments()), expected.map(*arguments()))
    assert "Lgamma" in by_branch(explanation.not_compiled)["false"]


def test_a_gradient_that_is_not_compiled_counts(weights):
    def turned(x):
        rows = tf.gather(tf.reshape(x, [5, WIDTH // 5]), [1, 2, 3, 4, 0])
        return tf.tanh(tf.reshape(rows, [WIDTH]))

    chain = define_chain(weights, turned)
    explanation = rtf.explain(chain)
    chain.map(*arguments())
    assert "false" not in by_branch(explanation.not_compiled)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(chain.map(*arguments()))
    tape.gradient(loss, weights)
    # It moves columns to where rows stand, to add up what was taken several times.
    assert "Transpose" in by_branch(explanation.not_compiled)["false"]


def test_weights_that_change_are_taken_anew(weights):
    chain = define_chain(weights)
    before = chain.map(*arguments())
    weights.assign(2.0 * weights)
    after = chain.map(*arguments())
    assert not same_bits(before, after)
    weights.assign(0.5 * weights)
    assert same_bits(before, chain.map(*arguments()))


def test_a_saved_program_is_compiled_where_it_is_loaded(weights, tmp_path):
    module = tf.Module()
    module.weights = weights
    chain = define_chain(weights)
    n, rows = arguments()
    specs = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, WIDTH])]
    module.run = tf.function(chain.map, input_signature=specs)
    expected = module.run(n, rows)
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    explanation = rtf.explain(loaded.run)
    assert same_bits(loaded.run(n, rows), expected)
    assert explanation.not_compiled == {}


def test_a_row_is_the_same_to_the_bit_in_every_batch(weights):
    chain = define_chain(weights)
    n, rows = arguments(300)
    expected = chain.map(n, rows)
    for first, last in ((0, 1), (3, 7), (5, 66), (100, 299)):
        found = chain.map(n[first:last], rows[first:last])
        assert same_bits(found, expected[first:last])


def test_root_calls_at_the_same_time_do_not_mix(weights):
    chain = define_chain(weights)
    run = tf.function(chain.map)
    many = [arguments(1 + 7 * i, seed=i) for i in range(8)]
    expected = [run(*each) for each in many]

    def work(i):
        return all(same_bits(run(*many[i]), expected[i]) for _ in range(20))

    assert all(run_in_threads(work, 8))


# ---- Lookups.


def define_lookup(table, blocks):
    options = rtf.Options(blocks=blocks)
    with rtf.SubGraph("look", executor="batched", options=options) as look:
        word = look.input(tf.int32)
        look.output(tf.tanh(tf.gather(table, word)))
    return look


@pytest.mark.parametrize("kind", [tf.Variable, tf.constant])
@pytest.mark.parametrize("word", [-1, 5, 2**31 - 1])
def test_a_lookup_out_of_range_fails_as_in_tensorflow(kind, word):
    table = kind(tf.random.stateless_normal([5, 3], [1, 2]))
    words = tf.constant([0, 4, word, 1])
    messages = []
    for blocks in ("compiled", "tensorflow"):
        look = define_lookup(table, blocks)
        # Also after a run that was right.
        assert look.map(tf.constant([0, 4, 1])).shape == (3, 3)
        error = tf.errors.InvalidArgumentError
        message = message_of(lambda look=look: look.map(words), error)
        messages += [line for line in message.splitlines() if "not in" in line]
    assert len(messages) == 2
    assert messages[0] == messages[1]
    assert "SubGraph 'look' failed at look[row 2] in block" in messages[0]
    assert f"indices[0] = {word} is not in [0, 5)" in messages[0]


@pytest.mark.parametrize("kind", [tf.Variable, tf.constant])
def test_lookups_are_compiled(kind):
    table = kind(tf.random.stateless_normal([5, 3], [1, 2]))
    look = define_lookup(table, "compiled")
    explanation = rtf.explain(look)
    words = tf.constant([4, 0, 0, 3])
    found = look.map(words)
    assert explanation.not_compiled == {}
    tf.debugging.assert_near(found, tf.tanh(tf.gather(table, words)))


def test_a_variable_that_grows_is_looked_up_as_it_is():
    table = tf.Variable(tf.ones([2, 3]), shape=[None, 3])
    look = define_lookup(table, "compiled")
    look.map(tf.constant([0, 1]))
    table.assign(2.0 * tf.ones([9, 3]))
    found = look.map(tf.constant([8, 0, 1]))
    tf.debugging.assert_near(found, tf.tanh(2.0 * tf.ones([3, 3])))


def test_an_unknown_instruction_set_fails_where_a_program_is_made(weights, monkeypatch):
    # Where a saved program is loaded without Python, nothing else would say it.
    monkeypatch.setenv("RTF_INSTRUCTION_SET", "sse9")
    chain = define_chain(weights)
    error = tf.errors.InvalidArgumentError
    message = message_of(lambda: chain.map(*arguments()), error)
    assert "RTF_INSTRUCTION_SET is 'sse9'" in message
