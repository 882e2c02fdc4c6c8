"""Messages in several rounds along a graph with cycles, beside plain TensorFlow.

    python -m benchmarks.cavs.messages
    python -m benchmarks.cavs.messages --quick     # only shows that it runs

Each person adds up what friends said in the round before, as in a graph neural network
of three layers. Plain TensorFlow computes a round at a time: a gather, a sum by segment
and a product.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tqdm import tqdm

import recursive_tf as rtf
from benchmarks.cavs import page, times
from benchmarks.cavs.program import Batch, Form, product, random_variable
from benchmarks.cores import use_two_cores
from benchmarks.origin import origin, write

ROUNDS = 3
# Of a person; 5 on average.
FRIENDS = range(1, 10)
# People and units.
SETTINGS = ((100, 32), (1000, 32), (1000, 128), (5000, 64))


class Person(tf.Module):
    """The weights."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.kernel = random_variable(1, 2 * units, units)

    def __call__(self, message: tf.Tensor, trait: tf.Tensor) -> tf.Tensor:
        """Returns what a person, or each of many, says after a message."""
        heard = tf.concat([message, trait], -1)
        if heard.shape.rank == 1:
            return tf.tanh(product(heard, self.kernel))
        return tf.tanh(heard @ self.kernel)


def plain(person: Person) -> Form:
    """Returns what all say in the last round, a round at a time."""

    def run(friends: tf.RaggedTensor, traits: tf.Tensor) -> tf.Tensor:
        people = tf.shape(traits)[0]
        said = person(tf.zeros_like(traits), traits)
        for _ in range(ROUNDS - 1):
            heard = tf.gather(said, friends.values)
            who = friends.value_rowids()
            said = person(tf.math.unsorted_segment_sum(heard, who, people), traits)
        return said

    return run


def vertex(person: Person) -> Form:
    """Returns the same, by a function of a person in a round."""

    @rtf.vertex(state=tf.TensorSpec([person.units]))
    def in_round(v: rtf.Vertex) -> None:
        said = person(tf.reduce_sum(v.gather(), 0), v.pull())
        v.scatter(said)
        v.push(said)

    def run(friends: tf.RaggedTensor, traits: tf.Tensor) -> tf.Tensor:
        people = tf.shape(traits)[0]
        later = [friends + people * i for i in range(ROUNDS - 1)]
        rounds = tf.concat([friends[:, :0], *later], 0)
        last = people * (ROUNDS - 1) + tf.range(people)
        return in_round(rounds, tf.tile(traits, [ROUNDS, 1]), at=last)

    return run


def subgraph(person: Person) -> Form:
    """Returns the same, by a recursion whose invocations are shared."""

    def run(friends: tf.RaggedTensor, traits: tf.Tensor) -> tf.Tensor:
        people = tf.shape(traits)[0]

        # A key that is an input takes the least time.
        @rtf.subgraph(memo=lambda at: at)
        def said(at: tf.int32) -> tf.TensorSpec([person.units]):
            who, left = at % people, at // people
            message = tf.zeros([person.units])
            if left > 0:
                others = tf.gather(friends, who) + (left - 1) * people
                message = tf.reduce_sum(said.map(others), 0)
            return person(message, tf.gather(traits, who))

        return said.map(people * (ROUNDS - 1) + tf.range(people))

    return run


FORMS = {"plain": plain, "vertex": vertex, "subgraph": subgraph}


def batch_of(people: int, units: int) -> Batch:
    """Returns random friends, [people, (friends)], and traits, [people, units]."""
    random = np.random.default_rng(0)
    counts = random.choice(FRIENDS, people)
    friends = random.integers(people, size=counts.sum()).astype(np.int32)
    traits = random.normal(size=[people, units]).astype(np.float32)
    return tf.RaggedTensor.from_row_lengths(friends, counts), tf.constant(traits)


def row_of(people: int, units: int, effort: times.Effort) -> dict[str, Any]:
    """Returns the speeds of all forms.

    Raises:
        AssertionError: If they compute something else.
    """
    weights, batch = Person(units), batch_of(people, units)
    forms = {name: make(weights) for name, make in FORMS.items()}
    found = times.speeds_of_steps(
        forms, weights.trainable_variables, [batch], people, effort, f"{people} people"
    )
    return {"people": people, "units": units, **found}


def main(arguments: Sequence[str]) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cavs.messages")
    parser.add_argument("--quick", action="store_true", help="of a small size, once")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    asked = parser.parse_args(arguments)
    use_two_cores()
    settings, effort = SETTINGS, times.Effort(None, 1, 9, 0.3)
    if asked.quick:
        settings, effort = ((10, 4),), times.Effort(None, 1, 1, 0.0)
    rows = [row_of(*each, effort) for each in tqdm(settings, desc="settings")]
    found = {**origin("benchmarks.cavs.messages", arguments), "rows": rows}
    print(page.messages(found))
    write(found, asked.json)


if __name__ == "__main__":
    main(sys.argv[1:])
