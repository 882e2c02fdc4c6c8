"""SavedModels that take forests, and plain arrays."""

from __future__ import annotations

import contextlib
import inspect
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.data import Forest
from recursive_tf.layers.whole_folder import whole_folder

FEATURE = "feature_"


# What a SavedModel keeps with it, if a function refers to it.
_KEPT = (
    keras.layers.Layer,
    tf.Module,
    tf.Variable,
    tf.lookup.StaticHashTable,
    tf.lookup.StaticVocabularyTable,
    tf.lookup.experimental.DenseHashTable,
    tf.lookup.experimental.MutableHashTable,
)


def export(
    model: keras.Model,
    path: str | pathlib.Path,
    like: Forest,
    *,
    preprocess: Callable[[tf.Tensor], Forest] | None = None,
) -> None:
    """Writes a SavedModel, for inference, of a model that is called with forests.

    A process that loads it, `loaded = tf.saved_model.load(path)`, needs no Python of
    the model, but `import recursive_tf` for the ops; what other processes need is in
    docs/language.md. It has two functions:

    - `loaded.serve(forest)` takes a `Forest`: with the features that the model reads,
      or with all of `like`; if `like` has labels, with and without labels.
    - `loaded.serve_arrays(...)`, also the signature "serving_default", takes the arrays
      of one by name: tokens, roots, sizes, left and right; or children_values and
      children_row_splits in place of the last two; and feature_ with the name of each
      feature that the model reads.

    With `preprocess` there is a third one, `loaded.serve_texts(texts)`, which is also
    the signature "serve_texts". It makes trees of texts, and calls the model with them.
    Whatever ops it uses are needed where the model is loaded, e.g. `import
    tensorflow_text`.

    Args:
        model: A functional model, or one that was called once.
        path: The folder to write to. It is there when all of it is: until then it is
            what it was.
        like: A batch with the arrays that there will be. The model does not see its
            labels.
        preprocess: A function of TensorFlow's ops. It takes texts, string[num_texts],
            and returns a batch of trees with the arrays that the model reads, e.g. a
            tokenizer, then `rtf.data.from_words`, then `rtf.data.encode`. A SavedModel
            keeps the layers, modules, variables and tables of lookups that the function
            refers to by name.

    Raises:
        ValueError: If `like` is one tree and no batch, or the model has inputs beside
            the forest.
        TypeError: If `like` is no `Forest`, or `preprocess` returns none.
    """
    if not isinstance(like, Forest):
        raise TypeError(
            "like= shows which arrays there will be, by a batch of trees, a "
            f"recursive_tf.data.Forest. Got {like!r}."
        )
    if like.shape.rank != 1:
        raise ValueError(
            "Show a batch of trees and not one tree, e.g. like=forest[:1]."
        )
    _check_takes_one_forest(model)
    needed = _without_unread(model, like.replace(labels=None))
    serve_arrays = _function_of_arrays(model)
    serve_arrays.get_concrete_function(**_specs_of(needed))

    @tf.function(autograph=False)
    def serve(forest: Forest) -> Any:
        features = {name: forest.features[name] for name in needed.features}
        return model(forest.replace(labels=None, features=features))

    with_labels = needed.replace(labels=like.labels)
    for forest in (needed, with_labels, like.replace(labels=None), like):
        serve.get_concrete_function(tf.type_spec_from_value(forest))
    archive = keras.export.ExportArchive()
    with _no_signature_of_keras():
        archive.track(model)
        archive.add_endpoint("serve_arrays", serve_arrays)  # The first is the default.
        archive.add_endpoint("serve", serve)
        if preprocess is not None:
            for resource in _resources_of(preprocess):
                archive.track(resource)
            archive.add_endpoint("serve_texts", _function_of_texts(model, preprocess))
        with whole_folder(path) as folder:
            archive.write_out(folder, verbose=False)


