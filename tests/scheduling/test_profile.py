"""`rtf.profile` measures a function under all schedules, and keeps it as JSON."""

import json

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.scheduling import measure
from recursive_tf.python.scheduling import profile as profile_module
from recursive_tf.python.scheduling.measure import schedules_of

SIDE = 160
ALONE = "1x1 critical_path pinned"


@pytest.fixture(scope="module")
def branches():
    kernel = tf.random.stateless_normal([SIDE, SIDE], [1, 2]) / SIDE**0.5

    @tf.function
    def branches(x):
        first = tf.matmul(x, kernel, name="first")
        return tf.add_n([tf.tanh(first @ (kernel + i)) for i in range(4)])

    return branches


def profile_of(branches):
    return rtf.profile(branches, tf.ones([SIDE, SIDE]), repeats=3, verbose=False)


@pytest.fixture(scope="module")
def profile(branches):
    return profile_of(branches)


def test_all_schedules_are_measured(profile):
    schedules = [s.attribute() for s in schedules_of(profile.machine["cores"])]
    assert list(profile.seconds) == schedules
    assert all(len(runs) == 3 and min(runs) > 0 for runs in profile.seconds.values())


def test_operations_have_their_times_under_each(profile):
    [graph] = profile.graphs
    assert graph.runs == 1
    assert list(graph.nanoseconds) == list(profile.seconds)[1:]
    products = ["MatMul" in each for each in graph.types]
    assert sum(products) == 5
    for times in graph.nanoseconds.values():
        # Two products of 8 million multiplications and additions take some time.
        assert min(np.array(times)[products]) > 10_000


def test_operations_wait_for_what_they_read(profile):
    [graph] = profile.graphs
    first = graph.names.index("first")
    readers = {graph.types[b] for a, b in graph.waits if a == first}
    assert readers == {graph.types[first]}


def test_an_idle_executor_begins_later(profile):
    [graph] = profile.graphs
    cores = profile.machine["cores"]
    assert set(graph.handing_over) == set(graph.nanoseconds)
    assert graph.handing_over[ALONE] == 0
    if cores > 1:
        # No later where a machine is busy.
        assert 0 <= graph.handing_over[f"{cores}x1 critical_path pinned"] < 10_000_000


def test_how_much_later_is_found_of_what_each_schedule_did(branches, monkeypatch):
    executors = {}

    def number(graph, runs):
        [schedule] = graph.nanoseconds
        executors[schedule] = {event.team for events in runs for event in events}
        return len(executors)

    monkeypatch.setattr(measure, "handing_over_ns", number)
    made = profile_of(branches)
    [graph] = made.graphs
    numbers = {schedule: 1 + i for i, schedule in enumerate(executors)}
    assert graph.handing_over == numbers
    cores = made.machine["cores"]
    assert set(range(cores)) <= executors[f"{cores}x1 critical_path pinned"]


def test_the_choice_is_the_fastest(profile):
    medians = {s: np.median(runs) for s, runs in profile.seconds.items()}
    fastest = min(medians, key=medians.get)
    if medians[fastest] < 0.98 * medians[""]:
        assert profile.schedule.attribute() == fastest
    else:
        assert profile.schedule == rtf.Schedule()
    assert f"The choice is {profile.schedule}." in str(profile)
    assert str(profile).count(" ms ") == len(profile.seconds)


def test_the_choice_needs_a_reason():
    one, other = "1x2 critical_path pinned", "2x1 critical_path pinned"
    made = rtf.Profile({}, {"": (1.0,), one: (0.99,), other: (1.2,)}, ())
    assert made.schedule == rtf.Schedule()
    made = rtf.Profile({}, {"": (1.0,), one: (0.9,), other: (0.95,)}, ())
    assert made.schedule == rtf.Schedule(1, 2)


def test_it_is_kept_as_json(profile, tmp_path):
    profile.save(tmp_path / "profile.json")
    assert rtf.Profile.load(tmp_path / "profile.json") == profile


