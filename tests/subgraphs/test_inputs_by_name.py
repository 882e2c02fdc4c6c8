"""Inputs that have a name, and what input() refuses."""

import pytest
import tensorflow as tf

import recursive_tf as rtf


def power_of(executor):
    """Returns base ** n."""
    with rtf.SubGraph("power", executor=executor) as power:
        base = power.input(tf.float32, name="base")
        n = power.input(tf.int32, name="n")
        power.output(
            tf.cond(n < 1, lambda: 1.0, lambda: base * power(n=n - 1, base=base))
        )
    return power


@pytest.mark.every_executor
def test_arguments_are_said_by_name_at_the_root_in_bodies_and_in_maps(executor):
    power = power_of(executor)
    assert float(power(2.0, 3)) == 8
    assert float(power(2.0, n=3)) == 8
    assert float(power(n=3, base=2.0)) == 8
    assert power.map(n=[1, 2], base=[3.0, 3.0]).numpy().tolist() == [3, 9]
    assert power.map([3.0, 3.0], n=[1, 2]).numpy().tolist() == [3, 9]


def test_a_call_with_pushed_values_takes_names_too():
    with rtf.SubGraph("pushes") as pushes:
        n = pushes.input(tf.int32, name="n")
        pushes.push("doubled", 2 * n, index=n, size=3)
        pushes.output(n)
    found, pushed = pushes.map(n=[2, 0], with_pushed=True)
    assert found.numpy().tolist() == [2, 0]
    assert pushed["doubled"].numpy().tolist() == [0, 0, 4]


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((2.0,), {"m": 3}, r"with m=, but has no input of this name; .*'base', 'n'"),
        ((2.0, 3), {"n": 3}, "with n= and with an argument at its place, 1"),
        ((), {"n": 3}, "without its input 0, but with"),
    ],
)
def test_names_that_do_not_fit_are_refused(args, named, message):
    power = power_of("auto")
    for call in (power, power.map):
        with pytest.raises(rtf.SubGraphError, match=message):
            call(*args, **named)


def test_an_input_without_a_name_is_passed_by_its_place():
    with rtf.SubGraph("add") as add:
        add.output(add.input(tf.int32) - add.input(tf.int32, name="b"))
    assert int(add(5, b=2)) == 3
    with pytest.raises(rtf.SubGraphError, match="without its input 0"):
        add(b=2)


def test_two_inputs_of_one_name_are_refused():
    def define():
        with rtf.SubGraph("add") as add:
            add.input(tf.int32, name="a")
            add.input(tf.int32, name="a")

    with pytest.raises(rtf.SubGraphError, match="two inputs with the name 'a'"):
        define()


@pytest.mark.parametrize("shape", [[], [4], None])
def test_a_spec_and_another_shape_are_refused(shape):
    f = rtf.SubGraph("f")
    with pytest.raises(rtf.SubGraphError, match=r"float32\[3\], and with shape="), f:
        f.input(tf.TensorSpec([3]), shape)


def test_a_spec_and_its_own_shape_are_the_spec():
    with rtf.SubGraph("f") as f:
        x = f.input(tf.TensorSpec([3]), [3])
        y, z = f.input(tf.float32, [None]), f.input(tf.float32, None)
        f.output(x)
    assert [x.shape.rank, y.shape.rank, z.shape.rank] == [1, 1, None]