def _check_takes_one_forest(model: keras.Model) -> None:
    inputs = getattr(model, "inputs", None) or ()  # None, if it is of a class.
    if len(inputs) > 1:
        raise ValueError(
            f"export writes a model of one forest, and {model.name} takes "
            f"{len(inputs)} inputs. Write it with tf.saved_model.save as a tf.Module "
            "that holds model.variables, and a tf.function that calls the model."
        )


@contextlib.contextmanager
def _no_signature_of_keras() -> Iterator[None]:
    """Keeps Keras from calling models that it saves with tensors in place of forests.

    It does so to find what they hold, for which it has a signature of its own.
    """
    keras.Model._default_save_signature = None
    try:
        yield
    finally:
        del keras.Model._default_save_signature  # There again is that of its base.


def _function_of_arrays(model: keras.Model) -> Any:
    @tf.function(autograph=False)
    def serve_arrays(**arrays: tf.Tensor) -> Any:
        return model(_forest_of(arrays))

    return serve_arrays


def _function_of_texts(
    model: keras.Model, preprocess: Callable[[tf.Tensor], Forest]
) -> Any:
    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.string, "texts")], autograph=False
    )
    def serve_texts(texts: tf.Tensor) -> Any:
        forest = tf.autograph.experimental.do_not_convert(preprocess)(texts)
        if not isinstance(forest, Forest):
            raise TypeError(
                "preprocess must return an rtf.data.Forest, the trees of its texts. "
                f"Got {type(forest).__name__}: end it with rtf.data.from_words(words)."
            )
        return model(forest.replace(labels=None))

    return serve_texts


def _resources_of(function: Callable[..., Any]) -> list[Any]:
    """Returns what a SavedModel has to keep of all that a function refers to."""
    values = [function, getattr(function, "__self__", None)]
    if inspect.isroutine(function):
        found = inspect.getclosurevars(function)
        values += [*found.nonlocals.values(), *found.globals.values()]
    return [value for value in values if isinstance(value, _KEPT)]


def _without_unread(model: keras.Model, forest: Forest) -> Forest:
    """Returns a forest without the features that no op of the model reads."""
    if not forest.features:
        return forest
    traced = _function_of_arrays(model).get_concrete_function(**_specs_of(forest))
    _, inputs = traced.structured_input_signature
    arrays = zip(tf.nest.flatten(inputs), traced.inputs, strict=False)
    read = {spec.name for spec, tensor in arrays if tensor.consumers()}
    return forest.replace(
        features={
            name: feature
            for name, feature in forest.features.items()
            if FEATURE + name in read
        }
    )


def _specs_of(forest: Forest) -> dict[str, tf.TensorSpec]:
    return {name: _spec_of(name, array) for name, array in _arrays_of(forest).items()}


def _arrays_of(forest: Forest) -> dict[str, tf.Tensor]:
    """Returns the arrays of a forest by the names that a signature has."""
    if forest.is_binary:
        links = {"left": forest.left, "right": forest.right}
    else:
        children = forest.children
        links = {
            "children_values": children.values,
            "children_row_splits": children.row_splits,
        }
    features = {FEATURE + name: array for name, array in forest.features.items()}
    own = {"tokens": forest.tokens, "roots": forest.roots, "sizes": forest.sizes}
    return own | links | features


def _forest_of(arrays: dict[str, tf.Tensor]) -> Forest:
    """Returns the forest that has these arrays: the inverse of `_arrays_of`."""
    features = {
        name.removeprefix(FEATURE): array
        for name, array in arrays.items()
        if name.startswith(FEATURE)
    }
    names = ("tokens", "roots", "sizes", "left", "right")
    own: dict[str, Any] = {name: arrays[name] for name in names if name in arrays}
    if "children_values" in arrays:
        own["children"] = tf.RaggedTensor.from_row_splits(
            arrays["children_values"], arrays["children_row_splits"]
        )
    return Forest(features=features, **own)


def _spec_of(name: str, array: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec([None, *array.shape[1:]], array.dtype, name)
