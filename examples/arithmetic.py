"""Arithmetic: a recursive-descent evaluator, one function for each rule of a grammar.

    expression = term { ("+" | "-") term }
    term       = factor { ("*" | "/") factor }
    factor     = number | "(" expression ")"

A function takes the position where it starts to read, and returns a value and the
position after it. How long the loops are is only known when they end; texts of
different structure are evaluated at once all the same.

    python -m examples.arithmetic
"""

import tensorflow as tf

import recursive_tf as rtf

SYMBOLS = "0123456789+-*/()"
PLUS, MINUS, TIMES, DIVIDE, OPEN = (SYMBOLS.index(symbol) for symbol in "+-*/(")
END = len(SYMBOLS)


@rtf.subgraph
def expression(tokens, at) -> (tf.float32, tf.int32):
    """Evaluates terms, and adds them up."""
    value, at = term(tokens, at)
    while tokens[at] == PLUS or tokens[at] == MINUS:
        sign = tf.where(tokens[at] == PLUS, 1.0, -1.0)
        right, at = term(tokens, at + 1)
        value += sign * right
    return value, at


@rtf.subgraph
def term(tokens, at) -> (tf.float32, tf.int32):
    """Evaluates factors, and multiplies them."""
    value, at = factor(tokens, at)
    while tokens[at] == TIMES or tokens[at] == DIVIDE:
        is_product = tokens[at] == TIMES
        right, at = factor(tokens, at + 1)
        value *= tf.where(is_product, right, 1 / right)
    return value, at


@rtf.subgraph
def factor(tokens, at) -> (tf.float32, tf.int32):
    """Evaluates a digit, or what is in parentheses."""
    if tokens[at] == OPEN:
        value, at = expression(tokens, at + 1)
    else:
        value = tf.cast(tokens[at], tf.float32)
    return value, at + 1


def evaluate(texts: list[str]) -> tf.Tensor:
    """Returns the values of expressions, whose numbers are single digits."""
    tokens = [[*map(SYMBOLS.index, text), END] for text in texts]
    padded = tf.ragged.constant(tokens, tf.int32).to_tensor(END)
    values, _ = expression.map(padded, tf.zeros(len(texts), tf.int32))
    return values


def main() -> None:
    """Evaluates some texts."""
    texts = ["1+2*3", "(1+2)*3", "8/4/2", "9-(8-(7-6))*5", "((((4))))"]
    for text, value in zip(texts, evaluate(texts).numpy(), strict=True):
        print(f"{text} = {value:g}")


if __name__ == "__main__":
    main()
