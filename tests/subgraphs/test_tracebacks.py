"""The traceback of a SubGraphError shows the user's lines."""

import pathlib
import re
import traceback

import pytest
import tensorflow as tf

import recursive_tf as rtf


def wrong_call():
    with rtf.SubGraph("f") as f:
        f.output(f.input(tf.int32) + 1)
    f(1, 2)


def wrong_call_in_a_body():
    with rtf.SubGraph("f") as f:
        f.output(f.input(tf.int32) + 1)
    with rtf.SubGraph("g") as g:
        g.output(helper(f))


def helper(f):
    return f("a", "b")


def wrong_input():
    with rtf.SubGraph("f") as f:
        f.input(tf.TensorSpec([3]), [4])


def no_output():
    with rtf.SubGraph("f"):
        pass


@rtf.subgraph
def endless(n):
    return endless(n)


def decorated():
    endless(1)


@rtf.subgraph
def calls_wrongly(n: tf.int32) -> tf.int32:
    if n < 1:
        return 1
    return calls_wrongly(n - 1, 3)


def wrong_call_in_a_branch():
    calls_wrongly(3)


@rtf.subgraph
def calls_another(n: tf.int32) -> tf.int32:
    return calls_wrongly(n)


def wrong_call_of_a_callee():
    calls_another(3)


@rtf.vertex(state=tf.TensorSpec([]))
def longest(v):
    v.scatter(1.0)
    v.push(1.0)


def wrong_graph():
    longest(tf.constant(3))


def nothing_to_explain():
    rtf.explain(rtf.SubGraph("f"))


CASES = [
    wrong_call,
    wrong_call_in_a_body,
    wrong_input,
    no_output,
    decorated,
    wrong_call_in_a_branch,
    wrong_call_of_a_callee,
    wrong_graph,
    nothing_to_explain,
]


def frames_of(function):
    with pytest.raises(rtf.SubGraphError) as caught:
        function()
    return [
        (pathlib.Path(frame.filename), frame.name)
        for frame in traceback.extract_tb(caught.value.__traceback__)
    ]


def of_library(frames):
    here = pathlib.Path(rtf.__file__).parent
    tensorflow = pathlib.Path(tf.__file__).parent
    return [
        (path.name, name)
        for path, name in frames
        if here in path.parents or tensorflow in path.parents
    ]


@pytest.mark.parametrize("function", CASES)
def test_one_frame_of_the_library_is_left(function):
    frames = frames_of(function)
    assert of_library(frames) == [("tracebacks.py", "call")]
    assert frames[-1][0].name == "tracebacks.py"
    assert frames[-2][0] == pathlib.Path(__file__)


@pytest.mark.parametrize("function", [wrong_call_in_a_branch, wrong_call_of_a_callee])
def test_a_message_names_lines_of_the_user_alone(function):
    with pytest.raises(rtf.SubGraphError, match="too many positional") as caught:
        function()
    message = str(caught.value)
    files = set(re.findall(r'File "([^"]+)"', message))
    assert files == {__file__}
    assert "in calls_wrongly  *" in message


def test_lines_of_the_user_in_a_body_stay():
    names = [name for _, name in frames_of(wrong_call_in_a_body)]
    assert names[-3:] == ["wrong_call_in_a_body", "helper", "call"]


def test_all_frames_are_there_where_filtering_is_off():
    tf.debugging.disable_traceback_filtering()
    try:
        assert len(of_library(frames_of(wrong_call))) > 2
    finally:
        tf.debugging.enable_traceback_filtering()


def test_the_cause_stays():
    with rtf.SubGraph("f") as f:
        f.output(f.input({"a": tf.int32})["a"])
    with pytest.raises(rtf.SubGraphError) as caught:
        f({"b": 1})
    assert isinstance(caught.value.__cause__, ValueError | TypeError)
