"""What `explain` says of how close a block's products come to what they could be."""

import re

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.python.reports import product_peak

WIDTH, ROWS = 48, 64


def define_layer(dtype=tf.float32, cell=tf.tanh, **choices):
    """Returns a SubGraph with a product for each row, and its weights."""
    weights = tf.Variable(tf.fill([WIDTH, WIDTH], tf.constant(0.01, dtype)))
    with rtf.SubGraph("layer", options=rtf.Options(**choices)) as layer:
        n, x = layer.input(tf.int32), layer.input(tf.TensorSpec([WIDTH], dtype))
        more = lambda: cell(tf.matmul(x[None], weights)[0])  # noqa: E731
        layer.output(tf.cond(n > 0, more, lambda: x * 0.5))
    return layer, weights


def run(layer, dtype=tf.float32):
    return layer.map(tf.ones([ROWS], tf.int32), tf.ones([ROWS, WIDTH], dtype))


def branches_of(shares):
    """Returns the last parts of blocks' names, without lines."""
    return {block.split()[0].rpartition("/")[2] for block in shares}


def test_only_blocks_with_products_have_a_share():
    layer, _ = define_layer()
    explanation = rtf.explain(layer)
    assert explanation.peak is None
    run(layer)
    assert branches_of(explanation.peak) == {"true"}
    (share,) = explanation.peak.values()
    assert 0 < share < 2


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_each_product_of_each_row_counts_by_its_dtype(dtype):
    layer, _ = define_layer(dtype)
    explanation = rtf.explain(layer)
    run(layer, dtype)
    one, other = (dtype == tf.float32), (dtype == tf.float64)
    flops = 2 * WIDTH * WIDTH * ROWS
    counts = [count for count in explanation.forward.flops if any(count)]
    assert counts == [[one * flops, other * flops]]


def test_the_gradient_counts_too():
    layer, weights = define_layer()
    explanation = rtf.explain(layer)
    with tf.GradientTape() as tape:
        y = run(layer)
    tape.gradient(y, weights)
    # The gradients of the rows and of the weights are a product each.
    counts = [count[0] for count in explanation.backward.flops]
    flops = 2 * WIDTH * WIDTH * ROWS
    assert sum(counts) == 2 * flops
    block = counts.index(sum(counts))
    both = explanation.forward, explanation.backward
    assert product_peak.share_of_peak(both, block) == pytest.approx(
        3
        * flops
        / product_peak.peak_flops(tf.float32)
        / sum(run.product_seconds[block] for run in both)
    )


def test_a_block_that_is_not_compiled_has_no_share():
    layer, _ = define_layer(blocks="tensorflow")
    explanation = rtf.explain(layer)
    run(layer)
    assert explanation.peak == {}


def test_what_is_printed_has_the_share_in_percent(monkeypatch):
    monkeypatch.setattr(product_peak, "peak_flops", lambda dtype: 1e9)
    layer, _ = define_layer()
    explanation = rtf.explain(layer)
    run(layer)
    text = str(explanation)
    assert re.search(r" compiled +peak +block\n", text)
    (share,) = explanation.peak.values()
    assert re.search(rf" yes +{share:.0%} +layer/true ", text)
    assert re.search(r" yes {8}layer/false ", text)


def test_the_peak_is_measured_once_a_process():
    assert product_peak.peak_flops(tf.float32) > 1e6
    before = product_peak.peak_flops.cache_info().misses
    assert product_peak.peak_flops(tf.float32) > 1e6
    assert product_peak.peak_flops.cache_info().misses == before


def test_nothing_is_measured_while_a_program_runs(monkeypatch):
    def measure(dtype):
        raise AssertionError(dtype)

    monkeypatch.setattr(product_peak, "peak_flops", measure)
    layer, _ = define_layer()
    explanation = rtf.explain(layer)
    run(layer)
    assert any(map(any, explanation.forward.flops))
