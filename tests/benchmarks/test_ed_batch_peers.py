"""Peers of ED-Batch's workloads compute what ours do.

How fast is for a quiet machine to say.
"""

import json
import os

import numpy as np
import pytest

from benchmarks.ed_batch.peers import __main__ as command
from benchmarks.ed_batch.peers import keras_by_hand, making, ours, page
from benchmarks.ed_batch.peers.systems import SYSTEMS, systems_of
from benchmarks.origin import origin
from benchmarks.peers import environments
from benchmarks.peers.command import NO_OPTIMIZER, Server
from benchmarks.workers import Worker
from benchmarks.works.lstm_nmt import END, LONGEST
from benchmarks.works.texts import Texts
from benchmarks.yardstick.agreement import disagreement

pytestmark = pytest.mark.slow

UNITS, COUNT = 6, 12
INPUTS = {name: module.RECURSION.inputs for name, module in making.WORKS.items()}
EVERY_WORK = pytest.mark.parametrize("name", INPUTS)


@pytest.fixture
def work(name):
    return making.make(name, None, units=UNITS, count=COUNT)


@EVERY_WORK
def test_ours_computes_the_equations(work):
    numbers = np.array([3, 0, 7])
    expected = LOSSES[work.name](work, numbers)
    assert ours.make(work, NO_OPTIMIZER).infer(numbers) == pytest.approx(expected)


@pytest.mark.parametrize("name", [n for n in INPUTS if INPUTS[n] is Texts])
def test_keras_has_the_loss_and_gradients_of_ours(work):
    answers = [
        Server(peer.make(work, NO_OPTIMIZER), work).check()
        for peer in (keras_by_hand, ours)
    ]
    assert not disagreement(*answers)


@pytest.mark.parametrize("name", ["bilstm_tagger"])
def test_a_step_updates_nothing(work):
    system = ours.make(work, NO_OPTIMIZER)
    numbers = np.arange(5)
    losses = [system.train(numbers), system.train(numbers), system.infer(numbers)]
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-6)


@pytest.mark.parametrize(
    ("peer", "name"),
    [
        (system.name, name)
        for name, inputs in INPUTS.items()
        for system in systems_of(inputs, SYSTEMS)
        if system.environment
    ],
)
def test_peers_of_other_environments_agree_with_ours(peer, work, tmp_path):
    needed = SYSTEMS[peer].environment
    if not environments.is_made(needed):
        pytest.skip(f"there is no environment {needed}: see benchmarks/peers/README.md")
    work.save(tmp_path / "work.npz")
    started = [*SYSTEMS[peer].command(), "--model", str(tmp_path / "work.npz")]
    expected = Server(ours.make(work, NO_OPTIMIZER), work).check()
    with Worker(peer, started, os.environ) as worker:
        assert not disagreement(worker.ask(check=True), expected)


def test_the_table_has_every_system_and_step(monkeypatch, capsys, tmp_path):
    # The other tests of this process keep their processors.
    monkeypatch.setattr(command, "use_two_cores", lambda: None)
    monkeypatch.setattr(making, "SENTENCES", COUNT)
    few = ["--works", "lstm_nmt", "tree_gru", "--peers", "keras_by_hand", "--batches=1"]
    short = ["--units=4", "--rounds=1", "--seconds=0"]
    file = tmp_path / "found.json"
    command.main([*few, *short, "--json", str(file)])
    found = json.loads(file.read_text())
    assert [row["mode"] for row in found["rows"]] == ["training", "inference"] * 2
    # By hand there are sequences alone.
    assert [len(row["trees_per_s"]) for row in found["rows"]] == [2, 2, 1, 1]
    assert page.speeds(found) in capsys.readouterr().out
    assert "Every system agreed" in page.not_timed(found)


def test_a_trial_in_few_rounds_is_called_one():
    found = {**origin("benchmarks.ed_batch.peers", []), "units": 4, "rows": []}
    assert "A trial of the command" in page.speeds({**found, "rounds": 2})
    assert "A trial of the command" not in page.speeds({**found, "rounds": 3})


