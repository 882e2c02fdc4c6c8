"""examples/takeuchi.py: the value is that of plain Python."""

import pytest

import recursive_tf as rtf


def plain_tak(x, y, z):
    if x <= y:
        return z
    return plain_tak(
        plain_tak(x - 1, y, z), plain_tak(y - 1, z, x), plain_tak(z - 1, x, y)
    )


@pytest.mark.every_executor
@pytest.mark.parametrize("xyz", [(1, 2, 3), (5, 3, 1), (9, 5, 2), (3, 2, 8)])
def test_it_is_that_of_plain_python(example, xyz):
    assert example.tak(*xyz).numpy() == plain_tak(*xyz)


def test_it_runs_where_the_table_says(example, executor_in_table):
    subgraph = example.tak.subgraph_for(3, 2, 1)
    assert rtf.explain(subgraph).executor == executor_in_table


def test_a_launch_is_for_many_calls(example):
    explanation = rtf.explain(example.tak.subgraph_for(9, 5, 2))
    example.tak(9, 5, 2)
    assert max(explanation.rows_per_launch.values()) > 3
