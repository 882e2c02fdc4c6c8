"""What `rtf.explain(..., passes=True)` prints of each pass."""

import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.rules import restored_rules

PASSES = ["closed", "flattened", "vectorized", "differentiated"]


def _halved():
    with rtf.SubGraph("halved") as halved:
        x = halved.input(tf.float32)
        halved.output(tf.cond(x < 1, lambda: x, lambda: halved(x / 2)))
    return halved


def test_each_pass_is_shown_op_by_op():
    passes = rtf.explain(_halved()).program.passes()
    assert list(passes) == PASSES
    assert passes["flattened"].splitlines() == [
        "halved(%0 float32[]):",
        "  %1 bool[] = Less(%0, 1.0)",
        "  %2 float32[] = wait: by %1: halved/false | halved/true()",
        "  return %2",
        "halved/false():",
        "  %3 float32[] = RealDiv(%0, 2.0)",
        "  %4 float32[] = wait: halved(%3)",
        "  return %4",
        "halved/true():",
        "  return %0",
    ]
    first, second = [n for n in passes["vectorized"].splitlines() if "halved" in n]
    assert first.endswith("(%0 float32[?]):")
    assert second.endswith("(%0 float32[?]):")
    assert passes["vectorized"].splitlines()[2:4] == [
        "  %1 bool[?] = Less(%0, 1.0)",
        "  return %1",
    ]
    assert "backward(%0 float32[?]):" in passes["differentiated"]


def test_the_text_has_the_passes_if_they_are_asked_for():
    halved = _halved()
    assert "Vectorized:" not in repr(rtf.explain(halved))
    text = repr(rtf.explain(halved, passes=True))
    assert [text.count(f"\n{name.capitalize()}:\n") for name in PASSES] == [1] * 4


def test_branches_loops_pushes_and_attributes_are_shown():
    with rtf.SubGraph("f") as f:
        x = f.input(tf.TensorSpec([2]))
        f.push("seen", x, size=1, index=tf.constant(0))

        def turned():
            return tf.while_loop(lambda y: y[0] > 0, lambda y: [f(y - 1)], [x])[0]

        branches = [lambda: x, lambda: tf.tanh(x), turned]
        f.output(tf.switch_case(tf.cast(x[0], tf.int32), branches))
    passes = rtf.explain(f).program.passes()
    for part in ("case 0(", "while(", "do(", "RecursiveCall(", "callee=0, site=0"):
        assert part in passes["closed"]
    for part in ("by %", "turn():", "next turn: %", "RecursivePush(", "slot=0"):
        assert part in passes["flattened"]


def test_what_is_not_batched_has_only_what_both_executors_have():
    with rtf.SubGraph("f", executor="dataflow") as f:
        f.output(f.input(tf.float32) + 1)
    assert list(rtf.explain(f).program.passes()) == ["closed"]


def test_a_loaded_program_is_shown(tmp_path):
    halved = _halved()
    module = tf.Module()
    module.call = tf.function(lambda x: halved(x), input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    passes = rtf.explain(loaded.call).program.passes()
    assert list(passes) == PASSES
    assert "wait: halved(" in passes["flattened"]


def test_of_a_loaded_program_whose_rule_is_gone_there_is_what_runs(tmp_path):
    with restored_rules():

        @rtf.register_vectorization("InvertPermutation")
        def invert(block, op, inputs):
            return [tf.argsort(block.all_rows(inputs[0]), axis=1)]

        with rtf.SubGraph("inverted", executor="batched") as inverted:
            order = inverted.input(tf.TensorSpec([3], tf.int32))
            inverted.output(tf.math.invert_permutation(order))
        module = tf.Module()
        spec = [tf.TensorSpec([3], tf.int32)]
        module.call = tf.function(lambda x: inverted(x), input_signature=spec)
        tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    explanation = rtf.explain(loaded.call, passes=True)
    assert list(explanation.program.passes()) == ["closed"]
    assert "InvertPermutation" in repr(explanation)


def test_a_memoized_subgraph_and_a_map_say_how_they_wait():
    with rtf.SubGraph("fib", memo=lambda n: n) as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    with rtf.SubGraph("fibs") as fibs:
        numbers = fibs.input(tf.TensorSpec([3], tf.int32))
        fibs.output(fib.map(numbers))
    flattened = rtf.explain(fibs).program.passes()["flattened"]
    assert "wait: once for each %" in flattened
    assert "wait: for each item, fib(" in flattened
