"""The rule for each type of op."""

import itertools
from collections.abc import Callable, Sequence

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.refusal import CannotBatchError
from recursive_tf.python.batching.vectorize.operand import Operand
from recursive_tf.python.batching.vectorize.vectorized_block import (
    Rule,
    VectorizedBlock,
)
from recursive_tf.python.program.graph_copy import LOOPS

_RULES: dict[str, Rule] = {}
_LIST_RULES: dict[str, Rule] = {}
_LIST_MAKERS: dict[str, Rule] = {}
# Each change of the rules makes another state of them, which has a number.
_states = itertools.count(1)
_state = 0
# In place of a type: the rule of lists for those that have none.
ANY_OTHER = "any other"
# Whose converters keep something between ops, or make another value of all rows.
_NOT_CONVERTED = (
    "Optional",
    "Parse",
    "Stack",
    "StringFormat",
    "TensorArray",
    "TensorL",
)


class Registration:
    """What makes a rule the one of some types: for good, or within a `with` block."""

    def __init__(self, op_types: tuple[str, ...], rule: Rule | None) -> None:
        self._op_types = op_types
        self._rule = rule
        # And the states before and within the block.
        self._before: list[tuple[dict[str, Rule], int, int]] = []

    def __call__(self, rule: Rule) -> Rule:
        """Makes a function the rule, as a decorator."""
        _RULES.update(dict.fromkeys(self._op_types, rule))
        _change_state_to(next(_states))
        return rule

    def __enter__(self) -> None:
        """Makes the rule that was given that of the types, until the block ends."""
        if self._rule is None:
            raise TypeError(
                "`with rtf.register_vectorization(...)` has no rule. Give it one: "
                "rtf.register_vectorization(op_type, rule=function)."
            )
        types = self._op_types
        rules = {name: _RULES[name] for name in types if name in _RULES}
        before = state_of_rules()
        self(self._rule)
        self._before.append((rules, before, state_of_rules()))

    def __exit__(self, *error: object) -> None:
        """Gives the types the rules that they had."""
        for op_type in self._op_types:
            _RULES.pop(op_type, None)
        rules, before, within = self._before.pop()
        _RULES.update(rules)
        nothing_else = state_of_rules() == within
        _change_state_to(before if nothing_else else next(_states))


def state_of_rules() -> int:
    """Returns a number for the rules that there are: equal if these are the same."""
    return _state


def _change_state_to(state: int) -> None:
    global _state
    _state = state


def register_vectorization(*op_types: str, rule: Rule | None = None) -> Registration:
    """Returns a decorator that makes a function the rule for ops of some types.

    A rule says how the batched executor runs an op for many activations at once. It is
    called when a SubGraph's program is compiled, at the first root call, and so must
    be there before. It takes the place of any other rule for the type.

    >>> import recursive_tf as rtf
    >>> @rtf.register_vectorization("LinSpace")
    ... def linspace(block, op, inputs):
    ...     start, stop = block.all_rows(inputs[0]), block.all_rows(inputs[1])  # [N]
    ...     num = block.shared(op, 2, inputs)  # [], the same for all activations
    ...     return [tf.linspace(start, stop, num, axis=1)]  # [N, num]

    >>> with rtf.SubGraph("points", executor="batched") as points:
    ...     x = points.input(tf.float32)
    ...     points.output(tf.raw_ops.LinSpace(start=0.0, stop=x, num=3))
    >>> points.map([2.0, 6.0]).numpy().tolist()
    [[0.0, 1.0, 2.0], [0.0, 3.0, 6.0]]

    A rule takes three arguments:

    - `block`, the `rtf.VectorizedBlock` that is being made. `block.all_rows(operand)`
      is the operand's tensor with rows in front, `[N, ...]`. `block.shared(op, index,
      inputs)` is input `index` if it is the same for all activations; if it is not,
      this refuses the op. `block.add_like(op, tensors)` adds the same op for other
      inputs. `block.once(function, *operands)` computes something once per root call.
    - `op`, as it was traced for one activation. It has the attributes, and the shapes
      of the outputs.
    - `inputs`, an `rtf.Operand` each. `.is_row` says whether activations have values of
      their own. `.shape` and `.rank` are what one activation sees.

    A rule returns a list with one value for each output of the op: a tensor `[N, ...]`,
    or an operand of `block.once` if all activations have the same. N is a number while
    a rule runs, but stands for any number: what depends on its value is refused.
    TensorFlow differentiates the ops that a rule adds. A rule may use its inputs and
    constants, but no other tensors or variables.

    For what it cannot do, a rule raises `rtf.CannotBatchError(op, why)`. If it returns
    anything else, the root call raises `rtf.RuleError`.

    With `rule=`, it is a context manager, for a rule that is not to stay. Programs that
    are compiled within the block have the rule, and keep it.

    >>> with rtf.register_vectorization("LinSpace", rule=linspace):
    ...     assert points.map([4.0]).shape == (1, 3)

    Args:
        *op_types: E.g. "LinSpace": what `tensor.op.type` is.
        rule: The rule, for a `with` block.

    Returns:
        A decorator for a rule, and a context manager.
    """
    return Registration(op_types, rule)


