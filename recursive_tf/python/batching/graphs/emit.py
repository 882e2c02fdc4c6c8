"""From drafts with static shapes to drafts for any number of rows."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from recursive_tf.python.batching.graphs import draft_ops
from recursive_tf.python.batching.graphs.counts import Counts
from recursive_tf.python.batching.graphs.draft import (
    Draft,
    Drafted,
    DraftGraph,
    Shape,
    Spec,
    needed_drafts,
)
from recursive_tf.python.batching.refusal import CannotBatchError

# The types that shapes and counts of rows have.
_OF_COUNTS = (tf.int32, tf.int64)
# Which input of an op is a shape that may have a -1, for all that there is.
_SHAPES = {"Reshape": 1, "Slice": 2}


def emit(graph: DraftGraph, primes: Sequence[int]) -> DraftGraph:
    """Returns drafts like some that were made for some counts, for any.

    Args:
        graph: Its shapes are static, and it was simplified.
        primes: What stands for the counts: see counts.py.
    """
    emitter = Emitter(graph.name, primes)
    return emitter.run(graph.inputs, graph.outputs, graph.effects)


class Emitter:
    """See `emit`.

    Attributes:
        inputs: What it gave for inputs so far.
    """

    def __init__(self, name: str, primes: Sequence[int]) -> None:
        self._name = name
        self._counts = Counts(primes)
        self.inputs: list[Drafted] = []
        self._emitted: dict[Drafted, Drafted] = {}
        # By prime: what that is now.
        self._numbers: dict[int, Drafted] = {}
        self._constants: dict[object, Drafted] = {}

    def run(
        self,
        inputs: Sequence[Drafted],
        outputs: Sequence[Drafted],
        effects: Sequence[Draft] = (),
    ) -> DraftGraph:
        """Returns the graph; its inputs and outputs are what these are in it.

        It has `effects` too, e.g. assertions, which happen in their order.
        """
        for value in inputs:
            self._emitted[value] = self.add_input(value)
        in_order = set(effects)
        emitted_effects: list[Draft] = []
        for draft in needed_drafts(outputs, self._is_given, effects):
            new = self._emit(draft)
            self._emitted.update(zip(draft.outputs, new.outputs, strict=True))
            if draft in in_order:
                emitted_effects.append(new)
        emitted = [self.emitted(value) for value in outputs]
        return DraftGraph(self._name, self.inputs, emitted, emitted_effects)

    def emitted(self, value: Drafted) -> Drafted:
        """Returns what a value that some output needs is now."""
        if value not in self._emitted:
            self._emitted[value] = self.add_leaf(value)
        return self._emitted[value]

    def add_input(self, value: Drafted) -> Drafted:
        """Adds an input, for any number of rows if it has rows."""
        specs = [self.for_any(value)]
        new = Draft("Placeholder", [], specs, {}, source=value.op.source)
        self.inputs.append(Drafted(new))
        return self.inputs[-1]

    def is_leaf(self, value: Drafted) -> bool:
        """Says whether a value is added without what it is computed from."""
        return not value.op.inputs

    def add_leaf(self, value: Drafted) -> Drafted:
        """Adds a constant, or what it is for the rows that there are."""
        assert value.op.type != "Placeholder", f"{value.op.source} is not an input."
        known = value.op.value if value.dtype in _OF_COUNTS else None
        hits = self._counts.are_in(known)
        if known is None or not hits.any():
            return value
        parts = [
            self._number(value, int(n)) if hit else self.constant(n, value.dtype)
            for n, hit in zip(known.ravel(), hits.ravel(), strict=True)
        ]
        if not known.shape:
            return parts[0]
        vector = draft_ops.pack(parts)
        if known.ndim == 1:
            return vector
        sizes = draft_ops.sizes(known.shape)
        return draft_ops.reshape(
            vector, self.constant(sizes, tf.as_dtype(sizes.dtype)), known.shape
        )

    def _is_given(self, value: Drafted) -> bool:
        return value in self._emitted or self.is_leaf(value)

    def _emit(self, draft: Draft) -> Draft:
        """Adds an op, which must mean the same for one row as for many."""
        if draft.type == "BroadcastGradientArgs":
            # Static shapes leave none. It takes a single row for one that is
            # broadcast, and adds up what is to stay apart.
            assert draft.source is not None
            raise CannotBatchError(
                draft.source,
                "a gradient depends on shapes that are not known before the program "
                "runs. Say them, e.g. with tf.ensure_shape, or use the dataflow "
                "executor.",
            )
        return Draft(
            draft.type,
            self._inputs_of(draft),
            [self.for_any(value) for value in draft.outputs],
            draft.attrs,
            name=draft.name,
            source=draft.source,
        )

    def _inputs_of(self, draft: Draft) -> list[Drafted]:
        """Returns what an op takes; -1 where that counts rows, if it may."""
        inputs = []
        for index, value in enumerate(draft.inputs):
            is_shape = index == _SHAPES.get(draft.type)
            rest = self._with_minus_one(draft) if is_shape else None
            inputs.append(
                self.emitted(value)
                if rest is None
                else self.constant(rest, value.dtype)
            )
        return inputs

    def _with_minus_one(self, draft: Draft) -> np.ndarray | None:
        """Returns the shape that an op takes, with -1 if that is the number of rows.

        None if there is no such number, or if it does not follow from the others.
        """
        shape = draft.inputs[_SHAPES[draft.type]].op.value
        hits = self._counts.are_in(shape)
        if shape is None or hits.sum() != 1:
            return None
        if draft.type == "Slice":
            follows = shape[hits] == np.array(draft.inputs[0].shape)[hits]
        else:
            follows = shape.all()
        return np.where(hits, -1, shape) if follows else None

    def constant(self, value: np.ndarray, dtype: tf.DType) -> Drafted:
        """Adds a constant, of which all are different."""
        value = np.asarray(value, dtype.as_numpy_dtype)
        key = (dtype, value.shape, value.tobytes())
        if key not in self._constants:
            self._constants[key] = draft_ops.constant(value, dtype)
        return self._constants[key]

    def _number(self, like: Drafted, number: int) -> Drafted:
        """Returns what a multiple of a count stands for."""
        prime = self._counts.prime_in(number)
        assert prime is not None
        if prime not in self._numbers:
            counted = next((v for v in self._emitted if _has_rows(v, prime)), None)
            if counted is None:
                assert like.op.source is not None
                raise CannotBatchError(like.op.source, "it takes no rows.")
            self._numbers[prime] = draft_ops.first_size(self.emitted(counted))
        count = draft_ops.cast(self._numbers[prime], like.dtype)
        if number == prime:
            return count
        return draft_ops.product(
            count, self.constant(np.array(number // prime), like.dtype)
        )

    def for_any(self, value: Drafted) -> Spec:
        """Returns what is known of a value for any number of rows."""
        shape: Shape = value.shape
        if shape is not None:
            shape = tuple(None if self._counts.prime_in(n) else n for n in shape)
        return Spec(value.dtype, shape)


def _has_rows(value: Drafted, count: int) -> bool:
    return bool(value.shape and value.shape[0] == count)
