"""A training step without its update."""

import tensorflow as tf


def loss_and_gradients(model, forest):
    """Returns the loss of a forest, and the gradients of all variables."""

    @tf.function
    def run():
        with tf.GradientTape() as tape:
            logits = model(forest, training=True)
            loss = model.compute_loss(forest, y_pred=logits)
        gradients = tape.gradient(loss, model.trainable_variables)
        return loss, [tf.convert_to_tensor(g) for g in gradients]

    return run()