def test_who_is_left_out_stands_on_the_page():
    found = {"left_out": {"torch_by_hand": "Its environment is not there."}}
    assert "| torch_by_hand | Its environment is not there. |" in page.not_timed(found)


def tagged(work, numbers):
    w = doubles(work)
    batch = work.trees.batch(numbers)
    vectors = w["embedding"][batch.words]
    return loss_of_tags(w, vectors, batch.sizes)


def tagged_by_characters(work, numbers):
    w = doubles(work)
    batch = work.trees.batch(numbers)
    vectors = w["embedding"][batch.characters]
    ends = np.cumsum(batch.lengths)[:-1]
    words = [
        np.concatenate([run(w, "word_forward", x)[0][-1], backward(w, "word_", x)[0]])
        for x in np.split(vectors, ends)
    ]
    return loss_of_tags(w, np.stack(words), batch.sizes)


def translated(work, numbers):
    w = doubles(work)
    batch = work.trees.batch(numbers)
    loss = 0.0
    for x in np.split(w["embedding"][batch.words], np.cumsum(batch.sizes)[:-1]):
        (*_, h), c = run(w, "encoder", x)
        word = END
        for _ in range(LONGEST + 1):
            [h], c = run(w, "decoder", w["target_embedding"][[word]], h, c)
            word = np.argmax(h @ w["scores_kernel"] + w["scores_bias"])
            if word == END:
                break
        loss += np.sum(h**2)
    return loss


def along_trees(leaf, inside):
    """Returns the loss of a work over trees; a state begins with its output."""

    def loss(work, numbers):
        w = doubles(work)
        batch = work.trees.batch(numbers)
        states = []
        nodes = (batch.left, batch.right, batch.word, batch.label)
        for left, right, word, label in zip(*nodes, strict=True):
            if left < 0:
                states.append(leaf(w, w["embedding"][word]))
            else:
                states.append(inside(w, states[left], states[right], label))
        return sum(np.sum(states[root][0] ** 2) for root in batch.roots)

    return loss


def gru_leaf(w, x):
    return (np.tanh(x @ w["leaf_kernel"] + w["leaf_bias"]),)


def gru_inside(w, left, right, label):
    q = np.concatenate([*left, *right])
    gates = q @ w["gate_kernel"] + w["gate_bias"]
    reset, scores = gates[: len(q)], np.exp(gates[len(q) :].reshape(3, -1))
    candidate = (sigmoid(reset) * q) @ w["candidate_kernel"] + w["candidate_bias"]
    choices = np.stack([*left, *right, np.tanh(candidate)])
    return (np.sum(scores / scores.sum(0) * choices, 0),)


def lstm_leaf(w, x):
    i, o, u = np.split(x @ w["first_leaf_kernel"] + w["first_leaf_bias"], 3)
    c = sigmoid(i) * np.tanh(u)
    return sigmoid(o) * np.tanh(c), c


def lstm_inside(w, left, right, label):
    kind = ("first", "second")[label % 2]
    gates = np.concatenate([left[0], right[0]]) @ w[f"{kind}_kernel"]
    i, f_left, f_right, o, u = np.split(gates + w[f"{kind}_bias"], 5)
    c = sigmoid(i) * np.tanh(u)
    c += sigmoid(f_left) * left[1] + sigmoid(f_right) * right[1]
    return sigmoid(o) * np.tanh(c), c


def mv_leaf(w, x):
    units = len(w["vector_bias"])
    return x[:units], np.eye(units) + x[units:].reshape(units, units).T


def mv_inside(w, left, right, label):
    (a, a_matrix), (b, b_matrix) = left, right
    both = np.concatenate([b_matrix @ a, a_matrix @ b])
    matrix = w["matrix_kernel"].T @ np.concatenate([a_matrix, b_matrix])
    return np.tanh(both @ w["vector_kernel"] + w["vector_bias"]), matrix


