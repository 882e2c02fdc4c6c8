"""What a user may write: definitions, structures, calls, maps and pushes."""

import threading
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf


class Pair(NamedTuple):
    left: tf.Tensor
    right: tf.Tensor


def define_fib(name="fib"):
    with rtf.SubGraph(name) as fib:
        n = fib.input(tf.int32)
        fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    return fib


def define_hand_down(spec, shape=()):
    """Returns a SubGraph that hands a value down some levels, and back up."""
    with rtf.SubGraph("hand_down") as hand_down:
        depth = hand_down.input(tf.int32)
        value = hand_down.input(spec, shape)
        hand_down.output(
            tf.cond(depth < 1, lambda: value, lambda: hand_down(depth - 1, value))
        )
    return hand_down


def define_triangle():
    """Returns a SubGraph that builds [n, n - 1, ..., 1]: a shape that depends on n."""
    with rtf.SubGraph("triangle") as triangle:
        n = triangle.input(tf.int32)

        def longer():
            return tf.concat([[n], triangle(n - 1)], 0)

        def empty():
            return tf.ensure_shape(tf.zeros([n], tf.int32), [None])

        triangle.output(tf.cond(n < 1, empty, longer))
    return triangle


def as_numpy(structure):
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), structure)


# --- Definitions


def test_a_subgraph_without_recursion_is_a_function():
    with rtf.SubGraph("double") as double:
        double.output(2 * double.input(tf.float32))
    assert float(double(1.5)) == 3.0


def test_a_subgraph_needs_no_input():
    with rtf.SubGraph("seven") as seven:
        seven.output(tf.constant(7))
    assert int(seven()) == 7


def test_a_subgraph_needs_no_name():
    with rtf.SubGraph() as double:
        double.output(2 * double.input(tf.int32))
    assert int(double(4)) == 8


@pytest.mark.parametrize("name", ["tree LSTM", "1st", "größe", "a/b:c", "_x", "f_12"])
def test_a_name_is_any_text(name):
    assert int(define_fib(name)(6)) == 8


def test_two_subgraphs_of_one_name_do_not_meet():
    with rtf.SubGraph("f") as double:
        double.output(2 * double.input(tf.int32))
    with rtf.SubGraph("f") as triple:
        triple.output(3 * triple.input(tf.int32))
    assert [int(double(1)), int(triple(1))] == [2, 3]


def test_an_input_and_an_output_may_be_the_same_tensor():
    assert int(define_hand_down(tf.int32)(3, 42)) == 42


def test_one_tensor_may_be_returned_twice():
    with rtf.SubGraph("twice") as twice:
        n = twice.input(tf.int32)
        twice.output(n, n)
    assert as_numpy(twice(3)) == (3, 3)


def test_outputs_may_be_python_numbers():
    with rtf.SubGraph("constants") as constants:
        constants.output(1, 2.5)
    assert as_numpy(constants()) == (1, 2.5)


def test_an_input_may_be_unused():
    with rtf.SubGraph("second") as second:
        second.input(tf.float32)
        second.output(second.input(tf.int32))
    assert int(second(0.5, 3)) == 3


def test_repr_shows_what_a_subgraph_takes_and_returns():
    assert repr(define_fib()) == "<SubGraph 'fib' (int32[]) -> int32[]>"


def test_repr_shows_that_an_output_is_not_known_yet():
    assert repr(rtf.SubGraph("f")) == "<SubGraph 'f' () -> ?>"


# --- Structures, dtypes, shapes


STRUCTURES = {
    "tuple": (1, 2.5),
    "one in a tuple": (1,),
    "list": [1, 2.5, 3],
    "dict": {"h": 1.5, "c": 2},
    "named tuple": Pair(1, 2.5),
    "nested": {"pairs": [Pair(1, (2.5, 3)), Pair(4, (5.5, 6))], "n": 7},
}


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_structures_go_in_and_out_as_they_are(structure):
    specs = tf.nest.map_structure(lambda x: tf.convert_to_tensor(x).dtype, structure)
    found = as_numpy(define_hand_down(specs)(3, structure))
    assert found == structure
    assert type(found) is type(structure)


