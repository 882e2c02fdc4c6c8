"""The root call: a closed program becomes one op."""

import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from recursive_tf.python import tf_compat
from recursive_tf.python.batching.compilation import Compilation, compiled_once
from recursive_tf.python.batching.refusal import CannotBatchError, refused
from recursive_tf.python.batching.vectorize.rules import state_of_rules
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.options import POLICIES, Options
from recursive_tf.python.program import (
    LazyPush,
    Program,
    close,
    key_at_root,
    keys_of_rows,
)
from recursive_tf.python.root_calls.dense_gradients import want_dense_gradients
from recursive_tf.python.root_calls.fallback import fell_back
from recursive_tf.python.root_calls.lazy_table import LazyTable
from recursive_tf.python.root_calls.redefinition import Newcomer, nobody
from recursive_tf.python.root_calls.root_op import Carried, Chosen, add_root_op
from recursive_tf.python.tracing.signature import Signature
from recursive_tf.python.tracing.specs import with_rows

# Why a network is not batched.
_ALONE = (
    "It makes no calls, so one invocation of it has nothing to batch. `.map` batches "
    'the invocations of all rows, and so does executor="batched".'
)


class Choices:
    """How the user wants a program to be run.

    Args:
        executor: One of EXECUTORS.
        options: Limits and the policy.

    Attributes:
        options: As given.
        refusal: Why the program is not batched, once that was tried in vain.
    """

    def __init__(self, executor: str, options: Options) -> None:
        self._executor = executor
        self.options = options
        self.refusal: CannotBatchError | None = None

    def without_policy(self) -> "Choices":
        """Returns the same for another program: a policy that was learned is of one."""
        options = dataclasses.replace(self.options, policy=POLICIES[0])
        return Choices(self._executor, options)

    @property
    def is_auto(self) -> bool:
        """Whether the library may choose the executor."""
        return self._executor == "auto"

    @property
    def must_batch(self) -> bool:
        """Whether only the batched executor will do."""
        return self._executor == "batched"

    def reasons(self) -> list[str]:
        """Returns why the program is not batched, once it is known that it is not."""
        if self._executor == "dataflow":
            return ['executor="dataflow" was chosen.']
        return [] if self.refusal is None else [str(self.refusal)]

    def compile(self, program: Program) -> Compilation | None:
        """Returns the program for the batched executor; None if that is not to run it.

        Raises:
            SubGraphError: If it is to, but cannot.
        """
        if self._executor == "dataflow":
            return None
        try:
            return self._compile(program)
        except CannotBatchError as error:
            if self.must_batch:
                name = program.procedures[0].name
                raise refused(f"SubGraph '{name}'", error) from error
            self.refusal = error
            return None

    def _compile(self, program: Program) -> Compilation:
        compilation = compiled_once(
            [tf_compat.to_func_graph(p.function) for p in program.procedures],
            [p.captures for p in program.procedures],
            [p.name for p in program.procedures],
        )
        if self.is_auto:
            # Known only when a gradient is asked for, and then it is too late.
            compilation.check_differentiable()
        return compilation


