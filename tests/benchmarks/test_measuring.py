"""The probes and clocks that figures stand on."""

import os

import numpy as np

from benchmarks.cores import ENOUGH, cores_now, run_with_both_cores
from benchmarks.fresh import in_fresh_process
from benchmarks.programs import count_ops, fib_calls, make_linear, with_gradient
from benchmarks.resident import in_use_bytes, peak_resident_bytes, resident_bytes
from benchmarks.timing import run_in_turn

MIB = 1024**2


def test_programs_run_in_turn_equally_often():
    order: list[str] = []
    runs = run_in_turn(
        {
            "a": lambda: order.append("a") or 1.0,
            "b": lambda: order.append("b") or 2.0,
        },
        3,
    )
    assert runs == {"a": [1.0] * 3, "b": [2.0] * 3}
    assert [set(order[i : i + 2]) for i in (0, 2, 4)] == [{"a", "b"}] * 3


def test_work_runs_in_another_process():
    assert in_fresh_process(os.getpid) != os.getpid()


def test_the_probe_sees_a_number_of_cores():
    assert 0 < cores_now() < 4


def test_a_run_without_both_cores_is_done_again():
    probes = iter([2.0, 1.0, 1.5, 2.0, 1.9, 2.0, 2.0])
    results = iter("abc")
    guarded = run_with_both_cores(lambda: next(results), 2, 9, lambda: next(probes))
    # "a" lost a core while it ran; the attempt after it did not start.
    assert guarded.runs == ["b", "c"]
    assert guarded.discarded == 2
    assert guarded.cores == 1.9
    assert guarded.had_both_cores


def test_runs_without_both_cores_are_not_believed():
    guarded = run_with_both_cores(lambda: "a", 2, 3, lambda: ENOUGH - 0.1)
    assert guarded.runs == ["a", "a"]
    assert guarded.discarded == 3
    assert not guarded.had_both_cores
    assert "NOT" in str(guarded)


def test_memory_that_is_touched_is_resident_and_in_use():
    before = resident_bytes(), in_use_bytes()
    held = np.ones(64 * MIB, np.uint8)
    assert resident_bytes() - before[0] > 32 * MIB
    assert in_use_bytes() - before[1] > 32 * MIB
    del held
    assert in_use_bytes() - before[1] < 32 * MIB
    assert peak_resident_bytes() - before[0] > 32 * MIB


def test_fib_of_20_is_21891_calls():
    assert fib_calls(20) == 21_891


def test_an_extra_op_is_an_op_of_the_body():
    assert count_ops(make_linear(7)) == count_ops(make_linear()) + 7


def test_a_linear_recursion_is_a_power():
    assert make_linear()(3, 2.0).numpy() == 2.0**4
    assert with_gradient(make_linear())(3, 2.0).numpy() == 4 * 2.0**3