def test_an_output_may_be_a_structure_of_another_kind_than_the_input():
    with rtf.SubGraph("swap") as swap:
        pair = swap.input(Pair(tf.int32, tf.float32))
        swap.output({"first": pair.right, "second": (pair.left,)})
    assert as_numpy(swap(Pair(1, 2.5))) == {"first": 2.5, "second": (1,)}


def test_several_outputs_are_a_tuple():
    with rtf.SubGraph("divide") as divide:
        a, b = divide.input(tf.int32), divide.input(tf.int32)
        divide.output(a // b, a % b)
    assert as_numpy(divide(17, 5)) == (3, 2)


def test_twenty_inputs_keep_their_order():
    with rtf.SubGraph("many") as many:
        inputs = [many.input(tf.int32) for _ in range(20)]
        many.output(*reversed(inputs))
    assert as_numpy(many(*range(20))) == tuple(reversed(range(20)))


def test_a_recursive_call_may_swap_its_arguments():
    with rtf.SubGraph("gcd") as gcd:
        a, b = gcd.input(tf.int32), gcd.input(tf.int32)
        gcd.output(tf.cond(tf.equal(b, 0), lambda: a, lambda: gcd(b, a % b)))
    assert int(gcd(252, 105)) == 21


VALUES = {
    tf.bool: True,
    tf.uint8: 200,
    tf.int32: -7,
    tf.int64: 2**40,
    tf.float16: 0.5,
    tf.bfloat16: 0.25,
    tf.float32: 1.5,
    tf.float64: 1e300,
    tf.complex64: 1 + 2j,
    tf.complex128: 3 - 4j,
    tf.string: b"tree",
}


@pytest.mark.parametrize("dtype", VALUES, ids=lambda dtype: dtype.name)
def test_values_of_every_dtype_pass_through_calls(dtype):
    found = define_hand_down(dtype)(3, tf.constant(VALUES[dtype], dtype))
    assert found.dtype == dtype
    assert found.numpy() == VALUES[dtype]


@pytest.mark.parametrize("dtype", VALUES, ids=lambda dtype: dtype.name)
def test_values_of_every_dtype_are_rows_of_a_map(dtype):
    rows = tf.constant([VALUES[dtype]] * 2, dtype)
    found = define_hand_down(dtype).map([0, 2], rows)
    assert found.dtype == dtype
    assert found.numpy().tolist() == rows.numpy().tolist()


@pytest.mark.parametrize("shape", [[3], [2, None], [None, None], None], ids=str)
def test_a_tensor_keeps_its_shape_where_dimensions_are_unknown(shape):
    value = np.arange(6).reshape([2, 3]) if shape != [3] else np.arange(3)
    found = define_hand_down(tf.int64, shape)(2, value)
    np.testing.assert_array_equal(found, value)


def test_a_tensor_spec_declares_an_input():
    found = define_hand_down(tf.TensorSpec([None, 2], tf.float32))(1, tf.ones([3, 2]))
    assert found.shape == [3, 2]


def test_a_result_may_grow_with_the_recursion():
    assert define_triangle()(4).numpy().tolist() == [4, 3, 2, 1]


def test_an_argument_may_grow_with_the_recursion():
    with rtf.SubGraph("count_up") as count_up:
        seen = count_up.input(tf.int32, [None])
        n = tf.size(seen)
        count_up.output(
            tf.cond(n > 3, lambda: seen, lambda: count_up(tf.concat([seen, [n]], 0)))
        )
    assert count_up([9]).numpy().tolist() == [9, 1, 2, 3]


def test_a_tensor_without_elements_passes():
    assert define_hand_down(tf.float32, [None])(2, tf.zeros([0])).shape == [0]


def test_static_shapes_of_results_are_known_while_tracing():
    hand_down = define_hand_down(tf.float32, [None, 3])

    @tf.function
    def shapes(value):
        one = hand_down(1, value).shape
        rows = hand_down.map([1, 2], tf.stack([value, value])).shape
        return tf.constant(str((one.as_list(), rows.as_list())))

    assert shapes(tf.ones([2, 3])).numpy() == b"([None, 3], [None, None, 3])"


# --- Arguments


@pytest.mark.parametrize("n", [10, np.int32(10), np.array(10), tf.constant(10)])
def test_an_argument_may_be_anything_that_converts_to_the_input(n):
    assert int(define_fib()(n)) == 55


def test_python_numbers_are_arguments_inside_bodies():
    with rtf.SubGraph("power") as power:
        base, n = power.input(tf.float64), power.input(tf.int64)
        power.output(tf.cond(n < 1, lambda: 1.0 + 0 * base, lambda: power(2, n - 1)))
    assert float(power(3, 2)) == 1.0


def test_a_list_of_numbers_is_one_tensor():
    assert define_hand_down(tf.float32, [2])(1, [1, 2.5]).numpy().tolist() == [1, 2.5]


def test_a_variable_is_an_argument():
    n = tf.Variable(10)
    assert int(define_fib()(n)) == 55


# --- Conditionals and loops


@pytest.mark.parametrize("n", range(4))
def test_a_switch_case_calls_from_any_branch(n):
    with rtf.SubGraph("f") as f:
        m = f.input(tf.int32)
        branches = [lambda: 0, lambda: 10 + f(m - 1), lambda: 100 * f(m - 1)]
        f.output(tf.switch_case(m, branches, default=lambda: f(m - 1) + f(m - 2)))
    assert int(f(n)) == [0, 10, 1000, 1010][n]


def test_a_case_calls_from_any_branch():
    with rtf.SubGraph("collatz") as collatz:
        n = collatz.input(tf.int64)
        collatz.output(
            tf.case(
                [
                    (n <= 1, lambda: tf.constant(0)),
                    (tf.equal(n % 2, 0), lambda: 1 + collatz(n // 2)),
                ],
                default=lambda: 1 + collatz(3 * n + 1),
            )
        )
    assert int(collatz(27)) == 111


def test_conditionals_nest_in_conditionals():
    with rtf.SubGraph("f") as f:
        a, b = f.input(tf.int32), f.input(tf.int32)

        def more():
            return tf.switch_case(
                tf.minimum(b, 1),
                [lambda: f(a - 1, 2), lambda: tf.cond(a > b, lambda: 1, deeper)],
            )

        def deeper():
            return 10 + f(a, b - 1)

        f.output(tf.cond(a < 1, lambda: 0, more))
    assert int(f(2, 5)) == 41


def test_a_call_may_be_the_condition():
    with rtf.SubGraph("is_even") as is_even:
        n = is_even.input(tf.int32)
        is_even.output(
            tf.cond(
                n < 1,
                lambda: True,
                lambda: tf.cond(is_even(n - 1), lambda: False, lambda: True),
            )
        )
    assert [bool(is_even(n)) for n in range(4)] == [True, False, True, False]


def test_a_call_stands_beside_a_conditional():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        small = tf.cond(n < 5, lambda: n, lambda: 5)
        f.output(small + tf.cond(n < 1, lambda: 0, lambda: f(n - 1)))
    assert int(f(7)) == 5 + 5 + 5 + 4 + 3 + 2 + 1


def test_a_loop_in_a_body_calls():
    with rtf.SubGraph("compositions") as compositions:
        n = compositions.input(tf.int32)

        def step(k, total):
            return k + 1, total + compositions(n - k)

        def sum_up():
            return tf.while_loop(lambda k, _: k <= n, step, (1, 0))[1]

        compositions.output(tf.cond(n < 1, lambda: 1, sum_up))
    assert [int(compositions(n)) for n in range(6)] == [1, 1, 2, 4, 8, 16]


def test_the_condition_of_a_loop_in_a_body_calls():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        more = lambda k: f(k // 2) + k < n  # noqa: E731
        loop = lambda: tf.while_loop(more, lambda k: (k + 1,), (0,))[0]  # noqa: E731
        f.output(tf.cond(n < 1, lambda: 0, loop))
    assert [int(f(n)) for n in range(8)] == [0, 1, 2, 2, 3, 4, 4, 5]


def test_a_loop_in_a_body_collects_calls_in_a_tensor_array():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def total():
            array = tf.TensorArray(tf.int32, n, element_shape=[])
            step = lambda k, a: (k + 1, a.write(k, f(k) + 1))  # noqa: E731
            array = tf.while_loop(lambda k, _: k < n, step, (0, array))[1]
            return tf.reduce_sum(array.stack())

        f.output(tf.cond(n < 1, lambda: 0, total))
    assert [int(f(n)) for n in range(6)] == [0, 1, 3, 7, 15, 31]


def test_a_node_has_any_number_of_children():
    children = tf.ragged.constant([[1, 2, 3], [], [4], [], []])
    with rtf.SubGraph("count", output_signature=tf.int32) as count:
        node = count.input(tf.int32)
        own = children[node]
        step = lambda k, total: (k + 1, total + count(own[k]))  # noqa: E731
        count.output(tf.while_loop(lambda k, _: k < tf.size(own), step, (0, 1))[1])
    assert [int(count(node)) for node in range(5)] == [5, 1, 2, 1, 1]


def test_map_fn_in_a_body_calls_for_each_element():
    with rtf.SubGraph("double") as double:
        double.output(2 * double.input(tf.int32))
    with rtf.SubGraph("f") as f:
        f.output(tf.map_fn(double, f.input(tf.int32, [3])))
    assert f([1, 2, 3]).numpy().tolist() == [2, 4, 6]


def test_a_loop_around_a_root_call_invokes_every_time():
    fib = define_fib()

    @tf.function
    def total(n):
        step = lambda k, total: (k + 1, total + fib(k))  # noqa: E731
        return tf.while_loop(lambda k, _: k < n, step, (0, 0))[1]

    assert int(total(10)) == sum([0, 1, 1, 2, 3, 5, 8, 13, 21, 34])


def test_a_branch_around_a_root_call_invokes_if_taken():
    fib = define_fib()

    @tf.function
    def maybe(n):
        return tf.cond(n < 0, lambda: -1, lambda: fib(n))

    assert [int(maybe(tf.constant(n))) for n in (-5, 10)] == [-1, 55]


def test_autograph_statements_around_a_root_call_work():
    fib = define_fib()

    @tf.function
    def total(n):
        found = 0
        for k in tf.range(n):
            if k % 2 == 0:
                found += fib(k)
        return found

    assert int(total(10)) == 0 + 1 + 3 + 8 + 21


def test_a_body_is_defined_in_a_converted_function():
    @tf.function
    def fibonacci(n):
        return define_fib()(n)

    assert int(fibonacci(10)) == 55


def test_a_function_in_a_body_may_call_back():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)

        @tf.function
        def previous(m):
            return f(m - 1) + 1

        f.output(tf.cond(n < 1, lambda: 0, lambda: previous(n)))
    assert int(f(5)) == 5


def test_a_function_in_a_body_may_use_the_bodys_tensors():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        local = 10 * n

        @tf.function
        def add_up(m):
            return tf.cond(m < 1, lambda: local, lambda: f(m - 1) + local)

        f.output(add_up(n))
    assert int(f(4)) == 100


# --- Where a root call stands


def test_a_subgraph_of_the_outside_is_called_in_functions():
    fib = define_fib()
    assert int(tf.function(lambda n: fib(n) + fib(n + 1))(10)) == 55 + 89


def test_a_function_is_traced_for_each_shape():
    triangle = define_triangle()
    extended = tf.function(lambda x: tf.concat([x, triangle(tf.size(x))], 0))
    assert extended(tf.zeros([2], tf.int32)).numpy().tolist() == [0, 0, 2, 1]
    assert extended(tf.zeros([1], tf.int32)).numpy().tolist() == [0, 1]


def test_one_subgraph_is_called_eagerly_and_in_functions():
    fib = define_fib()
    inside = tf.function(lambda n: fib(n))
    assert [int(fib(10)), int(inside(11)), int(fib(12))] == [55, 89, 144]


def test_a_root_call_may_feed_another():
    fib = define_fib()
    assert int(fib(fib(fib(6)))) == 10946


def test_a_dataset_maps_through_a_subgraph():
    fib = define_fib()
    numbers = tf.data.Dataset.range(8).map(lambda n: fib(tf.cast(n, tf.int32)))
    assert [int(n) for n in numbers] == [0, 1, 1, 2, 3, 5, 8, 13]


def test_a_dataset_maps_in_parallel_through_a_subgraph():
    fib = define_fib()
    numbers = tf.data.Dataset.range(8).map(
        lambda n: fib(tf.cast(n, tf.int32)), num_parallel_calls=4
    )
    assert [int(n) for n in numbers] == [0, 1, 1, 2, 3, 5, 8, 13]


class Fold(tf.keras.layers.Layer):
    """Folds a Dense layer over the rows of its input, from the last to the first."""

    def __init__(self, units):
        super().__init__()
        self.units = units
        self.dense = tf.keras.layers.Dense(units, activation="tanh")

    def call(self, rows):
        with rtf.SubGraph("fold") as fold:
            i = fold.input(tf.int32)

            def step():
                both = tf.concat([rows[i], fold(i + 1)], 0)
                return self.dense(both[tf.newaxis])[0]

            def zeros():
                return tf.zeros([self.units])

            fold.output(tf.cond(i < tf.shape(rows)[0], step, zeros))
        return fold(0)

    def by_hand(self, rows):
        state = tf.zeros([self.units])
        for row in reversed(rows):
            state = self.dense(tf.concat([row, state], 0)[tf.newaxis])[0]
        return state


def test_a_keras_layer_defines_a_subgraph_in_its_call():
    layer, rows = Fold(3), np.random.default_rng(0).normal(size=[4, 2]).astype("f")
    np.testing.assert_allclose(layer(rows), layer.by_hand(rows), rtol=1e-5)


def test_a_layer_used_in_a_body_builds_its_weights_once():
    layer = Fold(3)
    layer(np.ones([4, 2], np.float32))
    layer(np.ones([5, 2], np.float32))
    assert [tuple(w.shape) for w in layer.dense.weights] == [(5, 3), (3,)]


def test_a_keras_layer_with_a_subgraph_works_in_functions():
    layer, rows = Fold(3), np.random.default_rng(0).normal(size=[4, 2]).astype("f")
    found = tf.function(layer)(tf.constant(rows))
    np.testing.assert_allclose(found, layer.by_hand(rows), rtol=1e-5)


def test_a_built_layer_is_used_in_a_body_of_the_outside():
    dense = tf.keras.layers.Dense(2, use_bias=False)
    dense.build([None, 2])
    with rtf.SubGraph("power") as power:
        n, x = power.input(tf.int32), power.input(tf.float32, [2])
        more = lambda: power(n - 1, dense(x[tf.newaxis])[0])  # noqa: E731
        power.output(tf.cond(n < 1, lambda: x, more))
    kernel = dense.kernel.numpy()
    expected = np.ones(2) @ kernel @ kernel @ kernel
    np.testing.assert_allclose(power(3, tf.ones([2])), expected, rtol=1e-5)


def test_dropout_in_a_body_drops_elements_of_every_invocation_anew():
    dropout = tf.keras.layers.Dropout(0.5, seed=0)
    with rtf.SubGraph("f") as f:
        n, x = f.input(tf.int32), f.input(tf.float32, [100])
        drop = lambda: dropout(f(n - 1, x), training=True)  # noqa: E731
        f.output(tf.cond(n < 1, lambda: x, drop))
    shares = [np.mean(f(n, tf.ones([100])) == 0) for n in (1, 3)]
    np.testing.assert_allclose(shares, [1 / 2, 7 / 8], atol=0.15)


def test_subgraphs_are_defined_in_several_threads_at_once():
    results = {}

    def run(k):
        with rtf.SubGraph("f") as f:
            n = f.input(tf.int32)
            f.output(tf.cond(n < 2, lambda: n + k, lambda: f(n - 1) + f(n - 2)))
        results[k] = int(f(8))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: 21 + 34 * k for k in range(8)}


# --- Maps


def test_map_invokes_once_for_each_row():
    found = define_fib().map([0, 1, 5, 10])
    assert found.numpy().tolist() == [0, 1, 5, 55]


def test_map_takes_one_row_of_each_argument():
    with rtf.SubGraph("gcd") as gcd:
        a, b = gcd.input(tf.int32), gcd.input(tf.int32)
        gcd.output(tf.cond(tf.equal(b, 0), lambda: a, lambda: gcd(b, a % b)))
    assert gcd.map([12, 35, 9], [18, 21, 6]).numpy().tolist() == [6, 7, 3]


def test_map_stacks_every_tensor_of_a_structure():
    hand_down = define_hand_down(Pair(tf.int32, tf.float32))
    rows = Pair(tf.constant([1, 2]), tf.constant([1.5, 2.5]))
    found = as_numpy(hand_down.map([0, 3], rows))
    assert found.left.tolist() == [1, 2]
    assert found.right.tolist() == [1.5, 2.5]


def test_map_stacks_rows_of_any_shape():
    value = np.random.default_rng(0).normal(size=[3, 2, 4]).astype("f")
    found = define_hand_down(tf.float32, [2, None]).map([0, 1, 2], value)
    np.testing.assert_array_equal(found, value)


def test_map_over_no_rows_gives_no_rows():
    found = define_hand_down(tf.float32, [3]).map(
        tf.zeros([0], tf.int32), tf.zeros([0, 3])
    )
    assert found.shape == [0, 3]


def test_map_runs_in_a_function_where_the_number_of_rows_is_unknown():
    fib = define_fib()
    rows = tf.function(
        lambda n: fib.map(n), input_signature=[tf.TensorSpec([None], tf.int32)]
    )
    assert rows(tf.range(4)).numpy().tolist() == [0, 1, 1, 2]
    assert rows(tf.range(0)).numpy().tolist() == []


def test_map_over_a_thousand_rows_keeps_their_order():
    found = define_hand_down(tf.int32).map(tf.range(1000) % 7, tf.range(1000))
    assert found.numpy().tolist() == list(range(1000))


def test_rows_without_elements_are_stacked():
    found = define_hand_down(tf.float32, [None]).map([1, 2], tf.zeros([2, 0]))
    assert found.shape == [2, 0]


# --- Pushes


def define_squares(size):
    """Returns a SubGraph that pushes n^2 for each number n below its argument."""
    with rtf.SubGraph("squares") as squares:
        n = squares.input(tf.int32)
        squares.push("square", n * n, index=n, size=size)
        squares.output(tf.cond(n < 1, lambda: 1, lambda: 1 + squares(n - 1)))
    return squares


def test_a_push_of_every_invocation_is_a_row_of_a_table():
    outputs, pushed = define_squares(size=5)(4, with_pushed=True)
    assert int(outputs) == 5
    assert pushed["square"].numpy().tolist() == [0, 1, 4, 9, 16]


def test_rows_that_nobody_pushed_are_zero():
    _, pushed = define_squares(size=6)(2, with_pushed=True)
    assert pushed["square"].numpy().tolist() == [0, 1, 4, 0, 0, 0]


def test_a_call_without_with_pushed_returns_the_outputs_alone():
    assert int(define_squares(size=5)(4)) == 5


def test_rows_of_a_map_push_into_one_table():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("ten", [n, 10 * n], index=n, size=4)
        f.output(n)
    _, pushed = f.map([3, 0, 1], with_pushed=True)
    assert pushed["ten"].numpy().tolist() == [[0, 0], [1, 10], [0, 0], [3, 30]]


def test_a_map_over_no_rows_gives_a_table_of_zeros():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", tf.stack([n, n]), index=n, size=3)
        f.output(n)
    _, pushed = f.map(tf.zeros([0], tf.int32), with_pushed=True)
    assert pushed["n"].numpy().tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("dtype", VALUES, ids=lambda dtype: dtype.name)
def test_values_of_every_dtype_are_pushed(dtype):
    with rtf.SubGraph("f") as f:
        value = f.input(dtype)
        f.push("value", value, index=1, size=2)
        f.output(value)
    _, pushed = f(tf.constant(VALUES[dtype], dtype), with_pushed=True)
    zero = b"" if dtype == tf.string else 0
    assert pushed["value"].numpy().tolist() == [zero, VALUES[dtype]]


def test_a_push_in_a_branch_happens_if_it_is_taken():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def odd():
            f.push("odd", n, index=n, size=6)
            return f(n - 1)

        def even():
            return tf.cond(n < 1, lambda: 0, lambda: f(n - 1))

        f.output(tf.cond(tf.equal(n % 2, 1), odd, even))
    _, pushed = f(5, with_pushed=True)
    assert pushed["odd"].numpy().tolist() == [0, 1, 0, 3, 0, 5]


def test_subgraphs_of_a_program_push_to_one_table():
    with rtf.SubGraph("odd") as odd:
        n = odd.input(tf.int32)
        odd.push("seen", -n, index=n, size=4)
        odd.output(n)
    with rtf.SubGraph("even") as even:
        n = even.input(tf.int32)
        even.push("seen", n, index=n, size=4)
        even.output(odd(n + 1))
    _, pushed = even(2, with_pushed=True)
    assert pushed["seen"].numpy().tolist() == [0, 0, 2, -3]


def test_a_body_pushes_to_several_tables():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("n", n, index=0, size=1)
        f.push("half", tf.cast(n, tf.float32) / 2, index=n, size=tf.constant(2))
        f.output(n)
    _, pushed = f(1, with_pushed=True)
    assert as_numpy(pushed) == {"n": [1], "half": pytest.approx([0, 0.5])}


def test_an_invocation_that_returns_to_nobody_pushes():
    with rtf.SubGraph("leaf") as leaf:
        n = leaf.input(tf.int32)
        leaf.push("n", n, index=n, size=3)
        leaf.output(n)
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        leaf(n)
        f.output(n)
    _, pushed = f(2, with_pushed=True)
    assert pushed["n"].numpy().tolist() == [0, 0, 2]


def test_a_recursion_whose_results_nobody_uses_pushes():
    with rtf.SubGraph("f", output_signature=tf.int32) as f:
        n = f.input(tf.int32)
        f.push("n", n, index=n, size=4)
        tf.cond(n > 0, lambda: f(n - 1), lambda: n)
        f.output(n)
    _, pushed = f(3, with_pushed=True)
    assert pushed["n"].numpy().tolist() == [0, 1, 2, 3]


def test_values_without_elements_are_pushed():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)
        f.push("nothing", tf.zeros([2, 0]), index=n, size=3)
        f.output(n)
    _, pushed = f.map([0, 1], with_pushed=True)
    assert pushed["nothing"].shape == [3, 2, 0]


def test_a_program_without_pushes_has_no_tables():
    assert define_fib()(5, with_pushed=True)[1] == {}


def test_size_may_come_from_a_tensor_of_the_function_around():
    @tf.function
    def squares(n):
        return define_squares(size=n + 1)(n, with_pushed=True)[1]["square"]

    assert squares(tf.constant(3)).numpy().tolist() == [0, 1, 4, 9]


def test_size_may_come_from_a_variable():
    size = tf.Variable(2)
    squares = define_squares(size=size)
    size.assign(3)
    _, pushed = squares(1, with_pushed=True)
    assert pushed["square"].numpy().tolist() == [0, 1, 0]


def test_a_push_in_a_loop_happens_in_every_turn():
    with rtf.SubGraph("f") as f:
        n = f.input(tf.int32)

        def step(k):
            f.push("k", k * k, index=k, size=4)
            return (k + 1,)

        f.output(tf.while_loop(lambda k: k < n, step, (0,))[0])
    _, pushed = f(4, with_pushed=True)
    assert pushed["k"].numpy().tolist() == [0, 1, 4, 9]


def test_pushed_tables_of_eager_calls_and_of_functions_are_equal():
    squares = define_squares(size=5)
    inside = tf.function(lambda n: squares(n, with_pushed=True)[1]["square"])
    eager = squares(4, with_pushed=True)[1]["square"]
    np.testing.assert_array_equal(inside(4), eager)


def test_constants_of_branches_and_loops_stay_where_they_are():
    """A branch, or a loop, that returns a constant and computes nothing."""
    with rtf.SubGraph("f", output_signature=tf.TensorSpec((), tf.int32)) as f:
        n = f.input(tf.int32)

        def count():
            def step(i, total):
                return i + 1, tf.cond(i < 2, lambda: 5, lambda: total + f(n - 1))

            return tf.while_loop(lambda i, _: i < 3, step, (0, 0))[1]

        f.output(tf.switch_case(n, [lambda: 7, lambda: 8, count]))

    assert [int(f(n)) for n in range(3)] == [7, 8, 5 + 8]
