"""The recursive and the iterative program compute the same, and training learns."""

import json

import numpy as np
import pytest
import tensorflow as tf
from absl import flags
from absl.testing import flagsaver

from models import tree_lstm
from models.cells import TreeLSTMCell
from models.dataset import generate_dataset
from models.iterative import encode_iteratively
from models.recursive import encode
from models.training import FOREST_SPEC, Trainer

pytestmark = pytest.mark.slow

RESULT_KEYS = {
    "accuracy",
    "majority",
    "trees_per_s",
    "seconds",
    "picture",
    "checkpoint",
}


@pytest.fixture(scope="module")
def data():
    return generate_dataset(seed=0, limit=20)


@pytest.fixture
def cell(data):
    tf.keras.utils.set_random_seed(0)
    return TreeLSTMCell(data.vocabulary.vocabulary_size(), embedding_size=3, hidden=4)


def states_by_hand(forest, cell):
    """Returns `h` of every node, one node after the other, eagerly."""
    states = []
    for node in range(len(forest.tokens)):
        left, right = forest.left[node], forest.right[node]
        states.append(
            cell.leaf(cell.embed(forest.tokens[node]))
            if left < 0
            else cell(states[left], states[right])
        )
    return np.stack([state.h for state in states])


def values_and_gradients(program, forest, cell):
    """Runs a program; returns root states, states of nodes, and all gradients."""

    @tf.function(input_signature=[FOREST_SPEC])
    def run(forest):
        with tf.GradientTape() as tape:
            roots, h = program(forest, cell)
            objective = tf.reduce_sum(h**2) + tf.reduce_sum(tf.sin(roots.c))
        gradients = tape.gradient(objective, cell.trainable_variables)
        return roots, h, [tf.convert_to_tensor(g) for g in gradients]

    return tf.nest.flatten(run(forest))


@pytest.mark.parametrize("program", [encode, encode_iteratively])
def test_a_program_gives_every_node_the_state_that_the_cell_gives(program, data, cell):
    forest = data.train[:3]
    roots, h = tf.function(program)(forest, cell)
    np.testing.assert_allclose(h, states_by_hand(forest, cell), rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(roots.h, tf.gather(h, forest.roots))


def test_both_programs_have_the_same_values_and_gradients(data, cell):
    forest = data.held_out[:3]
    recursive = values_and_gradients(encode, forest, cell)
    iterative = values_and_gradients(encode_iteratively, forest, cell)
    for ours, theirs in zip(recursive, iterative, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)


def settings(**changes):
    return tree_lstm.TreeLSTMSettings(
        **{
            "epochs": 1,
            "batch_size": 10,
            "learning_rate": 0.2,
            "l2": 1e-4,
            "hidden": 8,
            "embedding": 8,
            "dropout": 0.0,
        }
        | changes
    )


@pytest.mark.parametrize("program", [encode, encode_iteratively])
def test_training_steps_lower_the_loss(program, data):
    tf.keras.utils.set_random_seed(0)
    trainer = Trainer(tree_lstm.build_model(data, settings(), program), settings())
    batch = data.train
    losses = [trainer.train_step(batch).loss_per_tree for _ in range(10)]
    assert losses[-1] < 0.8 * losses[0]


def test_a_step_changes_only_the_rows_of_words_that_occur(data):
    model = tree_lstm.build_model(data, settings(), encode)
    before = model.cell.embedding.numpy()
    forest = data.train[:1]
    trainer = Trainer(model, settings())
    trainer.train_step(forest)
    changed = np.flatnonzero((model.cell.embedding.numpy() != before).any(axis=1))
    leaves = forest.left < 0
    np.testing.assert_array_equal(changed, np.unique(forest.tokens[leaves]))


def test_dropout_is_only_in_training(data):
    chosen = settings(dropout=0.5)
    model = tree_lstm.build_model(data, chosen, encode)
    forest = data.train[:2]
    first, second = (model(forest, training=False) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.any(model(forest, training=True) != model(forest, training=True))


@pytest.fixture
def parsed_flags(tmp_path):
    """Flags as after parsing a command line for the shortest of all runs."""
    flags.FLAGS(["tree_lstm"])
    with flagsaver.flagsaver(
        limit_trees=20, epochs=1, hidden=8, embedding=8, output_dir=str(tmp_path)
    ):
        yield tmp_path


def run_main(capsys):
    tree_lstm.main(["tree_lstm"])
    *_, last = capsys.readouterr().out.splitlines()
    label, _, result = last.partition(" ")
    assert label == "result:"
    return json.loads(result)


def test_the_script_ends_with_a_result_and_leaves_its_files(parsed_flags, capsys):
    result = run_main(capsys)
    assert set(result) == RESULT_KEYS
    assert (parsed_flags / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert result["picture"] == str(parsed_flags / "curve.png")
    assert (parsed_flags / "checkpoint" / "vocabulary.txt").exists()


def test_the_checkpoint_restores_the_accuracy_that_was_reported(parsed_flags, capsys):
    result = run_main(capsys)
    data = generate_dataset(seed=0, limit=20)
    chosen = tree_lstm.choose_settings(tree_lstm.GENERATED)
    trainer = Trainer(tree_lstm.build_model(data, chosen, encode), chosen)
    trainer.checkpoint.restore(result["checkpoint"]).assert_existing_objects_matched()
    restored = trainer.evaluate(data.held_out).root_accuracy
    assert restored == pytest.approx(result["accuracy"], abs=1e-4)


def test_a_treebank_is_read_from_the_folder_given(parsed_flags, capsys, tmp_path):
    for name in ("train.txt", "dev.txt"):
        (tmp_path / name).write_text("(3 (2 A) (3 (3 lovely) (2 film)))\n" * 4)
    with flagsaver.flagsaver(data=str(tmp_path)):
        assert run_main(capsys)["majority"] == 1.0


def test_a_folder_without_a_treebank_is_an_error(parsed_flags):
    with (
        flagsaver.flagsaver(data=str(parsed_flags / "nowhere")),
        pytest.raises(SystemExit, match=r"--data: .*train\.txt: there is no such file"),
    ):
        tree_lstm.main(["tree_lstm"])
