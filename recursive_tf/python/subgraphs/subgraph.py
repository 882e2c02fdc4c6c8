"""`SubGraph`: what a user defines and calls.

It is one class, and of over 400 lines for its docstrings, which are what a user reads
of it.
"""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import tensorflow as tf

from recursive_tf.python import gradient, tf_compat
from recursive_tf.python.batching.vectorize.rules import state_of_rules
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.options import EXECUTORS, Options
from recursive_tf.python.program import (
    Definition,
    close,
    definition_in_words,
    signature_in_words,
)
from recursive_tf.python.program.traced_gradients import own_custom_gradients
from recursive_tf.python.root_calls import vectorized_map
from recursive_tf.python.root_calls.redefinition import newcomer
from recursive_tf.python.root_calls.root_call import Choices, RootCall
from recursive_tf.python.subgraphs.call_sites import add_call_site
from recursive_tf.python.subgraphs.memo import check_input, check_memo, make_front
from recursive_tf.python.subgraphs.tracebacks import called_by_users
from recursive_tf.python.tracing.captured import captured_tensors, captured_variables
from recursive_tf.python.tracing.function_graph import (
    BodyGraph,
    add_push,
    enclosing_body,
    start_tracing,
)
from recursive_tf.python.tracing.signature import Signature
from recursive_tf.python.tracing.specs import (
    SCALAR,
    as_output,
    as_spec,
    flat_tensors,
    is_composite,
    output_tensors,
    spec_of,
)

_ids = itertools.count(1)

gradient.register()
vectorized_map.register()


