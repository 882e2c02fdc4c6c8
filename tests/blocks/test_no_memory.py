"""A block program that finds no memory fails; its process goes on."""

import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[2]
SECONDS = 300  # For a deadlock, not for a slow machine.

# What a block needs at once, weights that are packed or rows, is 256 MB or more, and
# there is less. Of a call that needs little there is one before and one after.
SCRIPT = """
import resource, sys
import tensorflow as tf
import recursive_tf as rtf

def define(name, width):
    weights = tf.Variable(tf.fill([width, width], 1e-5))
    with rtf.SubGraph(name, executor="batched") as subgraph:
        x = subgraph.input(tf.TensorSpec([width]))
        if sys.argv[1] == "packing":
            subgraph.output(tf.tanh(tf.matmul(x[None], weights)[0]))
        else:
            rows = tf.matmul(x[:, None], x[None])
            subgraph.output(tf.reduce_sum(rows, keepdims=True)[0])
    rtf.explain(subgraph)
    return subgraph, tf.ones([64, width])

few, of_few = define("few", 8)
many, of_many = define("many", 8192 if sys.argv[1] == "packing" else 2048)
before = few.map(of_few)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 200 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    many.map(of_many)
except tf.errors.ResourceExhaustedError as error:
    print("failed:", error.message)
after = few.map(of_few)
print("same:", bool(tf.reduce_all(before == after)))
"""


@pytest.mark.parametrize("what", ["packing", "rows"])
def test_a_block_without_memory_is_an_error_that_names_it(what):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, what],
        cwd=ROOT,
        env={**os.environ, "TF_NUM_INTRAOP_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "failed: " in done.stdout
    assert "SubGraph 'many' failed at many[row 0]" in done.stdout
    assert "in block 'many " in done.stdout
    assert "there is no memory" in done.stdout
    assert "same: True" in done.stdout