class RootCall:
    """How one SubGraph is called from outside: its program, closed once.

    Attributes:
        signature: Of the SubGraph.
        program: What the call runs.
        options: Of the SubGraph; they hold for the program.
    """

    def __init__(
        self,
        signature: Signature,
        program: Program,
        choices: Choices,
        newcomer: Newcomer,
    ) -> None:
        self.signature = signature
        self.program = program
        self.options = choices.options
        self._choices = choices
        self._is_network = choices.is_auto and program.is_network()
        self._newcomer = newcomer
        self._later = [
            LazyTable(push, _computes(push, choices.without_policy()))
            for push in program.lazy
        ]
        # By whether it maps, by replica, which has variables of its own, and by whether
        # it is for forward mode: TensorFlow fails at one that a tape recorded before.
        self._eager: dict[tuple[bool, int, bool], Any] = {}
        self._tracing = threading.Lock()
        # What cannot run as its user wants is an error before anything is traced.
        self.compilation_of(mapped=False)

    def compilation_of(self, *, mapped: bool) -> Compilation | None:
        """Returns what the batched executor runs; None if that is not to run a call."""
        return None if self._is_alone(mapped=mapped) else self._compilation

    def reasons_of(self, *, mapped: bool) -> list[str]:
        """Returns why a call is not batched; nothing if it is."""
        return [_ALONE] if self._is_alone(mapped=mapped) else self._choices.reasons()

    def _is_alone(self, *, mapped: bool) -> bool:
        """Says whether a call has nothing to batch, and takes long to compile."""
        return self._is_network and not mapped

    @functools.cached_property
    def _compilation(self) -> Compilation | None:
        return self._choices.compile(self.program)

    def __call__(self, args: list[tf.Tensor], *, mapped: bool) -> Any:
        """Returns the structured outputs, and what `complete` takes."""
        if tf.executing_eagerly():
            flat = self._call_eagerly(args, mapped=mapped)
        else:
            flat = self._add(args, {}, mapped=mapped)
        num_outputs = len(self.signature.flat_outputs)
        outputs = self.signature.pack_outputs(flat[:num_outputs], mapped=mapped)
        names = [push.name for push in self.program.pushes]
        return outputs, dict(zip(names, flat[num_outputs:], strict=True))

    def complete(self, pushed: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Returns the tables that the user pushed to, by name."""
        pushed = dict(pushed)
        for table in self._later:
            table.complete(pushed)
        return pushed

    def _call_eagerly(self, args: list[tf.Tensor], *, mapped: bool) -> list[tf.Tensor]:
        """Runs the op through a function: eager kernels are never destroyed.

        Captured eager tensors are arguments of the function, because TensorFlow would
        make constants of the small ones and lose their gradients.
        """
        given = {}
        for index, capture in enumerate(self.program.captures):
            value = capture.eager_value()
            if value is not None:
                self._check_reachable(value)
                given[index] = value
        forward = tf_compat.have_tangents(self._followed(args, given))
        key = (mapped, tf_compat.replica_id(), forward)
        with self._tracing:
            self._newcomer.here.calls += 1
            if key not in self._eager:
                if not self._eager:
                    self._newcomer.compiled(self.signature.name)
                with tf_compat.pause_outer_tapes():
                    traced = self._trace(given, mapped=mapped)
                if forward:
                    want_dense_gradients(traced.graph)
                self._eager[key] = traced
        function = self._eager[key]
        tf_compat.tell_watchers(function)
        return list(function(*args, *given.values()))

    def _followed(
        self, args: list[tf.Tensor], given: dict[int, tf.Tensor]
    ) -> Iterator[tf.Tensor]:
        """Gives what a gradient of a call may be by."""
        yield from args
        yield from given.values()
        for variable in self.program.variables:
            yield tf_compat.of_this_replica(variable).handle

    def _trace(self, given: dict[int, tf.Tensor], *, mapped: bool) -> Any:
        specs = self.signature.flat_inputs
        if mapped:
            specs = [with_rows(spec) for spec in specs]

        def call(*arguments: tf.Tensor) -> list[tf.Tensor]:
            args = list(arguments[: len(specs)])
            inside = dict(zip(given, arguments[len(specs) :], strict=True))
            return self._add(args, inside, mapped=mapped)

        capture_specs = [tf.TensorSpec(t.shape, t.dtype) for t in given.values()]
        function = tf.function(call, autograph=False)
        return function.get_concrete_function(*specs, *capture_specs)

    def _add(
        self, args: list[tf.Tensor], given: dict[int, tf.Tensor], *, mapped: bool
    ) -> list[tf.Tensor]:
        """Adds the op to the default graph.

        Args:
            args: For the entry procedure.
            given: Values of captures, by index. The others are computed here.
            mapped: Whether each argument has rows in front.
        """
        program = self.program
        inside = {id(program.captures[i].external): t for i, t in given.items()}

        def place(external: tf.Tensor) -> tf.Tensor:
            if id(external) in inside:
                return inside[id(external)]
            external = tf_compat.handle_of_this_replica(external)
            self._check_reachable(external)
            return external

        for variable in program.variables:
            tf_compat.variable_accessed(tf_compat.of_this_replica(variable))
        captures = [
            given[index] if index in given else capture.at_root(place)
            for index, capture in enumerate(program.captures)
        ]
        results = self._invoke(
            [*args, *self._keys(args, mapped=mapped)], captures, place, mapped=mapped
        )
        return [*results.outputs, *results.pushed]

    def _keys(self, args: list[tf.Tensor], *, mapped: bool) -> list[tf.Tensor]:
        """Returns what random numbers follow from, if there are any."""
        if not self.program.takes_key:
            return []
        key = key_at_root()
        return [keys_of_rows(key, args[0]) if mapped else key]

    def _invoke(
        self,
        args: list[tf.Tensor],
        captures: list[tf.Tensor],
        place: Any,
        *,
        mapped: bool,
    ) -> Any:
        program = self.program
        carried = Carried(
            procedures=[p.function for p in program.procedures],
            names=[p.name for p in program.procedures],
            captures=[p.captures for p in program.procedures],
            outputs=self.signature.flat_outputs,
            pushes=[push.name for push in program.pushes],
            rows=[push.row for push in program.pushes],
            mapped=mapped,
            max_depth=self.options.max_depth or 0,
            max_activations=self.options.max_activations or 0,
            max_bytes=_max_bytes(self.options),
            schedule=self.options.schedule.attribute(),
        )
        compilation = self.compilation_of(mapped=mapped)
        reasons = self.reasons_of(mapped=mapped)
        if self._choices.refusal is not None:
            fell_back(f"SubGraph '{self.signature.name}'", self._choices.refusal)
        attributes = {}
        if compilation is not None:
            attributes = self.options.batched_attributes(
                self.signature.name, compilation.names_with(carried.names).places
            )
        results = add_root_op(
            carried,
            Chosen(compilation, attributes, reasons, self._choices.must_batch),
            args=args,
            captures=captures,
            push_sizes=[push.size_in(place) for push in program.pushes],
            name=self.signature.name,
        )
        if program.only_reads:
            tf_compat.mark_resources_read_only(results.activation.op)
        return results

    def _check_reachable(self, tensor: tf.Tensor) -> None:
        """Raises if a captured tensor does not exist where the call is made."""
        if isinstance(tensor, tf_compat.EagerTensor):
            return
        if tf.executing_eagerly():
            here = "eagerly"
        elif tensor.graph in tf_compat.graph_chain(tf_compat.default_graph()):
            return
        else:
            here = f"in '{tf_compat.default_graph().name}'"
        raise SubGraphError(
            f"SubGraph '{self.signature.name}' captured {tensor.name} of the function "
            f"'{tensor.graph.name}', but is called {here}, where that tensor does not "
            "exist. Call it inside that function, or make the tensor an input."
        )


def _computes(
    push: LazyPush, choices: Choices
) -> Callable[[list[tf.Tensor]], tf.Tensor]:
    """Returns what computes the rows of a push that waits."""
    entry = push.definition
    program = close(entry, lambda _: entry, state_of_rules())
    root_call = RootCall(entry.signature, program, choices, nobody())
    return lambda rows: root_call(rows, mapped=True)[0]


def _max_bytes(options: Options) -> int:
    """Returns the limit as an attribute of a root op."""
    return -1 if options.max_bytes == "auto" else options.max_bytes or 0
