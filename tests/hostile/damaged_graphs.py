"""Saved programs whose graphs are changed: what is where, and not what an op says.

Usage: python -m tests.hostile.damaged_graphs FIRST COUNT. As with what
`tests/helpers/damaged.py` changes, which are attributes of ops, a graph may be refused,
fail or run.
"""

import collections
import random
import sys

from tests.helpers import damaged


class GraphMutation:
    """Changes ops of this library in a graph and its functions, at random."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def change(self, graph):
        """Makes one to three changes; returns what was changed."""
        changes = [self._drop_function, self._rewire, self._rewire, self._rename]
        changes += [self._drop_op, self._swap, self._version]
        count = self._random.randint(1, 3)
        return [self._random.choice(changes)(graph) for _ in range(count)]

    def _own(self, graph):
        """Returns an op of this library, and the ops that it is among."""
        bodies = [graph.node, *(f.node_def for f in graph.library.function)]
        own = [(n, body) for body in bodies for n in body if _is_own(n)]
        return self._random.choice(own) if own else (graph.node[0], graph.node)

    def _drop_function(self, graph):
        functions = graph.library.function
        if not functions:
            return "nothing"
        place = self._random.randrange(len(functions))
        name = functions[place].signature.name
        del functions[place]
        return f"no function {name}"

    def _rewire(self, graph):
        """Has an op take something else, which may come after it: a cycle."""
        node, body = self._own(graph)
        if not node.input:
            return "nothing"
        given = [x for other in body for x in other.input if x[0] != "^"]
        given += [f"{other.name}:{out}:0" for other in body for out in ("y", "outputs")]
        if not given:
            return "nothing"
        place = self._random.randrange(len(node.input))
        node.input[place] = self._random.choice(given)
        return f"{node.op} takes {node.input[place]}"

    def _rename(self, graph):
        """Makes an op one of another type."""
        (node, _), (other, _) = self._own(graph), self._own(graph)
        node.op, was = other.op, node.op
        return f"{was} is {node.op}"

    def _drop_op(self, graph):
        node, body = self._own(graph)
        op = node.op
        body.remove(node)
        return f"no {op}"

    def _swap(self, graph):
        """Has a function return what another output is."""
        functions = [f for f in graph.library.function if len(f.ret) > 1]
        if not functions:
            return "nothing"
        function = self._random.choice(functions)
        one, other = self._random.sample(sorted(function.ret), 2)
        function.ret[one] = function.ret[other]
        return f"another result of {function.signature.name}"

    def _version(self, graph):
        """Has a plan be from another version of the library."""
        node, _ = self._own(graph)
        if "plan" in node.attr and node.attr["plan"].list.i:
            node.attr["plan"].list.i[0] += self._random.choice([-1, 1, 10**6])
        return "another version"


def _is_own(node):
    return node.op.startswith(("Recursive", "StatelessRecursive"))


def main(first, count):
    programs = damaged.all_saved()
    damaged.limit_memory()
    outcomes = collections.Counter()
    for number in range(first, first + count):
        graph_def, results = programs[number % len(programs)]
        mutant = type(graph_def)()
        mutant.CopyFrom(graph_def)
        damaged.say("graph", number, *GraphMutation(number).change(mutant))
        outcomes[damaged.outcome_of(lambda: damaged.run(mutant, results))] += 1  # noqa: B023
    damaged.say(dict(outcomes))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