class SubGraph:
    """A part of a dataflow graph that may call itself.

    Define it in a `with` block: declare inputs, build the body, declare outputs. In its
    own body, or in that of another SubGraph, a call adds a call site. Anywhere else, a
    call runs it. A body may use tensors and variables from outside directly.

    >>> with SubGraph("fib") as fib:
    ...     n = fib.input(tf.int32)
    ...     fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
    >>> int(fib(10))
    55

    Source: Jeong et al., "Improving the Expressiveness of Deep Learning Frameworks
    with Recursion", EuroSys 2018, sections 3.1 and 3.2.

    The class is spelled `SubGraph`; `rtf.subgraph`, in lower case, is a decorator that
    makes SubGraphs of a Python function.

    Attributes:
        name: For errors and for the names of ops.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        output_signature: Any = None,
        executor: str = "auto",
        options: Options | None = None,
        memo: Callable[..., Any] | None = None,
    ) -> None:
        """Declares a SubGraph, which may be called before it is defined.

        Args:
            name: Any text; default "subgraph".
            output_signature: What it returns: a structure of `tf.TensorSpec`s, or of
                dtypes, for scalars. It is needed where a call stands before `.output`
                and the library cannot find out what the call returns. It looks at the
                other branch of a conditional around the call.
            executor: "batched" runs the same part of all calls that wait for it at
                once. "dataflow" runs every call by itself on TensorFlow's executor,
                independent calls in parallel. "auto" takes "batched" if it can run the
                program, and "dataflow" otherwise.
            options: Limits and choices. Those of the SubGraph that the root call
                invokes hold for the whole program.
            memo: A function of the inputs that returns a key, an int32 or int64 scalar.
                Within one root call, the body runs once for each key, with the inputs
                of the first call that has this key. All calls with the key share the
                result, and its gradient is that of all of them together. No input may
                be differentiable.

        Raises:
            TypeError: If `name` is no text, `options` no Options, or `memo` no
                function.
            ValueError: If there is no such executor.
        """
        if name is not None and not isinstance(name, str):
            raise TypeError(f"The name of a SubGraph is a str, but this is {name!r}.")
        if executor not in EXECUTORS:
            raise ValueError(f"executor={executor!r}: choose one of {EXECUTORS}.")
        if not isinstance(options, Options | None):
            raise TypeError(
                f"options={options!r}: give an rtf.Options, e.g. "
                "rtf.Options(max_depth=1000)."
            )
        check_memo(memo)
        self.name = name or "subgraph"
        self._executor = executor
        self._options = options
        self._memo = memo
        self._front: BodyGraph | None = None
        self._signature = Signature(self.name, output_signature)
        self._id = next(_ids)
        self._body: BodyGraph | None = None
        self._tracing: contextlib.ExitStack | None = None
        self._is_defined = False
        self._root_call: RootCall | None = None
        self._closing = threading.Lock()
        self._newcomer = newcomer()

    @called_by_users
    def __enter__(self) -> "SubGraph":
        """Starts the definition: ops that follow are the body."""
        if self._body is not None:
            raise SubGraphError(
                f"SubGraph '{self.name}' is defined twice. Make a second SubGraph."
            )
        self._body = BodyGraph(self.name)
        self._tracing = start_tracing(self._body)
        return self

    @called_by_users
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends the definition."""
        assert self._tracing is not None
        assert self._body is not None
        self._tracing.__exit__(kind, error, traceback)
        self._tracing = None
        own_custom_gradients(self._body)
        if error is None and not self._is_defined:
            raise SubGraphError(
                f"SubGraph '{self.name}' has no output. Call "
                f"`{self.name}.output(...)` at the end of its `with` block."
            )
        if error is None and self._memo is not None:
            body = Definition(next(_ids), self.name, self._body, self._signature, True)
            self._front = make_front(body, self._memo)

    @called_by_users
    def input(self, dtype: Any, shape: Any = SCALAR, name: str | None = None) -> Any:
        """Declares the next input.

        Args:
            dtype: A dtype, a `tf.TensorSpec`, that of a RaggedTensor, SparseTensor or
                extension type, or a structure of these.
            shape: Of one invocation's tensor, where `dtype` is a dtype. By default a
                scalar; None dimensions are unknown. A spec has a shape already.
            name: For the op; and calls may say the argument by it, `f(n=3)`.

        Returns:
            The tensor, or the structure of tensors, inside of the body.

        Raises:
            SubGraphError: Outside of the definition, if it is differentiable and the
                SubGraph is memoized, if a spec and a shape contradict each other, or
                if the name is that of another input.
        """
        body = self._body_being_traced("input")
        spec = tf.nest.map_structure(lambda leaf: as_spec(leaf, shape), dtype)
        if self._memo is not None:
            check_input(self._signature, spec)
        self._signature.check_name(name)
        label = name or f"input_{len(self._signature.inputs)}"
        tensors = tf.nest.map_structure(
            lambda s: body.add_input(s, label), spec, expand_composites=True
        )
        self._signature.inputs.append(spec)
        self._signature.names.append(name)
        return tensors

    @called_by_users
    def output(self, *outputs: Any) -> None:
        """Declares what the SubGraph returns; `output(a, b)` is `output((a, b))`.

        Args:
            *outputs: A tensor, RaggedTensor, SparseTensor, extension type or None, or
                a structure of these: tuples, named tuples, lists, dicts. If there are
                none, calls return (): the SubGraph is for its effects, e.g. pushes.

        Raises:
            SubGraphError: The second time, outside of the definition, or if calls
                assumed or `output_signature` says something else.
        """
        body = self._body_being_traced("output")
        if self._is_defined:
            raise SubGraphError(
                f"SubGraph '{self.name}' has two outputs. Call `.output(a, b)` once, "
                "with all of them."
            )
        structure = outputs[0] if len(outputs) == 1 else tuple(outputs)
        if tf_compat.default_graph() is not body:
            raise SubGraphError(
                f"`.output` of SubGraph '{self.name}' is called inside of a branch. "
                "Return the value from the branch, and call it on the conditional's "
                "result."
            )
        tensors = tf.nest.map_structure(as_output, structure)
        self._signature.check_outputs(tf.nest.map_structure(spec_of, tensors))
        body.outputs = output_tensors(tensors)
        body.structured_outputs = tensors
        self._is_defined = True

    @called_by_users
    def push(self, name: str, value: Any, *, index: Any, size: Any) -> None:
        """Hands a value of every invocation to the root call, one row each.

        `outputs, pushed = f(..., with_pushed=True)`, or `f.map(...)`, returns the table
        as `pushed[name]`, of shape `[size, ...]`. Rows that no invocation pushed are
        zero. Gradients flow back row by row. Source: Cavs (Xu et al. 2018), section
        3.1, where a vertex pushes to the outside.

        Args:
            name: Of the table. All SubGraphs of a program share these names.
            value: A tensor, `[...]`.
            index: An integer scalar: the row, different in every invocation.
            size: The number of rows. It must not depend on an input of the body.

        Raises:
            SubGraphError: Outside of the definition, or for a composite tensor.
            tf.errors.InvalidArgumentError: When it runs, if two invocations push one
                row, or values of different shapes.
            tf.errors.OutOfRangeError: When it runs, if there is no such row.
        """
        self._body_being_traced("push")
        body = enclosing_body(tf_compat.default_graph())
        assert body is not None
        if is_composite(value):
            raise SubGraphError(
                f"push '{name}' gets a {type(value).__name__}, and takes a tensor: "
                "push each of its tensors."
            )
        add_push(body, name, tf.convert_to_tensor(value), index, size)

    @called_by_users
    def __call__(self, *args: Any, with_pushed: bool = False, **named: Any) -> Any:
        """Invokes the SubGraph.

        Inside of a body this adds a call site. Elsewhere it is the root call: eagerly,
        in a `tf.function`, in a Keras layer.

        Args:
            *args: One for each input, of its structure, dtype and shape.
            with_pushed: At the root, return pushed values too.
            **named: Those of inputs that have a name, behind `args`.

        Returns:
            The structure given to `.output`. With `with_pushed`, this structure, and a
            dict from names to tables `[size, ...]`. A call before `.output`, in a
            conditional whose other branch returns None or a `tf.Operation`, returns
            the same as that branch.

        Raises:
            SubGraphError: If arguments do not fit, the SubGraph is not defined, or what
                it returns is not known yet.
            tf.errors.OpError: When it runs, if an invocation fails; the message names
                the SubGraph and the invocation path.
        """
        args = self._signature.in_order(args, named)
        return self._call(args, mapped=False, with_pushed=with_pushed)

    @called_by_users
    def map(self, *args: Any, with_pushed: bool = False, **named: Any) -> Any:
        """Invokes the SubGraph once for each row of the arguments, in parallel.

        Args:
            *args: One for each input, with a dimension of rows in front: `[rows, ...]`.
            with_pushed: Return pushed values too.
            **named: Those of inputs that have a name, behind `args`.

        Returns:
            The structure given to `.output`, each tensor `[rows, ...]`; with
            `with_pushed`, that and a dict from names to tables `[size, ...]`.

        Raises:
            SubGraphError: As a call; also without inputs.
        """
        args = self._signature.in_order(args, named)
        # Before the definition starts the inputs are not known.
        inputs = args if self._body is None else self._signature.flat_inputs
        if not inputs:
            raise SubGraphError(
                f"`.map` of SubGraph '{self.name}' has no rows, because '{self.name}' "
                "has no input. Call it, or declare an input."
            )
        return self._call(args, mapped=True, with_pushed=with_pushed)

    @property
    def signature(self) -> str:
        """What it takes and returns, in words, e.g. "(int32[]) -> float32[3]".

        What is not known yet is "?".
        """
        return signature_in_words(self._signature)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What it takes: a structure of `tf.TypeSpec`s for each input, in order."""
        return tuple(self._signature.inputs)

    @property
    def outputs(self) -> Any:
        """What it returns: a structure of `tf.TypeSpec`s, or None if not known yet."""
        return self._signature.outputs

    @property
    def captures(self) -> tuple[tf.Tensor, ...]:
        """The tensors from outside that its body uses, in the order of first use.

        Variables are not among them, nor are small integer tensors, which become
        constants of the body, nor what the bodies that it calls use.
        """
        return () if self._body is None else captured_tensors(self._body)

    @property
    def variables(self) -> tuple[tf.Variable, ...]:
        """The variables that it uses, in the order of first use.

        Those of the bodies that it calls, directly or not, come after its own. As in a
        `tf.function`, something else has to keep them alive.
        """
        found: dict[int, tf.Variable] = {}
        for body in self._reachable_bodies():
            found |= {id(one): one for one in captured_variables(body)}
        return tuple(found.values())

    def __repr__(self) -> str:
        """Returns the name and the signature."""
        return f"<SubGraph '{self.name}' {self.signature}>"

    def __str__(self) -> str:
        """Returns that, and what it captures, pushes and calls, once it is defined."""
        if not self._is_defined:
            return repr(self)
        assert self._body is not None
        defined = Definition(self._id, self.name, self._body, self._signature)
        return definition_in_words(defined)

    def _reachable_bodies(self) -> Iterator[BodyGraph]:
        """Yields its body, and those that it calls, directly or not, each once."""
        seen, waiting = {self._id}, [self]
        while waiting:
            body = waiting.pop(0)._body
            if body is None:
                continue
            yield body
            waiting += [one for id_, one in body.callees.items() if id_ not in seen]
            seen |= body.callees.keys()

    def _body_being_traced(self, method: str) -> BodyGraph:
        body = enclosing_body(tf_compat.default_graph())
        if self._tracing is None or body is not self._body or body is None:
            raise SubGraphError(
                f"`.{method}` of SubGraph '{self.name}' is called outside of its "
                f"definition. Call it in the `with` block of '{self.name}'."
            )
        return body

    def _call(self, args: tuple[Any, ...], *, mapped: bool, with_pushed: bool) -> Any:
        body = enclosing_body(tf_compat.default_graph())
        if body is None:
            return self._call_root(args, mapped=mapped, with_pushed=with_pushed)
        if with_pushed:
            raise SubGraphError(
                f"with_pushed=True in a call to SubGraph '{self.name}' inside of the "
                f"body of '{body.subgraph_name}': only a root call gathers what all "
                "its invocations push."
            )
        tensors = self._arguments_inside(args, mapped=mapped)
        body.callees[self._id] = self
        return add_call_site(body, self._id, self._signature, tensors, mapped=mapped)

    def _arguments_inside(self, args: tuple[Any, ...], *, mapped: bool) -> list[Any]:
        if self._body is None:
            # Its inputs are not known yet: closing the program checks them.
            return flat_tensors(args)
        return self._signature.flatten_arguments(args, mapped=mapped)

    def _call_root(
        self, args: tuple[Any, ...], *, mapped: bool, with_pushed: bool
    ) -> Any:
        root_call = root_call_of(self)
        tensors = self._signature.flatten_arguments(args, mapped=mapped)
        outputs, pushed = root_call(tensors, mapped=mapped)
        return (outputs, root_call.complete(pushed)) if with_pushed else outputs

    def _close(self) -> RootCall:
        options = self._options or Options()

        def definition_of(subgraph: "SubGraph | Definition") -> Definition:
            if isinstance(subgraph, Definition):
                return subgraph
            self._check_same_choices(subgraph)
            return subgraph._definition()

        program = close(
            self._definition(),
            definition_of,
            state_of_rules(),
            lazily=self._executor != "dataflow" and options.lazy_pushes,
        )
        choices = Choices(self._executor, options)
        return RootCall(self._signature, program, choices, self._newcomer)

    def _definition(self) -> Definition:
        body = self._called_body
        if not self._is_defined or body is None:
            raise SubGraphError(
                f"SubGraph '{self.name}' is called, but has no body. Define it in "
                f"`with {self.name}:` before the root call."
            )
        return Definition(self._id, self.name, body, self._signature)

    @property
    def _called_body(self) -> BodyGraph | None:
        """What calls are of: the front, if it is memoized and defined."""
        return self._body if self._front is None else self._front

    def _check_same_choices(self, callee: "SubGraph") -> None:
        differs = (
            callee._options is not None
            and callee._options != (self._options or Options())
        ) or (callee._executor != "auto" and callee._executor != self._executor)
        if differs:
            raise SubGraphError(
                f"SubGraph '{callee.name}' has an executor or options of its own, but "
                f"is called from '{self.name}', whose executor and options hold for "
                f"the whole program. Give them to '{self.name}' alone."
            )


def is_in_body() -> bool:
    """Says whether ops that are made now are a part of a SubGraph's body."""
    return enclosing_body(tf_compat.default_graph()) is not None


def root_call_of(subgraph: SubGraph) -> RootCall:
    """Returns how a SubGraph is called from outside; its program is closed once.

    Raises:
        SubGraphError: If it is not defined, or cannot run as was chosen.
    """
    with subgraph._closing:
        if subgraph._root_call is None:
            subgraph._root_call = subgraph._close()
        return subgraph._root_call
