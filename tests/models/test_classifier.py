"""Losses and metrics of the classifier, by hand; recursive and iterative programs."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from models import rntn, tree_lstm, tree_rnn
from models.sentiment.classifier import NodeClassifier
from models.sentiment.labels import NO_LABEL, without_neutral
from models.sentiment.trees import read_trees
from tests.models.steps import loss_and_gradients

VOCABULARY = 9
TASKS = [tree_rnn.TASK, rntn.TASK, tree_lstm.TASK]
SMALL = {"hidden": 4, "embedding": 4, "l2": 0.1}


def trees(number=3, classes=5, seed=0):
    return rtf.data.generate(
        "random",
        number,
        words=range(2, 8),
        vocabulary=VOCABULARY,
        classes=classes,
        seed=seed,
    )


def make_model(task=tree_lstm.TASK, classes=5, **choices):
    tf.keras.utils.set_random_seed(0)
    settings = dataclasses.replace(task.given, **(SMALL | choices))
    return task.make_model(settings, classes, VOCABULARY)


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def test_the_loss_is_cross_entropy_summed_over_nodes_and_decay_of_all_but_words():
    model, forest = make_model(), trees()
    logits = model(forest).numpy()
    labels = forest.labels.numpy()
    by_hand = -log_softmax(logits)[np.arange(len(labels)), labels].sum() / 3
    words = model.encoder.embedding.trainable_variables
    others = [v for v in model.trainable_variables if v is not words[0]]
    assert len(others) == len(model.trainable_variables) - 1
    decay = 0.1 * sum(np.square(v.numpy()).sum() / 2 for v in others)
    evaluated = model.compute_loss(forest, y_pred=logits, training=False)
    trained = model.compute_loss(forest, y_pred=logits, training=True)
    np.testing.assert_allclose(evaluated, by_hand, rtol=1e-5)
    np.testing.assert_allclose(trained, by_hand + decay, rtol=1e-5)


def test_nodes_without_a_label_do_not_count():
    model, forest = make_model(), trees()
    logits = model(forest)
    dropped = forest.labels.numpy()
    dropped[::2] = NO_LABEL
    some = forest.replace(labels=dropped)
    losses = -log_softmax(logits.numpy())[np.arange(len(dropped)), dropped]
    expected = losses[1::2].sum() / 3
    found = model.compute_loss(some, y_pred=logits, training=False)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    metrics = model.compute_metrics(some, None, logits)
    right = logits.numpy().argmax(-1)[1::2] == dropped[1::2]
    np.testing.assert_allclose(metrics["nodes"], right.mean(), rtol=1e-6)


def metrics_of_roots(classes, labels, probabilities):
    """Returns the metrics of trees that are one node each."""
    model = make_model(classes=classes)
    number = len(labels)
    forest = rtf.data.Forest(
        tokens=[0] * number,
        left=[-1] * number,
        right=[-1] * number,
        roots=range(number),
        sizes=[1] * number,
        labels=labels,
    )
    logits = tf.math.log(tf.constant(probabilities))
    found = model.compute_metrics(forest, None, logits)
    return {name: float(found[name]) for name in found if name != "loss"}


def test_binary_is_the_side_with_more_probability_of_roots_that_are_not_neutral():
    found = metrics_of_roots(
        5,
        [0, 1, 2, 3, 4, 4],
        [
            [0.1, 0.3, 0.4, 0.1, 0.1],  # Neutral is likeliest, but negative wins.
            [0.1, 0.1, 0.2, 0.3, 0.3],  # The wrong side.
            [0.1, 0.1, 0.6, 0.1, 0.1],  # Neutral: does not count.
            [0.1, 0.1, 0.1, 0.2, 0.5],  # The right side, but not the right label.
            [0.0, 0.1, 0.1, 0.1, 0.7],
            [0.3, 0.2, 0.1, 0.0, 0.4],  # The likeliest label, but not the side.
        ],
    )
    assert found["root_binary"] == pytest.approx(3 / 5)
    assert found["root_fine"] == pytest.approx(3 / 6)


def test_two_labels_are_two_sides():
    found = metrics_of_roots(2, [0, 1, NO_LABEL], [[0.6, 0.4], [0.7, 0.3], [0.1, 0.9]])
    assert found == {"root_binary": 0.5, "nodes": 0.5}


def test_neutral_labels_become_none():
    forest = trees(classes=5)
    labels = without_neutral(forest, 5).labels.numpy()
    expected = np.array([0, 0, NO_LABEL, 1, 1])[forest.labels.numpy()]
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_both_programs_have_the_same_values_and_gradients(task):
    forest = trees(6)

    def of(**choices):
        model = make_model(task, dropout=0.0, word_dropout=0.0, **choices)
        return [model(forest), *tf.nest.flatten(loss_and_gradients(model, forest))]

    expected = of(program="iterative")
    for executor in ("batched", "dataflow"):
        found = of(executor=executor)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("program", ["recursive", "iterative"])
def test_fit_lowers_the_loss(program):
    rates = {"learning_rate": 0.2, "embedding_rate": 0.2, "l2": 0.0, "dropout": 0.0}
    model = make_model(program=program, **rates)
    forest = trees(20)
    learnable = tf.where(forest.is_leaf, forest.tokens % 3, 4)
    data = rtf.data.batches(forest.replace(labels=learnable), 10)
    losses = model.fit(data, epochs=20, shuffle=False, verbose=0).history["loss"]
    assert losses[-1] < 0.5 * losses[0]


def test_a_step_changes_only_the_rows_of_words_that_occur():
    model = make_model()
    [table] = model.encoder.embedding.trainable_variables
    before = table.numpy()
    forest = trees(1)
    model.fit(rtf.data.batches(forest, 1), shuffle=False, verbose=0)
    changed = np.flatnonzero((table.numpy() != before).any(axis=1))
    leaves = forest.left < 0
    np.testing.assert_array_equal(changed, np.unique(forest.tokens[leaves]))


def test_words_are_kept_at_a_rate_of_zero():
    model = make_model(embedding_rate=0.0)
    assert not model.encoder.embedding.trainable
    model.fit(rtf.data.batches(trees(4), 4), shuffle=False, verbose=0)


def test_dropout_is_only_in_training():
    model, forest = make_model(dropout=0.5), trees()
    first, second = (model(forest, training=False) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.any(model(forest, training=True) != model(forest, training=True))


@pytest.mark.parametrize("program", ["recursive", "iterative"])
def test_a_saved_model_is_the_same_model(program, tmp_path):
    model, forest = make_model(program=program, dropout=0.0), trees()
    model.fit(rtf.data.batches(forest, 2), shuffle=False, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert isinstance(loaded, NodeClassifier)
    np.testing.assert_array_equal(loaded(forest), model(forest))
    data = rtf.data.batches(forest, 3)
    for one in (model, loaded):  # With the optimizer's sums.
        one.fit(data, shuffle=False, verbose=0)
    np.testing.assert_allclose(loaded(forest), model(forest), rtol=1e-5, atol=1e-6)


def test_vectors_of_a_file_are_where_words_begin(tmp_path):
    settings = dataclasses.replace(
        tree_lstm.GENERATED, limit_trees=5, vectors=str(tmp_path / "vectors.txt")
    )
    (tmp_path / "vectors.txt").write_text("true 1 2 3\nfalse -1 -2 -3\n")
    train = read_trees(settings, "train")
    words = rtf.data.vocabulary(train)
    encoded = rtf.data.encode(train, tokens=words)
    model = tree_lstm.TASK.build(settings, encoded, words)
    [table] = model.encoder.embedding.variables
    np.testing.assert_array_equal(table.numpy()[int(words("true"))], [1, 2, 3])
