"""What is wrong with a vertex function, a call or a graph: an error says the cure."""

import functools

import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

OF_TWO = (tf.TensorSpec([2]), tf.TensorSpec([]))
CHAIN = [[-1], [0]]


def said_once(function, *arguments, state=tf.float32, way=lambda f: f):
    """Returns what a call says of a vertex function that is wrong."""
    decorated = way(rtf.vertex(state=state)(function))
    return message_of(lambda: decorated(*(arguments or (CHAIN,))))


@pytest.fixture
def said_of(way):
    """The same, for each way in which a call is made."""
    return functools.partial(said_once, way=way)


def fine(v):
    y = v.gather(0) + 1
    v.scatter(y)
    v.push(y)


# --- The function


def test_a_scatter_is_missing(said_of):
    def forgets(v):
        v.push(v.pull())

    message = said_of(forgets, CHAIN, tf.ones([2]))
    assert "Vertex function 'forgets' does not scatter" in message
    assert "Call v.scatter(state) at its end, once." in message


def test_a_scatter_is_missing_of_what_gathers(said_of):
    def listens(v):
        v.push(v.gather(0))

    message = said_of(listens)
    assert "'listens' gathers, but nothing scatters what it gathers" in message


def test_a_scatter_is_there_twice(said_of):
    def twice(v):
        v.scatter(1.0)
        v.scatter(2.0)

    message = said_of(twice)
    assert "Vertex function 'twice' scatters twice" in message
    assert "all of it at once" in message


def test_a_scatter_has_another_dtype(said_of):
    def f(v):
        v.scatter(tf.constant(1))
        v.push(1)

    message = said_of(f)
    assert "Vertex function 'f' scatters int32[], but state= says" in message
    assert "state=tf.TensorSpec([], tf.int32)" in message


def test_a_scatter_has_another_shape(said_of):
    def f(v):
        v.scatter((tf.zeros([3]), tf.zeros([])))

    message = said_of(f, state=OF_TWO)
    assert "scatters (float32[3], float32[])" in message
    assert "state= says (float32[2], float32[])" in message
    assert (
        "state=(tf.TensorSpec([3], tf.float32), tf.TensorSpec([], tf.float32))"
        in message
    )


def test_a_scatter_has_another_structure(said_of):
    def f(v):
        v.scatter(tf.zeros([2]))

    assert "scatters float32[2], but state= says (" in said_of(f, state=OF_TWO)


def test_a_scatter_is_no_tensor(said_of):
    def f(v):
        v.scatter((None, "text"))

    assert "Vertex function 'f' scatters" in said_of(f, state=OF_TWO)


@pytest.mark.traces_only
def test_a_scatter_in_a_branch_says_how_to_choose_a_state():
    def in_if(v):
        if v.num_inputs > 0:
            v.scatter(1.0)
        else:
            v.scatter(2.0)

    def in_cond(v):
        tf.cond(v.num_inputs > 0, lambda: v.scatter(1.0), lambda: None)

    def in_loop(v):
        for _ in tf.range(v.num_inputs):
            v.scatter(1.0)

    for function in (in_if, in_cond, in_loop):
        message = said_once(function)
        assert f"Vertex function '{function.__name__}' scatters in a branch" in message
        assert "tf.cond(v.num_inputs > 0, inner, leaf)" in message
        assert "v.scatter(state) at the end" in message


@pytest.mark.parametrize("i", [-1, 1.0, "0", True])
def test_which_in_neighbor_is_an_integer_of_python(i, said_of):
    def f(v):
        v.gather(i)

    message = said_of(f)
    assert f"v.gather({i!r}) in vertex function 'f'" in message
    assert "v.gather() returns the states of all of them" in message


@pytest.mark.traces_only
def test_which_in_neighbor_is_no_tensor():
    def f(v):
        v.gather(v.num_inputs - 1)

    assert "an integer of Python" in said_once(f)


def test_a_function_returns_nothing(said_of):
    def f(v):
        v.scatter(1.0)
        return v.index

    message = said_of(f)
    assert "Vertex function 'f' returns" in message
    assert "to the call with v.push(h)" in message


def test_a_push_is_missing(said_of):
    def f(v):
        v.scatter(v.gather(0))

    message = said_of(f)
    assert "Vertex function 'f' pushes nothing" in message
    assert "e.g. v.push(h)" in message


def test_a_push_has_a_name_or_not(said_of):
    def f(v):
        v.scatter(1.0)
        v.push(1.0)
        v.push(2.0, name="two")

    assert "give each push a name" in said_of(f)


def test_a_push_has_two_structures(said_of):
    def f(v):
        v.scatter(1.0)
        v.push(1.0, name="y")
        v.push((2.0, 3.0), name="y")

    assert "pushes values of two structures as 'y'" in said_of(f)