def along_lattices(word, position):
    """Returns the loss of a work over lattices; a state ends with its memory."""

    def loss(work, numbers):
        w = doubles(work)
        batch = work.trees.batch(numbers)
        states = []
        links = np.split(batch.children, np.cumsum(batch.counts)[:-1])
        for token, is_word, children in zip(
            batch.tokens, batch.is_word, links, strict=True
        ):
            x = w["word_embedding" if is_word else "embedding"][token]
            if not len(children):
                states.append((np.zeros_like(x),) * 2)
            elif is_word:
                states.append(word(w, x, states[children[0]]))
            else:
                memories = [states[child][-1] for child in children[1:]]
                states.append(position(w, x, states[children[0]], memories))
        return sum(np.sum(states[root][0] ** 2) for root in batch.roots)

    return loss


def lattice_lstm_word(w, x, begin):
    h, c = begin
    i, f, g = np.split(of_both(w, "word", x, h), 3)
    return None, sigmoid(f) * c + sigmoid(i) * np.tanh(g)


def lattice_lstm_position(w, x, before, memories):
    h, c = before
    i, o, g = np.split(of_both(w, "position", x, h), 3)
    new = mixed(w, x, sigmoid(i), np.tanh(g), c, memories)
    return sigmoid(o) * np.tanh(new), new


def lattice_gru_word(w, x, begin):
    z, g = gate_and_candidate(w, "word", x, begin[0])
    return ((1 - z) * begin[0] + z * g,)


def lattice_gru_position(w, x, before, memories):
    z, g = gate_and_candidate(w, "position", x, before[0])
    return (mixed(w, x, z, g, before[0], memories),)


def gate_and_candidate(w, node, x, h):
    r, z = np.split(sigmoid(of_both(w, node, x, h)), 2)
    return z, np.tanh(of_both(w, f"{node}_candidate", x, r * h))


def of_both(w, name, x, h):
    return np.concatenate([x, h]) @ w[f"{name}_kernel"] + w[f"{name}_bias"]


def mixed(w, x, i, g, before, memories):
    """Returns the memory of a position, as benchmarks/works/links.py says."""
    if not memories:
        return (1 - i) * before + i * g
    m = np.stack(memories)
    of_x = x @ w["link_x_kernel"] + w["link_bias"]
    shares = np.exp(sigmoid(of_x + m @ w["link_c_kernel"]))
    return (np.exp(i) * g + np.sum(shares * m, 0)) / (np.exp(i) + shares.sum(0))


LOSSES = {
    "bilstm_tagger": tagged,
    "bilstm_char_tagger": tagged_by_characters,
    "lstm_nmt": translated,
    "tree_gru": along_trees(gru_leaf, gru_inside),
    "mv_rnn": along_trees(mv_leaf, mv_inside),
    "tree_lstm_two_kinds": along_trees(lstm_leaf, lstm_inside),
    "lattice_lstm": along_lattices(lattice_lstm_word, lattice_lstm_position),
    "lattice_gru": along_lattices(lattice_gru_word, lattice_gru_position),
}


def doubles(work):
    return {name: value.astype(float) for name, value in work.weights.items()}


def loss_of_tags(w, vectors, sizes):
    loss = 0.0
    for x in np.split(vectors, np.cumsum(sizes)[:-1]):
        states = np.concatenate([run(w, "forward", x)[0], backward(w, "", x)], 1)
        loss += np.sum((states @ w["tags_kernel"] + w["tags_bias"]) ** 2)
    return loss


def backward(w, name, steps):
    return run(w, f"{name}backward", steps[::-1])[0][::-1]


def run(w, name, steps, h=0.0, c=0.0):
    """Returns h of all steps and the last c, as benchmarks/works/sequences.py says."""
    units = len(w[f"{name}_recurrent"])
    h, c = np.zeros(units) + h, np.zeros(units) + c
    states = []
    for x in steps:
        gates = x @ w[f"{name}_kernel"] + h @ w[f"{name}_recurrent"]
        i, f, u, o = np.split(gates + w[f"{name}_bias"], 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(u)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.stack(states), c


def sigmoid(x):
    return 1 / (1 + np.exp(-x))
