"""The model's likelihood, gradients, metrics and files."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.models.dependency.equations import Equations, tree_of
from tests.models.dependency.sentences import (
    HEADS,
    VOCABULARY,
    WORDS,
    random_model,
    sentences,
)

pytestmark = pytest.mark.slow
EXECUTORS = ("batched", "dataflow")
CELLS = pytest.mark.parametrize("left_dependents", [False, True])


def loss_of(model):
    forest = sentences()
    return model.compute_loss(forest, y_pred=model(forest))


def scores_by_hand(model):
    equations = Equations(model)
    return [equations.score(tree_of(HEADS, WORDS, root)) for root in (3, 9)]


@CELLS
@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_loss_is_the_negative_log_likelihood_of_a_tree(executor, left_dependents):
    model = random_model(executor=executor, left_dependents=left_dependents)
    scores = scores_by_hand(model)
    assert [len(words) for words, _, _ in scores] == [9, 1]
    assert [len(edges) for _, edges, _ in scores] == [2 + 8 * 3, 2]
    expected = -sum(sum(words) + sum(edges) for words, edges, _ in scores) / 2
    np.testing.assert_allclose(loss_of(model), expected, rtol=1e-9)


@CELLS
@pytest.mark.parametrize("executor", EXECUTORS)
def test_gradients_are_differences(executor, left_dependents):
    model = random_model(executor=executor, left_dependents=left_dependents)
    loss = tf.function(lambda: loss_of(model))

    @tf.function
    def gradients():
        with tf.GradientTape() as tape:
            value = loss_of(model)
        found = tape.gradient(value, model.trainable_variables)
        return [tf.convert_to_tensor(gradient) for gradient in found]

    rng, step = np.random.default_rng(1), 1e-5
    for variable, gradient in zip(model.trainable_variables, gradients(), strict=True):
        direction = rng.normal(size=variable.shape)
        ends = []
        for sign in (1, -1):
            variable.assign_add(sign * step * direction)
            ends.append(float(loss()))
            variable.assign_sub(sign * step * direction)
        difference = (ends[0] - ends[1]) / (2 * step)
        along = np.sum(direction * gradient.numpy())
        np.testing.assert_allclose(along, difference, rtol=1e-5, atol=1e-8)


def test_both_executors_batch_or_not_as_they_are_told():
    model = random_model(executor="auto")
    batched = random_model(executor="batched")  # Or an error.
    np.testing.assert_allclose(loss_of(model), loss_of(batched), rtol=1e-12)


def test_metrics_are_perplexity_of_words_and_the_share_of_right_edges():
    model = random_model()
    model.compile("sgd")
    dataset = tf.data.Dataset.from_tensors(sentences()).repeat(2)
    found = model.evaluate(dataset, return_dict=True, verbose=0)
    scores = scores_by_hand(model)
    words = np.concatenate([words for words, _, _ in scores])
    right = np.concatenate([right for _, _, right in scores])
    np.testing.assert_allclose(found["perplexity"], np.exp(-words.mean()), rtol=1e-5)
    np.testing.assert_allclose(found["edges"], right.mean(), rtol=1e-5)
    np.testing.assert_allclose(found["loss"], loss_of(model), rtol=1e-5)


def test_no_word_is_never_likely():
    scores = random_model()(sentences())["words"]
    assert scores.shape == (len(WORDS), VOCABULARY)
    np.testing.assert_array_equal(tf.nn.softmax(scores)[:, 0], np.zeros(len(WORDS)))


@CELLS
def test_fit_learns_the_given_trees(left_dependents):
    keras.utils.set_random_seed(0)
    model = random_model(scale=0.3, left_dependents=left_dependents)
    model.compile(rtf.optimizers.LazyAdam(0.05))
    dataset = tf.data.Dataset.from_tensors(sentences()).repeat(40)
    losses = model.fit(dataset, epochs=4, verbose=0, shuffle=False).history["loss"]
    # One of the trees is drawn; the first words of both are all that is not known.
    assert losses[-1] < losses[0] / 5


def test_dropout_hides_in_training_alone():
    model = random_model(dropout=0.5)
    forest = sentences()
    once, again = (model(forest, training=True)["words"] for _ in range(2))
    assert not np.allclose(once, again)
    np.testing.assert_array_equal(model(forest)["words"], model(forest)["words"])


@CELLS
def test_a_keras_file_has_the_model(tmp_path, left_dependents):
    model = random_model(left_dependents=left_dependents, dropout=0.1)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.get_config() == model.get_config()
    forest = sentences()
    for name, logits in model(forest).items():
        np.testing.assert_array_equal(loaded(forest)[name], logits)