@pytest.mark.parametrize("name", ["processor", "cores", "tensorflow"])
def test_one_of_another_machine_is_refused(profile, tmp_path, name):
    config = json.loads(json.dumps(profile.config()))
    config["machine"][name] = "another"
    (tmp_path / "profile.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"measured elsewhere.*Measure again"):
        rtf.Profile.load(tmp_path / "profile.json")


@pytest.mark.parametrize(
    "damage",
    [
        lambda config: config.pop("machine"),
        lambda config: config["seconds"].pop(""),
        lambda config: config["seconds"].update({"": "fast"}),
        lambda config: config["seconds"].update(twice=[1.0]),
        lambda config: config["graphs"][0]["waits"].append(1),
        lambda config: config["graphs"][0].pop("names"),
        lambda config: config["launches"].append({"name": "f"}),
    ],
)
def test_a_damaged_one_is_refused(profile, damage):
    config = json.loads(json.dumps(profile.config()))
    damage(config)
    with pytest.raises(ValueError, match=r"This profile is damaged.*Measure"):
        rtf.Profile.from_config(config)


def test_one_of_another_version_is_refused(profile):
    with pytest.raises(ValueError, match="of version 7"):
        rtf.Profile.from_config({**profile.config(), "version": 7})


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "it is not JSON"), ("[1]", "but list"), ('{"version": 1}', "but dict")],
)
def test_a_file_of_something_else_is_refused(tmp_path, text, message):
    (tmp_path / "junk.json").write_text(text)
    with pytest.raises(ValueError, match=rf"holds no profile.*{message}"):
        rtf.Profile.load(tmp_path / "junk.json")
    with pytest.raises(ValueError, match=rf"holds no learned policy.*{message}"):
        rtf.LearnedPolicy.load(tmp_path / "junk.json")


def test_a_policy_is_no_profile(profile, tmp_path):
    profile.save(tmp_path / "profile.json")
    with pytest.raises(ValueError, match=r"holds no learned policy.*Give the file"):
        rtf.LearnedPolicy.load(tmp_path / "profile.json")
    rtf.LearnedPolicy(()).save(tmp_path / "policy.json")
    with pytest.raises(ValueError, match=r"holds no profile.*Give the file"):
        rtf.Profile.load(tmp_path / "policy.json")


def test_a_function_that_runs_no_graph_has_only_times():
    profile = rtf.profile(lambda: None, repeats=1, verbose=False)
    assert profile.graphs == profile.launches == ()


def step_of_a_full_tree(executor):
    """Returns a step of training: a tree of depth 3, i.e. 1, 2, 4 and 8 nodes."""
    weights = tf.Variable(tf.ones([4, 4]) / 8)
    with rtf.SubGraph("full", executor=executor) as full:
        depth = full.input(tf.int32)

        def inner():
            both = full(depth - 1) + full(depth - 1)
            return tf.tanh(tf.linalg.matvec(weights, both))

        full.output(tf.cond(depth < 1, lambda: tf.ones([4]), inner))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(full(3))
        return tape.gradient(loss, weights)

    return step


def test_launches_have_their_times_by_rows():
    profile = rtf.profile(step_of_a_full_tree("batched"), repeats=1, verbose=False)
    inner = {}
    for each in profile.launches:
        assert list(each.nanoseconds) == list(profile.seconds)
        assert min(each.nanoseconds.values()) > 0
        assert each.runs == 1
        if "/inner" in each.name:
            inner.setdefault(each.part, set()).add(each.rows)
    # A launch of the inner nodes of each height; what is deferred runs once for all.
    assert inner == {"forward": {1, 2, 4}, "backward": {1, 2, 4}, "deferred": {7}}
    calls = {(each.part, each.name) for each in profile.launches if each.name == "full"}
    assert {("call", "full"), ("gradient of call", "full")} <= calls
    in_all = [each.nanoseconds_in_all() for each in profile.launches]
    assert in_all == sorted(in_all, reverse=True)
    text = str(profile)
    assert "gradient of call full" in text
    assert f"and {len(profile.launches) - 8} more" in text
    assert rtf.Profile.from_config(json.loads(json.dumps(profile.config()))) == profile


def test_of_the_dataflow_executor_calls_are_measured():
    profile = rtf.profile(step_of_a_full_tree("dataflow"), repeats=1, verbose=False)
    parts = {(each.part, each.name) for each in profile.launches}
    assert parts == {("call", "full"), ("gradient of call", "full")}
    assert "more: see" not in str(profile)


def test_a_trace_and_a_profile_share_a_log(branches, tmp_path):
    with (
        rtf.trace(tmp_path / "trace.json"),
        pytest.raises(RuntimeError, match="recorded already"),
    ):
        rtf.profile(branches, tf.ones([SIDE, SIDE]), repeats=1, verbose=False)


def test_wrong_uses_say_what_is_right(branches):
    with pytest.raises(TypeError, match=r"rtf\.profile takes a function"):
        rtf.profile(3)
    with pytest.raises(ValueError, match="measure at least once"):
        rtf.profile(branches, tf.ones([SIDE, SIDE]), repeats=0)
    with pytest.raises(RuntimeError, match="Call it eagerly"):
        tf.function(lambda x: rtf.profile(branches, x))(tf.ones([SIDE, SIDE]))


def test_machines_are_named():
    words = profile_module.in_words(profile_module.this_machine())
    assert "cores of a processor" in words
    assert tf.__version__ in words
