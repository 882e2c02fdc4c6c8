"""examples/primes.py: it finds the primes of a range."""

import pytest
import tensorflow as tf

import recursive_tf as rtf


@pytest.mark.every_executor
def test_it_finds_the_primes_of_a_range(example):
    found = example.is_prime.map(tf.range(-2, 60)).numpy().tolist()
    expected = [n > 1 and all(n % d for d in range(2, n)) for n in range(-2, 60)]
    assert found == expected


def test_it_runs_where_the_table_says(example, executor_in_table):
    subgraph = example.is_prime.subgraph_for(7)
    assert rtf.explain(subgraph).executor == executor_in_table
