"""`rtf.trace` writes a timeline of root calls that Perfetto and Chrome can show."""

import collections
import json
import pathlib
import re
import threading

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.reports import trace as trace_module
from recursive_tf.python.trace_events import Event
from tests.batching.tree import ROOT, define_tree
from tests.helpers.subgraphs import define_fib

PLACE = re.compile(r"^tree(/\w+)* (tree|test_trace)\.py:\d+$")


def read(path):
    """Returns the slices of a trace, and the names of its threads."""
    events = json.loads(pathlib.Path(path).read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    return [e for e in events if e["ph"] == "X"], names


def by_category(slices):
    found = collections.defaultdict(list)
    for event in slices:
        found[event["cat"]].append(event)
    return found


def end(event):
    return event["ts"] + event["dur"]


def is_within(inner, outer):
    # Times are fractions of a microsecond.
    return outer["ts"] <= inner["ts"] + 1e-3 and end(inner) <= end(outer) + 1e-3


def assert_each_lane_nests(slices):
    for event in slices:
        for other in slices:
            if event is other or event["tid"] != other["tid"]:
                continue
            apart = end(event) <= other["ts"] + 1e-3 or end(other) <= event["ts"] + 1e-3
            assert apart or is_within(event, other) or is_within(other, event)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trace.json"


@pytest.fixture(scope="module")
def training():
    """A step that trains a recursion over a tree of three leaves."""
    table = tf.Variable(tf.random.stateless_normal([10, 4], [1, 2]))
    weight = tf.Variable(tf.random.stateless_normal([8, 4], [3, 4]))

    def cell(left, right):
        both = tf.concat([left, right], 0)
        return tf.tanh(tf.linalg.matvec(weight, both, transpose_a=True))

    tree = define_tree(lambda token: tf.tanh(tf.gather(table, token)), cell)

    @tf.function
    def step(node):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tree(node))
        return tape.gradient(loss, [table, weight])

    step(tf.constant(ROOT))
    return step


def test_a_trace_of_training_has_every_launch(training, path):
    with rtf.trace(path):
        training(tf.constant(ROOT))
    found = by_category(read(path)[0])
    assert len(found["call"]) == len(found["gradient of call"]) == 1
    rows = collections.Counter()
    for event in found["forward"]:
        rows[event["name"].partition(" ")[0]] += event["args"]["rows"]
    # To look at the five nodes needs no launch.
    assert sorted(rows.values()) == [2, 3]
    assert found["backward"]
    assert found["deferred"]


def test_launches_are_within_their_root_call(training, path):
    with rtf.trace(path):
        training(tf.constant(ROOT))
    slices, names = read(path)
    found = by_category(slices)
    (call,), (gradient,) = found["call"], found["gradient of call"]
    assert all(is_within(event, call) for event in found["forward"])
    assert all(
        is_within(event, gradient) for event in found["backward"] + found["deferred"]
    )
    assert end(call) <= gradient["ts"]
    assert_each_lane_nests(slices)
    assert {event["tid"] for event in slices} == set(names)
    assert all(name.startswith("thread ") for name in names.values())


def test_launches_have_the_lines_of_the_users_code(training, path):
    with rtf.trace(path):
        training(tf.constant(ROOT))
    found = by_category(read(path)[0])
    for category in ("forward", "backward", "deferred"):
        assert found[category]
        assert all(PLACE.search(event["name"]) for event in found[category])
    assert found["call"][0]["name"] == "tree"


def test_times_begin_with_the_trace(path):
    fib = define_fib()
    fib(3)
    with rtf.trace(path):
        fib(3)
        fib(4)
    slices, _ = read(path)
    starts = [event["ts"] for event in slices]
    assert starts == sorted(starts)
    assert starts[0] >= 0
    assert all(event["dur"] >= 0 for event in slices)


def test_root_calls_in_the_dataflow_executor_are_recorded(path):
    fib = define_fib(executor="dataflow")
    with rtf.trace(path):
        fib(5)
        fib.map([3, 4])
    slices, _ = read(path)
    assert [(e["name"], e["cat"], e["args"]["rows"]) for e in slices] == [
        ("fib", "call", 1),
        ("fib", "call", 2),
    ]


@pytest.mark.parametrize("executor", ["batched", "dataflow"])
def test_calls_at_once_do_not_overlap_in_a_lane(executor, path):
    fib = define_fib(executor=executor)
    fib(3)

    def work():
        for _ in range(10):
            fib(8)

    threads = [threading.Thread(target=work) for _ in range(3)]
    with rtf.trace(path):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    slices, _ = read(path)
    assert len(by_category(slices)["call"]) == 30
    assert_each_lane_nests(slices)


def test_overlapping_events_of_a_thread_get_lanes():
    lanes = trace_module._Lanes()
    times = [(0, 10), (2, 3), (5, 12), (11, 13), (20, 21)]
    events = [Event("", "", a, b - a, 7, 1) for a, b in times]
    assert list(map(lanes.take, events)) == [1, 1, 2, 1, 1]
    assert lanes.names == ["thread 1", "thread 1 (2)"]


def test_folders_are_made_and_a_path_may_be_a_text(tmp_path):
    path = str(tmp_path / "a" / "b" / "trace.json")
    with rtf.trace(path):
        define_fib()(3)
    assert read(path)[0]


def test_a_trace_is_written_when_the_body_raises(path):
    fib = define_fib()

    def fail():
        with rtf.trace(path):
            fib(3)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert by_category(read(path)[0])["forward"]


def test_a_trace_without_calls_is_empty(path):
    with rtf.trace(path):
        pass
    assert read(path) == ([], {})


def test_a_trace_in_a_trace_is_an_error_and_the_outer_goes_on(path, tmp_path):
    fib = define_fib()
    with rtf.trace(path):
        with (
            pytest.raises(RuntimeError, match="recorded already"),
            rtf.trace(tmp_path / "inner.json"),
        ):
            pass
        fib(3)
    assert read(path)[0]
    assert not (tmp_path / "inner.json").exists()


def test_a_trace_of_another_thread_at_once_is_an_error(path, tmp_path):
    errors = []

    def work():
        try:
            with rtf.trace(tmp_path / "other.json"):
                pass
        except RuntimeError as error:
            errors.append(str(error))

    with rtf.trace(path):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert "a process records one at a time" in errors[0]


def test_a_file_that_cannot_be_written_is_an_error_before_the_body_runs(tmp_path, path):
    with pytest.raises(IsADirectoryError), rtf.trace(tmp_path):
        pytest.fail("The body runs.")
    with rtf.trace(path):
        pass


def test_a_trace_in_a_function_is_an_error(path):
    @tf.function
    def function(n):
        with rtf.trace(path):
            return n

    with pytest.raises(RuntimeError, match="around the call of the function"):
        function(1)
