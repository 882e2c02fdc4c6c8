"""examples/shift_reduce.py: it parses as a loop over a stack does."""

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf


def parse_with_a_stack(model, words):
    """Returns the vector of a sentence and its brackets, by a loop over a stack."""
    join, affinity = (weights.numpy() for weights in model)
    stack, following = [(words[0], "0")], 1
    while len(stack) > 1 or following < len(words):
        shifts = len(stack) == 1 or (
            following < len(words)
            and stack[-1][0] @ affinity @ words[following]
            > stack[-2][0] @ affinity @ stack[-1][0]
        )
        if shifts:
            stack.append((words[following], str(following)))
            following += 1
        else:
            right, left = stack.pop(), stack.pop()
            vector = np.tanh(np.concatenate([left[0], right[0]]) @ join)
            stack.append((vector, f"({left[1]} {right[1]})"))
    return stack[0]


@pytest.mark.every_executor
def test_it_is_that_of_a_loop_over_a_stack(example):
    model = example.random_model(seed=6)
    sentences = tf.random.Generator.from_seed(5).normal([12, 9, 8])
    vectors, ends = example.parse(model, sentences)
    expected = [parse_with_a_stack(model, words) for words in sentences.numpy()]
    found = [example.brackets(row) for row in ends.numpy().tolist()]
    assert found == [text for _, text in expected]
    assert len(set(found)) > 6
    np.testing.assert_allclose(vectors, [vector for vector, _ in expected], atol=1e-5)


@pytest.mark.every_executor
def test_a_sentence_of_one_word_is_a_tree(example):
    sentences = tf.ones([1, 1, 8])
    vectors, ends = example.parse(example.random_model(seed=0), sentences)
    assert ends.numpy().tolist() == [[1]]
    np.testing.assert_array_equal(vectors, sentences[:, 0])


def test_it_runs_where_the_table_says(example, executor_in_table):
    tree_from = example.define(example.random_model(seed=0), tf.ones([2, 3, 8]))
    subgraph = tree_from.subgraph_for(0, 0, tf.zeros([8]))
    assert rtf.explain(subgraph).executor == executor_in_table
