"""examples/arithmetic.py: expressions have the values that Python gives them."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf


def random_text(rng, depth):
    """Returns an expression without divisors of 0."""
    if depth == 0 or rng.random() < 0.2:
        return str(rng.integers(1, 10))
    left, right = random_text(rng, depth - 1), random_text(rng, depth - 1)
    operator = rng.choice(list("+-*/"))
    text = f"{left}/{rng.integers(1, 10)}" if operator == "/" else left
    text = text if operator == "/" else f"{text}{operator}{right}"
    return f"({text})" if rng.random() < 0.5 else text


@pytest.mark.every_executor
def test_it_is_what_python_evaluates(example):
    rng = np.random.default_rng(0)
    texts = [random_text(rng, depth) for depth in (0, 1, 2, 3, 4, 4, 4, 4)]
    found = example.evaluate(texts)
    np.testing.assert_allclose(found, [eval(text) for text in texts], rtol=1e-4)


@pytest.mark.every_executor
@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("9-4-3", 2), ("8/4/2", 1), ("2*(3+4)*5", 70)]
)
def test_operators_bind_as_usual_and_to_the_left(example, text, value):
    assert example.evaluate([text]).numpy() == [value]


def test_it_runs_where_the_table_says(example, executor_in_table):
    subgraph = example.expression.subgraph_for(tf.TensorSpec([9], tf.int32), 0)
    assert rtf.explain(subgraph).executor == executor_in_table
