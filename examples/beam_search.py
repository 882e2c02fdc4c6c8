"""Beam search: a recursion over the words of a sentence, and back.

On the way down a call takes the best few continuations of what it was given. On the way
back it learns which of its own hypotheses the best sentence goes through, and pushes
its word: the stack of calls keeps what a loop would need back pointers for. All first
words are searched from at once.

    python -m examples.beam_search
"""

import tensorflow as tf

import recursive_tf as rtf


def define(log_probs: tf.Tensor, starts: int, length: int) -> rtf.SubGraphFunction:
    """Returns what continues the hypotheses of one of so many searches.

    Args:
        log_probs: Of a word after a word, `[words, words]`.
        starts: How many searches there are.
        length: Of a sentence.
    """
    num_words = log_probs.shape[0]

    @rtf.subgraph
    def search(words, scores, row, step):
        """Returns which hypothesis the best sentence goes through, and its score."""
        if step == length - 1:
            place, best = tf.argmax(scores, output_type=tf.int32), tf.reduce_max(scores)
        else:
            continued = scores[:, None] + tf.gather(log_probs, words)
            next_scores, chosen = tf.math.top_k(tf.reshape(continued, [-1]), len(words))
            place, best = search(chosen % num_words, next_scores, row, step + 1)
            place = chosen[place] // num_words
        index = row * length + step
        search.push("word", words[place], index=index, size=starts * length)
        return place, best

    return search


def beam_search(
    log_probs: tf.Tensor, first: tf.Tensor, *, beam: int, length: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns a likely sentence for each first word, and its log-probability.

    Args:
        log_probs: Of a word after a word, `[words, words]`.
        first: First words, int32[starts].
        beam: How many hypotheses to go on with.
        length: Of a sentence.

    Returns:
        int32[starts, length] and float32[starts].
    """
    starts = first.shape[0]
    search = define(log_probs, starts, length)
    # One hypothesis, and others that cannot win.
    words = tf.tile(first[:, None], [1, beam])
    scores = tf.tile([[0.0] + [-float("inf")] * (beam - 1)], [starts, 1])
    rows, steps = tf.range(starts), tf.zeros(starts, tf.int32)
    (_, best), pushed = search.map(words, scores, rows, steps, with_pushed=True)
    return tf.reshape(pushed["word"], [starts, length]), best


def main() -> None:
    """Searches with wider and wider beams."""
    log_probs = tf.nn.log_softmax(tf.random.Generator.from_seed(3).normal([20, 20]))
    for beam in (1, 2, 4, 8):
        words, scores = beam_search(log_probs, tf.range(20), beam=beam, length=8)
        score = tf.reduce_mean(scores).numpy()
        print(f"beam {beam}: {score:.3f} in the mean; from 0: {words[0].numpy()}")


if __name__ == "__main__":
    main()