def test_a_push_is_one_row_for_each_vertex(way):
    @rtf.vertex(state=tf.float32)
    def f(v):
        v.scatter(1.0)
        v.push(1.0)
        v.push(2.0)

    run = way(f)
    message = message_of(lambda: run(CHAIN), tf.errors.InvalidArgumentError)
    assert "pushed" in message


@pytest.mark.traces_only
def test_a_vertex_is_used_in_its_function():
    kept = []

    def f(v):
        kept.append(v)
        v.scatter(1.0)
        with rtf.SubGraph("inner") as inner:
            inner.output(v.gather(0))

    message = said_once(f)
    assert "`v.gather` of a vertex of 'f' is called outside" in message
    for use in (lambda v: v.pull(), lambda v: v.push(1), lambda v: v.scatter(1.0)):
        message = message_of(lambda use=use: use(kept[-1]))
        assert "is called outside of the vertex function" in message


# --- What is decorated


def test_what_is_decorated_is_a_function():
    with pytest.raises(TypeError, match="vertex decorates a Python function"):
        rtf.vertex(state=tf.float32)(tf.keras.layers.Dense(3))


@pytest.mark.parametrize("decorate", [rtf.vertex, lambda f: rtf.vertex()(f)])
def test_a_state_is_named(decorate):
    with pytest.raises(TypeError, match=r"needs state=.* @rtf.vertex\(state=tf"):

        @decorate
        def f(v):
            v.scatter(1.0)


def test_an_executor_is_one():
    with pytest.raises(ValueError, match="executor='fast': choose one of"):
        rtf.vertex(state=tf.float32, executor="fast")


@pytest.mark.parametrize(
    "state",
    [
        (),
        {},
        tf.TensorSpec([None]),
        tf.TensorSpec(None),
        tf.RaggedTensorSpec([2, None]),
        (tf.TensorSpec([2]), None),
    ],
    ids=str,
)
def test_a_state_has_known_shapes(state):
    message = message_of(lambda: rtf.vertex(state=state, name="deep")(fine))
    assert "state= of vertex function 'deep' is" in message
    assert "zeros stand for an in-neighbor that is not there" in message


# --- The call


def pulls(v):
    v.scatter(v.pull())
    v.push(v.gather(0))


def test_inputs_are_missing(said_of):
    message = said_of(pulls)
    assert "Vertex function 'pulls' pulls, but is called with a graph" in message
    assert "Call pulls(graph, inputs)" in message


def test_inputs_are_not_pulled(said_of):
    message = said_of(fine, CHAIN, tf.ones([2]))
    assert "'fine' is called with inputs, but does not pull" in message
    assert "call fine(graph)" in message


def test_inputs_have_no_rows(said_of):
    for inputs in (1.0, [1.0, 2.0], {"x": tf.ones([2]), "y": None}):
        message = said_of(pulls, CHAIN, inputs)
        assert "The inputs of vertex function 'pulls' have" in message
        assert "[num_vertices, ...]" in message


@pytest.mark.parametrize("rows", [1, 3])
def test_inputs_have_a_row_for_each_vertex(rows, said_of):
    message = said_of(pulls, CHAIN, tf.ones([rows, 5]))
    assert f"inputs of vertex function 'pulls' have {rows} rows" in message
    assert f"float32[{rows}, 5], but the graph has 2 vertices" in message


def test_inputs_of_unknown_size_have_a_row_for_each_vertex():
    decorated = rtf.vertex(state=tf.float32)(pulls)
    specs = tf.TensorSpec([None, 1], tf.int32), tf.TensorSpec([None])
    run = tf.function(decorated, input_signature=specs)
    for inputs in (tf.ones([3]), tf.ones([1])):
        message = message_of(
            lambda inputs=inputs: run(CHAIN, inputs), tf.errors.InvalidArgumentError
        )
        assert "'pulls' have a row for each vertex" in message.replace("\\'", "'")


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        (tf.constant([0, 1]), "int32[2]"),
        (tf.constant([[0.0]]), "float32[1, 1]"),
        (tf.ragged.constant([[0.5], []]), "a RaggedTensor"),
        (tf.ragged.constant([[[0]], []]), "a RaggedTensor"),
        ([[0], []], "[[0], []]"),
        ("a graph", "string[]"),
        (object(), "<object object"),
    ],
    ids=lambda x: x if isinstance(x, str) else "graph",
)
def test_a_graph_is_one(graph, found, said_of):
    message = said_of(fine, graph)
    assert f"The graph of vertex function 'fine' is {found}" in message
    assert "tf.ragged.constant makes one of lists" in message


@pytest.mark.traces_only
def test_a_call_is_not_in_a_body():
    decorated = rtf.vertex(state=tf.float32)(fine)

    def define():
        with rtf.SubGraph("around") as around:
            around.output(decorated(CHAIN))

    message = message_of(define)
    assert "'fine' is called in the body of SubGraph 'around'" in message
    assert "Call it outside" in message
