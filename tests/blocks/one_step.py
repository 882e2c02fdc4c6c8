"""A step of a TreeLSTM in a process of its own: with block programs and without.

Usage: python -m tests.blocks.one_step [THREADS]. It fails if the two differ, and says
which bits block programs gave.
"""

import hashlib
import sys

import tensorflow as tf


def main(arguments):
    if arguments:
        tf.config.threading.set_inter_op_parallelism_threads(int(arguments[0]))
        tf.config.threading.set_intra_op_parallelism_threads(int(arguments[0]))
    from tests.blocks import compared

    forest = compared.forest_of("TreeLSTM", 40)
    compiled, other = (
        compared.values_and_gradients(
            compared.encoder_of("TreeLSTM", 37, choice), forest
        )
        for choice in (compared.COMPILED, compared.TENSORFLOW)
    )
    compared.assert_equal(compiled, other)
    sys.stdout.write(f"bits: {hashlib.sha256(compiled[0].tobytes()).hexdigest()}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
