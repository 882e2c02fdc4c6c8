"""The model's equations in NumPy, for one tree, node by node: shares no code with it.

A word is a tuple (word, left dependents, right dependents), the nearest ones first.
"""

import numpy as np

from tests.helpers.equations import LSTM, sigmoid

EDGES = ("left", "right", "next_left", "next_right")


def log_softmax(x):
    x = x - x.max()
    return x - np.log(np.exp(x).sum())


class Equations:
    """What the paper says, with the weights of a model."""

    def __init__(self, model):
        cell = model.cell
        self.units = cell.units
        self.step = {
            edge: LSTM(kernel.numpy(), cell.edge_biases[edge].numpy())
            for edge, kernel in cell.edge_kernels.items()
        }
        self.embedding = cell.embedding.embeddings.numpy()
        self.of_word = cell.of_word.kernel.numpy()
        self.hidden = [w.numpy() for w in cell.hidden.weights]
        self.of_edges = [w.numpy() for w in cell.of_edges.weights]
        self.remembers = "memory" in self.step

    def start(self):
        zeros = np.zeros(self.units)
        return self.after("right", 0, (zeros, zeros), [])

    def after(self, edge, word, state, left):
        """Returns the state after an edge from a word with some left dependents."""
        inputs = [self.embedding[word], state[0]]
        if edge == "right" and self.remembers:
            q = m = np.zeros(self.units)
            for dependent in reversed(left):  # The nearest one last.
                q, m = self.step["memory"]([self.embedding[dependent[0]], q], m)
            inputs.append(q)
        return self.step[edge](inputs, state[1])

    def word_scores(self, state):
        """Returns the log-probability of every word but word 0, which is none."""
        scores = self.of_word.T @ state[0]
        return np.concatenate([[-np.inf], log_softmax(scores[1:])])

    def edge_logits(self, state, word):
        both = np.concatenate([state[0], self.embedding[word]])
        hidden = np.maximum(self.hidden[0].T @ both + self.hidden[1], 0)
        return self.of_edges[0].T @ hidden + self.of_edges[1]

    def score(self, tree):
        """Returns log-likelihoods of words and of edges, and which edges are right."""
        words, edges, right = [], [], []

        def visit(siblings, state, own):
            """Scores the first of some siblings, what is below it, and the others."""
            word, left, dependents = siblings[0]
            words.append(self.word_scores(state)[word])
            logits = self.edge_logits(state, word)
            behind = {"left": left, "right": dependents, own: siblings[1:]}
            for edge, logit in zip(EDGES, logits, strict=True):
                if edge not in behind:
                    continue
                exists = bool(behind[edge])
                edges.append(np.log(sigmoid(logit if exists else -logit)))
                right.append((logit > 0) == exists)
                if exists:
                    below = self.after(edge, word, state, left)
                    own_edge = own if edge == own else f"next_{edge}"
                    visit(behind[edge], below, own_edge)

        visit([tree], self.start(), None)
        return words, edges, right

    def greedy(self, most):
        """Returns the likeliest tree, or None if it has more words than so many."""
        count = 0

        def visit(state, own):
            """Returns a word and its siblings further out."""
            nonlocal count
            count += 1
            if count > most:
                raise OverflowError
            word = int(np.argmax(self.word_scores(state)))
            adds = self.edge_logits(state, word) > 0
            behind = {"left": [], "right": [], own: []}
            for edge, add in zip(EDGES, adds, strict=True):
                if edge in behind and add:
                    below = self.after(edge, word, state, behind["left"])
                    own_edge = own if edge == own else f"next_{edge}"
                    behind[edge] = visit(below, own_edge)
            return [(word, behind["left"], behind["right"]), *behind[own]]

        try:
            return visit(self.start(), None)[0]
        except OverflowError:
            return None


def tree_of(heads, words, root):
    """Returns the tree at a node, of heads and words in the order of the sentence."""
    below = [node for node, head in enumerate(heads) if head == root]
    left = [tree_of(heads, words, n) for n in reversed(below) if n < root]
    right = [tree_of(heads, words, n) for n in below if n > root]
    return words[root], left, right


def size_of(tree):
    return 1 + sum(map(size_of, [*tree[1], *tree[2]]))