def register_list_rule(*op_types: str) -> Callable[[Rule], Rule]:
    """Returns a decorator that makes a function the rule for ops that take lists."""

    def register(rule: Rule) -> Rule:
        _LIST_RULES.update(dict.fromkeys(op_types, rule))
        return rule

    return register


def register_list_maker(*op_types: str) -> Callable[[Rule], Rule]:
    """Returns the same for ops that make a list of what are no lists."""

    def register(rule: Rule) -> Rule:
        _LIST_MAKERS.update(dict.fromkeys(op_types, rule))
        return rule

    return register


def rule_of(
    op: tf.Operation, *, of_lists: bool = False, makes_list: bool = False
) -> Rule:
    """Returns the rule for an op; it refuses the op if nothing is known about that.

    Args:
        op: The op.
        of_lists: Whether it takes or makes lists.
        makes_list: Whether it makes one of what are no lists.

    Raises:
        CannotBatchError: If there can be none.
    """
    if makes_list:
        return _LIST_MAKERS[op.type]
    if of_lists:
        return _LIST_RULES.get(op.type, _LIST_RULES[ANY_OTHER])
    if op.type in _RULES:
        return _RULES[op.type]
    if tf_compat.is_stateful(op):
        return effect
    if tf_compat.is_elementwise(op.type):
        return elementwise
    if tf_compat.has_converter(op.type) and not op.type.startswith(_NOT_CONVERTED):
        return by_vectorized_map
    return unknown


def refusing(reason: str) -> Rule:
    """Returns the rule of what is not batched."""

    def refuse(
        block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
    ) -> Sequence[tf.Tensor]:
        del block, inputs
        raise CannotBatchError(op, reason)

    return refuse


unknown = refusing(
    "there is no rule for it. Give one with rtf.register_vectorization, or use the "
    "dataflow executor."
)


effect = refusing(
    "it has an effect for each activation. Take it out of the SubGraph, or use the "
    "dataflow executor."
)


def elementwise(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The rule of ops that broadcast."""
    rank = max(operand.rank for operand in inputs)
    return block.add_like(op, [block.aligned(operand, rank) for operand in inputs])


def by_vectorized_map(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> Sequence[tf.Tensor]:
    """The rule of the long tail: what `tf.vectorized_map` does."""
    block.numbers.are_all = False
    before = set(block.graph.get_operations())
    try:
        results = _convert(block, op, inputs)
    # TensorFlow's converters are not made to be called with all there is: they raise
    # whatever it is that they run into.
    except Exception as error:
        first_line = str(error).partition("\n")[0]
        raise CannotBatchError(
            op,
            f"TensorFlow cannot vectorize it ({first_line or type(error).__name__}). "
            "Give a rule with rtf.register_vectorization, or use the dataflow "
            "executor.",
        ) from error
    if any(o.type in LOOPS for o in set(block.graph.get_operations()) - before):
        raise CannotBatchError(
            op,
            "TensorFlow can only take one activation after the other there. Give a "
            "rule with rtf.register_vectorization, or use the dataflow executor.",
        )
    return results


def _convert(
    block: VectorizedBlock, op: tf.Operation, inputs: list[Operand]
) -> list[tf.Tensor]:
    wrapped = [(block.tensor(operand), operand.is_row) for operand in inputs]
    results = []
    converted = tf_compat.convert_by_vectorized_map(op, wrapped, block.num_rows)
    for (tensor, is_row), output in zip(converted, op.outputs, strict=True):
        shape = tf.TensorShape([block.num_rows]).concatenate(output.shape)
        rows = tensor if is_row else tf.broadcast_to(tensor, shape)
        rows.set_shape(shape)
        results.append(rows)
    return results
