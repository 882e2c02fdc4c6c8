"""AutoGraph, of functions that call themselves."""

import functools
import inspect
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.core import ag_ctx as autograph_context
from tensorflow.python.autograph.core import config as autograph_config
from tensorflow.python.autograph.core import converter
from tensorflow.python.autograph.impl import api as autograph_api
from tensorflow.python.autograph.operators import control_flow as autograph_control_flow
from tensorflow.python.autograph.pyct import parser
from tensorflow.python.util import tf_stack

from recursive_tf.python.tf_compat.origins import is_of_user

# How the names of its files begin.
_GENERATED = "__autograph_generated_file"

# As AutoGraph does with Keras. No function here has control flow that it would have to
# convert, and those that a training step calls would take it as long as compiling does.
autograph_config.CONVERSION_RULES = (
    autograph_config.DoNotConvert("recursive_tf"),
    *autograph_config.CONVERSION_RULES,
)


def without_autograph() -> AbstractContextManager[Any]:
    """Returns a context in which functions that are called are not converted."""
    context: AbstractContextManager[Any] = autograph_context.ControlStatusCtx(
        autograph_context.Status.DISABLED
    )
    return context


def mark_as_converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes AutoGraph leave a function as it is, and returns it."""
    marked: Callable[..., Any] = autograph_api.autograph_artifact(function)
    return marked


def is_autographs_branch(function: Callable[[], Any]) -> bool:
    """Says whether AutoGraph made this branch of an `if` statement."""
    module = getattr(function, "__module__", None)
    return bool(module == autograph_control_flow.__name__)


def assigns_nothing(branch: Callable[[], Any]) -> bool:
    """Says whether an `if` statement leaves no variable that is read after it.

    Args:
        branch: What AutoGraph made of a branch of it.
    """
    # AutoGraph adds a variable of its own if there is none.
    names = inspect.getclosurevars(branch).nonlocals.get("symbol_names", ())
    return "<unused dummy>" in names


class _Transpiler(autograph_api.PyToTF):
    """AutoGraph's, which evaluates annotations where their names may mean nothing."""

    def transform_ast(self, node: Any, ctx: Any) -> Any:
        """Makes texts of them first, as `from __future__ import annotations` does."""
        for inner in parser.gast.walk(node):
            if isinstance(inner, parser.gast.FunctionDef):
                _make_text_of(inner, "returns")
            if isinstance(inner, parser.gast.arguments):
                for argument in parser.gast.iter_child_nodes(inner):
                    _make_text_of(argument, "annotation")
        return super().transform_ast(node, ctx)


def _make_text_of(node: Any, field: str) -> None:
    if getattr(node, field, None) is not None:
        text = parser.unparse(getattr(node, field), include_encoding_marker=False)
        setattr(node, field, parser.parse_expression(repr(text.strip())))


_transpiler = _Transpiler()


def convert_by_autograph(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `function` as AutoGraph converts it, also where AutoGraph is off.

    It is off in functions that are not to be converted, which may call back.
    """
    if autograph_api.is_autograph_artifact(function):
        return function
    if inspect.ismethod(function):
        converted = convert_by_autograph(function.__func__)
        return functools.partial(converted, function.__self__)
    options = converter.ConversionOptions(
        recursive=True, user_requested=True, optional_features=None
    )
    context = converter.ProgramContext(options=options)
    try:
        code, _, code.ag_source_map = _transpiler.transform(function, context)
    except Exception:  # AutoGraph says why, and leaves it as it is.
        return _convert_or_warn(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with autograph_api.StackTraceMapper(code), tf_stack.CurrentModuleFilter():
                return code(*args, **kwargs)
        except Exception as error:
            autograph_api._attach_error_metadata(error, code)
            explained = getattr(error, "ag_error_metadata", None)
            if explained is None:
                raise
            explained.translated_stack = _of_user(explained.translated_stack)
            raise explained.to_exception(error) from error.__cause__

    return call


def is_generated(filename: str) -> bool:
    """Says whether AutoGraph wrote a file: nobody has seen what stands in it."""
    return os.path.basename(filename).startswith(_GENERATED)


def _of_user(frames: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the frames that AutoGraph's error names, without those of libraries.

    An error that passes through this library on its way, from one body to another one
    that calls it, would otherwise name lines of the library.
    """
    if not tf.debugging.is_traceback_filtering_enabled():
        return frames
    return tuple(
        frame
        for frame in frames
        if frame.is_converted
        or (is_of_user(frame.filename) and not is_generated(frame.filename))
    )


def _convert_or_warn(function: Callable[..., Any]) -> Callable[..., Any]:
    on = autograph_context.ControlStatusCtx(autograph_context.Status.ENABLED)
    converted: Callable[..., Any] = autograph_api.tf_convert(
        function, on, user_requested=True
    )
    return converted
