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
from tests.helpers import equations

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


@pytest.mark.large
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


@pytest.mark.large
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


def along_trees(cells_of):
    """Returns the loss of a work over trees; its cells by the labels of nodes."""

    def loss(work, numbers):
        cells = cells_of(doubles(work))
        batch = work.trees.batch(numbers)
        vectors = doubles(work)["embedding"][batch.word]
        states = []
        nodes = (vectors, batch.left, batch.right, batch.label)
        for x, left, right, label in zip(*nodes, strict=True):
            children = [states[left], states[right]] if left >= 0 else []
            states.append(cells[label % len(cells)](x, children))
        return sum(np.sum(states[root][0] ** 2) for root in batch.roots)

    return loss


def two_kinds(w):
    """Returns the cells of two kinds of node, of which the first has all leaves."""
    names = ("recurrent_kernel", "kernel"), ("recurrent_bias", "bias")
    leaf = {name: w[f"first_{name}"] for name in ("leaf_kernel", "leaf_bias")}
    return [
        equations.TreeLSTM(leaf | {name: w[f"{kind}_{own}"] for name, own in names})
        for kind in ("first", "second")
    ]


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
    return None, equations.sigmoid(f) * c + equations.sigmoid(i) * np.tanh(g)


def lattice_lstm_position(w, x, before, memories):
    h, c = before
    i, o, g = np.split(of_both(w, "position", x, h), 3)
    new = mixed(w, x, equations.sigmoid(i), np.tanh(g), c, memories)
    return equations.sigmoid(o) * np.tanh(new), new


def lattice_gru_word(w, x, begin):
    z, g = gate_and_candidate(w, "word", x, begin[0])
    return ((1 - z) * begin[0] + z * g,)


def lattice_gru_position(w, x, before, memories):
    z, g = gate_and_candidate(w, "position", x, before[0])
    return (mixed(w, x, z, g, before[0], memories),)


def gate_and_candidate(w, node, x, h):
    r, z = np.split(equations.sigmoid(of_both(w, node, x, h)), 2)
    return z, np.tanh(of_both(w, f"{node}_candidate", x, r * h))


def of_both(w, name, x, h):
    return np.concatenate([x, h]) @ w[f"{name}_kernel"] + w[f"{name}_bias"]


def mixed(w, x, i, g, before, memories):
    """Returns the memory of a position, as benchmarks/works/links.py says."""
    if not memories:
        return (1 - i) * before + i * g
    m = np.stack(memories)
    of_x = x @ w["link_x_kernel"] + w["link_bias"]
    shares = np.exp(equations.sigmoid(of_x + m @ w["link_c_kernel"]))
    return (np.exp(i) * g + np.sum(shares * m, 0)) / (np.exp(i) + shares.sum(0))


LOSSES = {
    "bilstm_tagger": tagged,
    "bilstm_char_tagger": tagged_by_characters,
    "lstm_nmt": translated,
    "tree_gru": along_trees(lambda w: [equations.TreeGRU(w)]),
    "mv_rnn": along_trees(lambda w: [equations.MVRNN(w)]),
    "tree_lstm_two_kinds": along_trees(two_kinds),
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
    recurrent = w[f"{name}_recurrent"]
    kernel = np.concatenate([w[f"{name}_kernel"], recurrent])
    step = equations.LSTM(kernel, w[f"{name}_bias"], "ifuo")
    h, c = np.zeros(len(recurrent)) + h, np.zeros(len(recurrent)) + c
    states = []
    for x in steps:
        h, c = step([x, h], c)
        states.append(h)
    return np.stack(states), c
