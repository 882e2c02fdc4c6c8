"""What a vertex function computes, vertex after vertex, with none of the library."""

import collections

import tensorflow as tf


class OracleVertex:
    """The four verbs, over lists of eager tensors."""

    def __init__(self, index, neighbors, zeros, states, inputs):
        self.index = index
        self.num_inputs = len([n for n in neighbors if n >= 0])
        self.pushed = {}
        self._neighbors = neighbors
        self._zeros = zeros
        self._states = states
        self._inputs = inputs

    def gather(self, i=None):
        if i is None:
            found = [self._states[n] for n in self._neighbors if n >= 0]
            if not found:
                return tf.nest.map_structure(lambda z: z[tf.newaxis][:0], self._zeros)
            return tf.nest.map_structure(lambda *rows: tf.stack(rows), *found)
        if i >= len(self._neighbors) or self._neighbors[i] < 0:
            return self._zeros
        return self._states[self._neighbors[i]]

    def scatter(self, state):
        self._states[self.index] = state

    def pull(self):
        return tf.nest.map_structure(lambda rows: rows[self.index], self._inputs)

    def push(self, value, name=None):
        self.pushed[name] = value


def run(function, state, neighbors, inputs=None):
    """Returns what a function pushes over a graph, its tensors stacked.

    Args:
        function: Of a vertex, not decorated.
        state: A structure of specs.
        neighbors: A list of in-neighbors for each vertex; -1 is none.
        inputs: What vertices pull.
    """
    zeros = tf.nest.map_structure(lambda s: tf.zeros(s.shape, s.dtype), state)
    states, pushed = {}, collections.defaultdict(dict)
    for index in in_order(neighbors):
        vertex = OracleVertex(index, neighbors[index], zeros, states, inputs)
        function(vertex)
        for name, value in vertex.pushed.items():
            pushed[name][index] = value
    tables = {name: stacked(rows, len(neighbors)) for name, rows in pushed.items()}
    return tables.get(None, tables)


def stacked(rows, count):
    """Returns rows by number as tables, with zeros where there is none."""
    zeros = tf.nest.map_structure(tf.zeros_like, next(iter(rows.values())))
    every = [rows.get(i, zeros) for i in range(count)]
    return tf.nest.map_structure(lambda *each: tf.stack(each), *every)


def in_order(neighbors):
    """Returns the vertices, each after its in-neighbors."""
    order, seen = [], set()

    def visit(vertex):
        if vertex >= 0 and vertex not in seen:
            seen.add(vertex)
            for neighbor in neighbors[vertex]:
                visit(neighbor)
            order.append(vertex)

    for vertex in range(len(neighbors)):
        visit(vertex)
    return order
