"""Bodies that use variables of other devices of this process."""

import tensorflow as tf

import recursive_tf as rtf

DEVICES = 3


def look_across():
    """Returns values and gradients, by executor; the CPU has DEVICES parts."""
    with tf.device("CPU:1"):
        scale = tf.Variable(2.0)
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.device("CPU:2"):
        bias = tf.Variable([0.5, 0.25])

    def total(executor):
        with rtf.SubGraph("total", executor=executor) as total:
            n = total.input(tf.int32)
            total.output(
                tf.cond(
                    n < 0,
                    lambda: bias + 0,
                    lambda: scale * tf.gather(table, n) + total(n - 1),
                )
            )
        return total(2)

    def run(executor):
        with tf.GradientTape() as tape:
            with tf.device("CPU:0"):
                found = total(executor)
            loss = tf.reduce_sum(found)
        gradients = tape.gradient(loss, [scale, table, bias])
        dense = [tf.convert_to_tensor(part).numpy().tolist() for part in gradients]
        return [found.numpy().tolist(), *dense]

    return {
        name: {"eager": run(name), "traced": tf.function(total)(name).numpy().tolist()}
        for name in ("batched", "dataflow")
    }
