"""What a model learns of the grammar's sentences."""

import keras
import numpy as np
import pytest

import recursive_tf as rtf
from models.dependency.baselines import Bigram, Unigram, perplexity
from models.dependency.generator import Generator
from models.dependency.grammar import THEMES, generate_sentences
from models.dependency.model import DependencyModel

pytestmark = pytest.mark.slow


@pytest.mark.large
def test_a_trained_model_beats_the_baselines_and_keeps_to_the_theme():
    keras.utils.set_random_seed(0)
    train, dev = generate_sentences(1000, seed=0), generate_sentences(200, seed=1)
    words = rtf.data.vocabulary(train)
    size = words.vocabulary_size()
    train, dev = (rtf.data.encode(trees, tokens=words) for trees in (train, dev))
    model = DependencyModel(48, size)
    model.compile(rtf.optimizers.LazyAdam(0.01))
    batches = rtf.data.batches(train, 25, shuffle=True, seed=0)
    model.fit(batches, epochs=10, verbose=0, shuffle=False)
    found = model.evaluate(rtf.data.batches(dev, 200), return_dict=True, verbose=0)

    unigram, bigram = (perplexity(b(train, size), dev) for b in (Unigram, Bigram))
    assert found["perplexity"] < 0.6 * bigram < 0.6 * unigram
    assert found["edges"] > 0.9

    names = np.array(words.get_vocabulary())
    trees = Generator(model).generate(100).validate()
    assert np.count_nonzero(trees.features["cut"]) < 0.01 * int(trees.num_nodes)
    shares = [_largest_share(names[tree.tokens.numpy()]) for tree in trees]
    assert np.mean(shares) > 0.8  # Of words drawn without regard to it, a half.


def _largest_share(words):
    """Returns the largest share that one theme has of the words that have one."""
    counts = [np.isin(words, [*t.nouns, *t.verbs, *t.adjectives]).sum() for t in THEMES]
    return max(counts) / max(sum(counts), 1)
