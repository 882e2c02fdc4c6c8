"""The layer that runs cells along sequences, in one direction or both."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.layers.sequence_recursion import (
    BACKWARD,
    FORWARD,
    Steps,
    encode_steps,
    units_of,
)
from recursive_tf.python.options import Options

RANK = 3  # Of sequences of vectors.


@keras.saving.register_keras_serializable("recursive_tf")
class SequenceEncoder(keras.layers.Layer):
    """Runs a Keras RNN cell along sequences of any lengths.

    Nothing is padded. A step is computed only for those sequences that are long enough
    to have it. Both directions are one program, so their steps are batched together.

    >>> words = tf.ragged.constant([[1, 2, 3], [4]])
    >>> vectors = keras.layers.Embedding(10, 4)(words.flat_values)
    >>> cell = keras.layers.LSTMCell(8)
    >>> encoder = SequenceEncoder(cell, backward_cell=keras.layers.LSTMCell(8))
    >>> encoder(words.with_flat_values(vectors)).shape
    TensorShape([2, None, 16])

    With `return_sequences=False`, it can encode words from their characters. Let the
    words of a batch be the sequences.

    The two directions are those of Schuster, Paliwal. Bidirectional Recurrent Neural
    Networks. IEEE Transactions on Signal Processing 1997.
    """

    def __init__(
        self,
        cell: Any,
        backward_cell: Any = None,
        *,
        return_sequences: bool = True,
        return_state: bool = False,
        executor: str = "auto",
        options: Options | dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            cell: A Keras RNN cell, e.g. `keras.layers.LSTMCell`.
            backward_cell: Another one, which begins at the end; None is one direction.
            return_sequences: Whether to return the outputs of all steps, not of the
                last one, which is the first step for `backward_cell`.
            return_state: Whether to return a pair of outputs and states. The states
                are those after the last step of each sequence, [sequences, ...], in
                the structure of the cell's `state_size`; of both directions, a pair.
            executor: Of the SubGraph: "auto", "batched" or "dataflow".
            options: `rtf.Options` of the SubGraph.
            **kwargs: Of every Keras layer: name, dtype, trainable.

        Raises:
            TypeError: If a cell is no Keras layer with a `state_size`.
            ValueError: If both cells are the same.
        """
        super().__init__(**kwargs)
        for each in (cell, backward_cell):
            _check_cell(each, may_be_none=each is backward_cell)
        if cell is backward_cell:
            raise ValueError(
                "Both directions have the same cell, and so the same weights. Make a "
                "second cell: SequenceEncoder(cell, backward_cell=other)."
            )
        if isinstance(options, dict):
            options = Options.from_config(options)
        self.cell = cell
        self.backward_cell = backward_cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.executor = executor
        self.options = options
        self.supports_jit = False  # XLA has no recursion.
        # An eager call would trace the recursion each time.
        self._traced = tf.function(
            functools.partial(self._encode), autograph=False, reduce_retracing=True
        )

    @property
    def cells(self) -> dict[str, Any]:
        """The cell of each direction."""
        cells = {FORWARD: self.cell, BACKWARD: self.backward_cell}
        return {name: cell for name, cell in cells.items() if cell is not None}

    def build(self, input_shape: Any) -> None:
        """Makes the variables of the cells.

        Raises:
            ValueError: If the inputs are no sequences of vectors of one known size.
        """
        _check_shape(self.name, tuple(input_shape))
        for cell in self.cells.values():
            if not cell.built:
                cell.build((None, input_shape[-1]))

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Returns the outputs of steps, or of the last ones.

        Args:
            inputs: A `tf.RaggedTensor` [sequences, (steps), size], or a tensor
                [sequences, steps, size].
            training: Whether to drop; Keras hands it to the layers in the cells.

        Returns:
            [sequences, (steps), units], ragged if the inputs are, or [sequences,
            units]; twice the units in both directions. The output of no step at all is
            zeros. With `return_state`, a pair of these and of the states; the state of
            no step at all is zeros, too.

        Raises:
            ValueError: If the inputs are no sequences of vectors of one known size.
        """
        if inputs.shape.rank is not None:
            _check_shape(self.name, tuple(inputs.shape))
        run = self._traced if tf.executing_eagerly() else self._encode
        return run(inputs, training)

    def _encode(self, inputs: Any, training: bool | None) -> Any:
        del training  # Keras knows; a traced function is to be another one for it.
        is_ragged = isinstance(inputs, tf.RaggedTensor)
        ragged = inputs if is_ragged else tf.RaggedTensor.from_tensor(inputs)
        outputs, states = encode_steps(
            Steps(ragged),
            self.cells,
            name=self.name,
            executor=self.executor,
            options=self.options,
            return_sequences=self.return_sequences,
            return_state=self.return_state,
        )
        if self.return_sequences:
            outputs = self._in_sequences(inputs, ragged, outputs)
        return (outputs, self._structured(states)) if self.return_state else outputs

    def _structured(self, states: Mapping[str, list[tf.Tensor]]) -> Any:
        """Returns the states of directions as cells have them."""
        found = tuple(
            tf.nest.pack_sequence_as(cell.state_size, states[direction])
            for direction, cell in self.cells.items()
        )
        return found if self.backward_cell is not None else found[0]

    @staticmethod
    def _in_sequences(inputs: Any, ragged: tf.RaggedTensor, outputs: tf.Tensor) -> Any:
        """Returns the outputs of all steps as the inputs stand."""
        if isinstance(inputs, tf.RaggedTensor):
            return ragged.with_values(outputs)
        shape = tf.concat([tf.shape(inputs)[:2], tf.shape(outputs)[1:]], 0)
        result = tf.reshape(outputs, shape)
        result.set_shape([*inputs.shape[:2], *outputs.shape[1:]])
        return result

    def compute_output_spec(self, inputs: Any, **_: Any) -> Any:
        """Returns what a functional model sees of the outputs."""
        _check_shape(self.name, tuple(inputs.shape))
        units = sum(map(units_of, self.cells.values()))
        steps = inputs.shape[:2] if self.return_sequences else inputs.shape[:1]
        outputs = keras.KerasTensor((*steps, units), self.compute_dtype)
        if not self.return_state:
            return outputs
        sizes = {
            direction: tf.nest.flatten(cell.state_size)
            for direction, cell in self.cells.items()
        }
        states = {
            direction: [
                keras.KerasTensor((inputs.shape[0], size), self.compute_dtype)
                for size in found
            ]
            for direction, found in sizes.items()
        }
        return outputs, self._structured(states)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the layer."""
        config: dict[str, Any] = super().get_config()
        return config | {
            "cell": keras.saving.serialize_keras_object(self.cell),
            "backward_cell": keras.saving.serialize_keras_object(self.backward_cell),
            "return_sequences": self.return_sequences,
            "return_state": self.return_state,
            "executor": self.executor,
            "options": None if self.options is None else self.options.config(),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> SequenceEncoder:
        """Returns the layer that these arguments make."""
        parts = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("cell", "backward_cell")
        }
        return cls(**(config | parts))


def _check_cell(cell: Any, *, may_be_none: bool) -> None:
    if cell is None and may_be_none:
        return
    if not isinstance(cell, keras.layers.Layer) or not hasattr(cell, "state_size"):
        raise TypeError(
            "A cell is a Keras layer with a state_size, e.g. keras.layers.LSTMCell(8). "
            f"Got {cell!r}."
        )


def _check_shape(name: str, shape: tuple[int | None, ...]) -> None:
    if len(shape) == RANK and shape[-1] is not None:
        return
    if len(shape) < RANK:
        cure = (
            "Numbers of words need an embedding, ids.with_values(embedding("
            "ids.values)), and one sequence of vectors is a batch of one, x[tf.newaxis]"
        )
    elif len(shape) > RANK:
        cure = "Of a RaggedTensor, x.values are the inner sequences, as one batch"
    else:
        cure = (
            "Say the size: keras.Input((None, size)), or "
            "tf.ragged.constant(vectors, ragged_rank=1)"
        )
    raise ValueError(
        f"{name} takes sequences of vectors, [sequences, (steps), size], whose size is "
        f"known, and got shape {shape}. {cure}."
    )
