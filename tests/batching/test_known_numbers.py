"""When a block is vectorized for a second number of rows, and when not."""

import pytest
import tensorflow as tf

from recursive_tf.python.batching.differentiate.training_block import (
    make_training_block,
)
from recursive_tf.python.batching.graphs.counts import NUMBERS_OF_ROWS
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.any_number import inference_form
from recursive_tf.python.batching.vectorize.rules import rule_of
from tests.batching.interpreter import Compiled
from tests.batching.rows import INDEX, VECTOR, define_body
from tests.batching.tree import define_tree_lstm

PRIME = NUMBERS_OF_ROWS[0]
WIDE = tf.TensorSpec([PRIME - 2])


def numbers_tried(subgraph, rule_for=rule_of):
    """Returns for how many numbers of rows each block was vectorized in training."""
    compiled = Compiled(subgraph)
    prologue, blocks = compiled.vectorize(rule_for)
    for block in blocks:
        inference_form(block)
        make_training_block(block, compiled.wanted(prologue))
    return [len(block.by_number) for block in blocks]


def test_one_number_of_rows_is_enough_for_a_tree_lstm():
    assert numbers_tried(define_tree_lstm()) == [1, 1, 1]


KNOWN = {
    "a constant": lambda x: x * 0.123 + 1e-7,
    "a part": lambda x: x / 3.0,
    "a large number": lambda x: x * 30000.0,
    "infinity": lambda x: tf.minimum(x, float("inf")),
}


@pytest.mark.parametrize("body", KNOWN.values(), ids=KNOWN)
def test_numbers_of_the_program_need_no_second_one(body):
    assert numbers_tried(define_body(body, VECTOR)) == [1]


UNKNOWN = {
    "nearly the number of rows": lambda block: float(block.num_rows - 1),
    "a part of the number of rows": lambda block: 1.0 / block.num_rows,
    "as many constants": lambda block: tf.reshape(
        tf.range(block.num_rows * 3.0), [block.num_rows, 3]
    ),
}


@pytest.mark.parametrize("factor", UNKNOWN.values(), ids=UNKNOWN)
def test_a_rule_of_the_library_that_made_a_number_of_the_rows_is_found_out(factor):
    def rule(block, op, inputs):
        del op
        return [inputs[0].tensor * factor(block)]

    rule.__module__ = rule_of.__module__
    with pytest.raises(CannotBatchError, match="how many rows there are"):
        numbers_tried(define_body(tf.sin, VECTOR), lambda _: rule)


def test_what_users_add_is_always_tried_with_both():
    def rule(block, op, inputs):
        return block.add_like(op, [inputs[0].tensor])

    assert numbers_tried(define_body(tf.sin, VECTOR), lambda _: rule) == [2]


def test_what_has_sizes_like_the_number_of_rows_is_tried_with_both():
    assert numbers_tried(define_body(lambda x: tf.concat([x, x[:2]], 0), WIDE)) == [2]


def test_a_constant_that_is_the_number_of_rows_is_no_number_of_rows():
    added = define_body(lambda n: n + PRIME, INDEX)
    with pytest.raises(CannotBatchError, match="how many rows there are"):
        numbers_tried(added)
