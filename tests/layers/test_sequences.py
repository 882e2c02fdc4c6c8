"""`SequenceEncoder` computes what Keras's RNN does with each sequence by itself."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of

SIZE, UNITS = 3, 4
LENGTHS = [4, 0, 1, 6]
CELLS = {
    "LSTM": keras.layers.LSTMCell,
    "GRU": keras.layers.GRUCell,
    "simple": keras.layers.SimpleRNNCell,
    "stacked": lambda units, dtype: keras.layers.StackedRNNCells(
        [
            keras.layers.LSTMCell(units + 1, dtype=dtype),
            keras.layers.GRUCell(units, dtype=dtype),
        ],
        dtype=dtype,
    ),
}


def sequences(lengths=LENGTHS, seed=0):
    rng = np.random.default_rng(seed)
    values = tf.constant(rng.normal(size=[sum(lengths), SIZE]))
    return tf.RaggedTensor.from_row_lengths(values, lengths)


def encoder_of(cell="LSTM", *, both=True, **choices):
    backward = CELLS[cell](UNITS, dtype="float64") if both else None
    return rtf.layers.SequenceEncoder(
        CELLS[cell](UNITS, dtype="float64"), backward, dtype="float64", **choices
    )


def by_keras(encoder, inputs):
    """Returns the outputs of each sequence that has steps."""
    found = []
    for row in range(inputs.nrows()):
        if LENGTHS[row] == 0:
            continue
        outputs = []
        for is_backward, cell in enumerate(encoder.cells.values()):
            rnn = keras.layers.RNN(
                cell,
                return_sequences=encoder.return_sequences,
                go_backwards=bool(is_backward),
                dtype="float64",
            )
            output = rnn(inputs[row][tf.newaxis])[0]
            if is_backward and encoder.return_sequences:
                output = output[::-1]
            outputs.append(output)
        found.append(tf.concat(outputs, -1))
    return found


@pytest.mark.every_executor
@pytest.mark.parametrize("return_sequences", [True, False])
@pytest.mark.parametrize("cell", CELLS)
def test_values_and_gradients_are_those_of_keras(cell, return_sequences, executor):
    encoder = encoder_of(cell, return_sequences=return_sequences, executor=executor)
    values = tf.Variable(sequences().values)
    results = []
    for run in (encoder, lambda x: by_keras(encoder, x)):
        with tf.GradientTape() as tape:
            inputs = sequences().with_values(tf.convert_to_tensor(values))
            outputs = run(inputs)
            rows = (
                [outputs[i] for i, n in enumerate(LENGTHS) if n]
                if run is encoder
                else outputs
            )
            loss = tf.add_n([tf.reduce_sum(tf.sin(row)) for row in rows])
        weights = [values, *encoder.trainable_variables]
        gradients = map(tf.convert_to_tensor, tape.gradient(loss, weights))
        results.append([*rows, *gradients])
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_cell_of_one_state_takes_a_list_as_from_keras():
    class Plus(keras.layers.Layer):
        state_size = SIZE

        def call(self, x, states):
            state = states[0] + x
            return state, [state]

    inputs = sequences([2])
    found = rtf.layers.SequenceEncoder(Plus(dtype="float64"), dtype="float64")(inputs)
    rnn = keras.layers.RNN(Plus(dtype="float64"), return_sequences=True)
    np.testing.assert_allclose(found[0], rnn(inputs.to_tensor())[0], rtol=1e-6)


def test_the_output_of_no_step_is_zeros():
    outputs = encoder_of(return_sequences=False)(sequences())
    assert not np.any(outputs[1])
    assert np.all(outputs[0])


def test_steps_of_both_directions_take_as_many_launches_as_the_longest_has_steps():
    encoder = encoder_of(executor="batched")
    run = tf.function(lambda inputs: encoder(inputs))
    run(sequences())
    explanation = rtf.explain(run)
    run(sequences())
    launches = explanation.launches.values()
    # Nobody goes down: all steps are asked for at once.
    assert sorted(launches) == [1, 1, 1, max(LENGTHS), max(LENGTHS)]
    assert explanation.not_compiled == {}


def test_a_dense_tensor_has_dense_outputs():
    encoder = encoder_of()
    dense = tf.reshape(sequences([2, 2, 2]).values, [3, 2, SIZE])
    ragged = tf.RaggedTensor.from_tensor(dense)
    outputs = encoder(dense)
    assert outputs.shape == [3, 2, 2 * UNITS]
    np.testing.assert_allclose(outputs, encoder(ragged).to_tensor())


def test_one_direction_has_the_units_of_its_cell():
    assert encoder_of(both=False)(sequences()).shape == [4, None, UNITS]


def test_words_are_encoded_from_their_characters():
    characters = rtf.layers.SequenceEncoder(
        keras.layers.LSTMCell(2), keras.layers.LSTMCell(2), return_sequences=False
    )
    words = rtf.layers.SequenceEncoder(keras.layers.LSTMCell(UNITS))
    embedding = keras.layers.Embedding(30, SIZE)
    # Two sentences, of three words and one, each of some characters.
    text = tf.ragged.constant([[[1, 2], [3], [4, 5, 6]], [[7, 8]]])

    @tf.function
    def encode(text):
        of_words = text.values
        vectors = of_words.with_values(embedding(of_words.values))
        return words(text.with_values(characters(vectors)))

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(encode(text).values ** 2)
    assert encode(text).shape == [2, None, UNITS]
    weights = [*characters.trainable_variables, *words.trainable_variables]
    assert all(np.any(gradient) for gradient in tape.gradient(loss, weights))


def test_a_layer_comes_back_from_its_config():
    encoder = encoder_of("GRU", options=rtf.Options(max_depth=9))
    again = rtf.layers.SequenceEncoder.from_config(encoder.get_config())
    expected = encoder(sequences())
    again(sequences())
    again.set_weights(encoder.get_weights())
    np.testing.assert_allclose(again(sequences()).values, expected.values)
    assert again.options == encoder.options


def test_a_functional_model_is_trained():
    inputs = keras.Input((None, SIZE))
    outputs = rtf.layers.SequenceEncoder(
        keras.layers.LSTMCell(UNITS), keras.layers.LSTMCell(UNITS)
    )(inputs)
    assert outputs.shape == (None, None, 2 * UNITS)
    model = keras.Model(inputs, keras.layers.Dense(1)(outputs))
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=[8, 5, SIZE])
    losses = model.fit(x, x[..., :1], epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_wrong_cells_are_refused_with_the_way_out():
    make = rtf.layers.SequenceEncoder
    message = message_of(lambda: make(keras.layers.Dense(3)), TypeError)
    assert "A cell is a Keras layer with a state_size" in message
    cell = keras.layers.LSTMCell(3)
    message = message_of(lambda: make(cell, cell), ValueError)
    assert "Make a second cell" in message


IDS = tf.ragged.constant([[1, 2, 3], [4]])
UNKNOWN = tf.ragged.constant([[[1.0, 2.0], [3.0]], [[4.0]]])
NESTED = tf.RaggedTensor.from_row_lengths(sequences(), [2, 2])


@pytest.mark.parametrize(
    ("inputs", "shape", "cure"),
    [
        (IDS, "(2, None)", "ids.with_values(embedding(ids.values))"),
        (tf.ones([5, SIZE]), f"(5, {SIZE})", "x[tf.newaxis]"),
        (UNKNOWN, "(2, None, None)", "ragged_rank=1"),
        (NESTED, f"(2, None, None, {SIZE})", "x.values are the inner sequences"),
        (keras.KerasTensor((None, None, None)), "(None, None, None)", "keras.Input"),
    ],
)
def test_what_is_no_sequences_of_vectors_is_refused_with_the_way_out(
    inputs, shape, cure
):
    built = encoder_of()
    built(sequences())
    for encoder in (encoder_of(name="words"), built):
        message = message_of(lambda encoder=encoder: encoder(inputs), ValueError)
        assert f"{encoder.name} takes sequences of vectors" in message
        assert f"got shape {shape}" in message
        assert cure in message


# --- States


def states_by_keras(cell, row, *, go_backwards):
    rnn = keras.layers.RNN(
        cell, return_state=True, go_backwards=go_backwards, dtype="float64"
    )
    return [state[0] for state in tf.nest.flatten(rnn(row[tf.newaxis])[1:])]


@pytest.mark.every_executor
@pytest.mark.parametrize("return_sequences", [True, False])
@pytest.mark.parametrize("cell", CELLS)
def test_states_are_those_after_the_last_step(cell, return_sequences, executor):
    encoder = encoder_of(
        cell,
        return_sequences=return_sequences,
        return_state=True,
        executor=executor,
    )
    inputs = sequences()
    outputs, states = encoder(inputs)
    plain = encoder_of(cell, return_sequences=return_sequences, executor=executor)
    plain.build((None, None, SIZE))
    plain.set_weights(encoder.get_weights())
    for one, other in zip(
        tf.nest.flatten(outputs, expand_composites=True),
        tf.nest.flatten(plain(inputs), expand_composites=True),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    for is_backward, own in enumerate(encoder.cells.values()):
        found = tf.nest.flatten(states[is_backward])
        for row, length in enumerate(LENGTHS):
            expected = [tf.zeros_like(part[row]) for part in found]
            if length:
                expected = states_by_keras(
                    own, inputs[row], go_backwards=bool(is_backward)
                )
            for part, state in zip(found, expected, strict=True):
                np.testing.assert_allclose(part[row], state, rtol=1e-9, atol=1e-12)


def test_a_model_with_states_of_one_direction_is_saved(tmp_path):
    inputs = keras.Input((None, SIZE))
    encoder = rtf.layers.SequenceEncoder(
        keras.layers.LSTMCell(UNITS), return_sequences=False, return_state=True
    )
    h, (_, c) = encoder(inputs)
    model = keras.Model(inputs, [h, c])
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    x = np.random.default_rng(0).normal(size=[2, 5, SIZE]).astype("float32")
    for one, other in zip(again(x), model(x), strict=True):
        assert one.shape == (2, UNITS)
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_gradients_come_through_states_of_all_steps():
    encoder = encoder_of(return_state=True)
    values = tf.Variable(sequences().values)
    with tf.GradientTape() as tape:
        _, (forward, _) = encoder(sequences().with_values(values))
        loss = tf.reduce_sum(forward[1])
    gradient = tf.convert_to_tensor(tape.gradient(loss, values)).numpy()
    assert np.all(np.abs(gradient).sum(1) > 0)
