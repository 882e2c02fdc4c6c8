"""Takeuchi's function: calls whose arguments are calls.

Three calls do not wait for each other, a fourth needs the results of all. The batched
executor finds out which are ready as it goes.

    python -m examples.takeuchi
"""

import tensorflow as tf

import recursive_tf as rtf


@rtf.subgraph
def tak(x, y, z):
    """Returns z where x <= y, and else goes round."""
    if x <= y:
        return z
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))


def main() -> None:
    """Computes eight values at once, and shows how many calls a launch was for."""
    x = tf.range(5, 13)
    y, z = x // 2, x // 4
    explanation = rtf.explain(tak.subgraph_for(5, 2, 1))
    for row in tf.stack([x, y, z, tak.map(x, y, z)], 1).numpy():
        print("tak({}, {}, {}) = {}".format(*row))
    print(explanation)


if __name__ == "__main__":
    main()
