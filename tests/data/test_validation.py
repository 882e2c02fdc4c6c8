"""Arrays that are no trees are refused, with the numbers of tree and node."""

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from recursive_tf.data import Forest, ForestError
from tests.data.examples import forest


def made_of(children, roots, sizes, binary=False):
    """Returns a forest of lists of children."""
    lists = Forest(
        tokens=[0] * len(children), children=children, roots=roots, sizes=sizes
    )
    return lists.with_left_right() if binary else lists


@pytest.mark.parametrize("binary", [True, False])
def test_trees_are_valid(binary):
    trees = forest(binary)
    assert trees.validate() is trees
    assert trees[2].validate().shape == []


@pytest.mark.parametrize(
    ("children", "roots", "sizes", "complaint"),
    [
        (
            [[], [0, 9]],
            [1],
            [2],
            "tree 0, node 1 has the child 9, which is out of range",
        ),
        ([[], [0, -2]], [1], [2], "tree 0, node 1 has the child -2"),
        ([[], [0], [], [1, 2]], [1, 3], [2, 2], "tree 1, node 3 has the child 1"),
        ([[], [0]], [2], [2], "tree 0: its root is node 2.*are 0 to 1"),
        ([[], []], [0, 0], [1, 1], "tree 1: its root is node 0.*are 1 to 1"),
        ([[], [0]], [1, 1], [2, 0], "tree 1 is empty"),
        ([[], [0]], [1], [3], "add up to 3 nodes, but there are 2 tokens"),
        ([[], [], [0]], [0, 2], [1, 2], "tree 1, node 2 has the child 0"),
        ([[], [], [1]], [0, 1], [1, 2], "tree 1, node 2 is unreachable"),
        ([[], [0], [1, 0]], [2], [3], "tree 0, node 0 has 2 parents, e.g. 1 and 2"),
        ([[0]], [0], [1], "tree 0, node 0 is below itself: a cycle, 0 -> 0"),
        ([[], [], [3], [2], []], [0, 1, 4], [1, 3, 1], "node 2 is .* 2 -> 3 -> 2"),
    ],
)
def test_what_is_wrong_is_named(children, roots, sizes, complaint):
    with pytest.raises(ForestError, match=complaint):
        made_of(children, roots, sizes).validate()


def test_a_binary_forest_is_checked_too():
    with pytest.raises(ForestError, match="node 2 has the child 7"):
        Forest(tokens=[0] * 3, left=[-1, -1, 0], right=[-1, -1, 7], roots=2).validate()


def test_nodes_of_a_dag_may_share_children():
    shared = made_of([[], [0], [1, 0]], [2], [3])
    assert shared.validate(dag=True) is shared


def test_a_dag_has_no_cycles_either():
    with pytest.raises(
        ForestError, match=r"node 2 is below itself: a cycle, 2 -> 1 -> 2"
    ):
        made_of([[], [2, 0], [1, 0], [1, 2]], [3], [4]).validate(dag=True)


def test_a_long_cycle_is_shown_in_part():
    ring = [[(node + 1) % 100] for node in range(100)]
    with pytest.raises(ForestError, match=r"a cycle, 0 -> 1 .* -> 8 -> \.\.\."):
        made_of(ring, [0], [100]).validate()


def test_a_forest_without_values_cannot_be_validated():
    with pytest.raises(ForestError, match=r"outside of the tf\.function"):
        tf.function(lambda trees: trees.validate(), autograph=False)(forest())


def test_depth_is_no_limit():
    depth = 20_000
    chain = [[], *([node] for node in range(depth))]
    made_of(chain, [depth], [depth + 1]).validate()


@given(st.data())
def test_a_random_tree_is_valid_in_any_order_of_its_nodes(data):
    size = data.draw(st.integers(1, 12))
    parents = [data.draw(st.integers(0, node - 1)) for node in range(1, size)]
    names = data.draw(st.permutations(range(size)))
    children = [[] for _ in range(size)]
    for node, parent in enumerate(parents, start=1):
        children[names[parent]].append(names[node])
    made_of(children, [names[0]], [size]).validate()
    if size > 1:  # One more edge is one too many.
        child = data.draw(st.integers(0, size - 1))
        children[data.draw(st.integers(0, size - 1))].append(child)
        with pytest.raises(
            ForestError, match=r"has 2 parents|below itself|unreachable"
        ):
            made_of(children, [names[0]], [size]).validate()
