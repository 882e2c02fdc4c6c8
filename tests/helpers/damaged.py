"""Saved programs with other numbers in them, loaded and run.

Usage: python tests/helpers/damaged.py FIRST COUNT. It runs mutants from FIRST on, and
says of each that it begins. A mutant may be refused, fail or run, but not end the
process, take much memory, or run on once it is cancelled.
"""

import os
import random
import resource
import signal
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

import recursive_tf as rtf

SECONDS = 3
# A mutant that is still there so long after it was to be cancelled ends the process.
SECONDS_TO_CANCEL = 20
GIGABYTES = 6
# What a program may do is not damaged: a recursion that never ends is one.
KEPT = ("max_depth", "max_activations")
NUMBERS = [-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 7, 2**31 - 1, 2**31, 2**62]
TYPES = [tf.float32, tf.float64, tf.int32, tf.int64, tf.bool, tf.string, tf.variant]
TEXTS = [b"", b"collected", b"summed", b"depth", b"no such"]
SHAPES = [None, [], [0], [None], [3], [2, 3], [2**40, 2**40]]
LIMITS = rtf.Options(max_depth=100, max_activations=1000)
LEFT, RIGHT = [-1, -1, -1, 0, 3], [-1, -1, -1, 1, 2]


def tree(executor, w):
    """Returns a SubGraph of a tree that pushes, its arguments, and its pushes."""
    choices = {"executor": executor, "options": LIMITS}
    with rtf.SubGraph("tree", output_signature=tf.TensorSpec([3]), **choices) as f:
        n = f.input(tf.int32)

        def inner():
            children = f(tf.gather(LEFT, n)) + f(tf.gather(RIGHT, n))
            return tf.tanh(tf.linalg.matvec(w, children))

        h = tf.cond(tf.gather(LEFT, n) < 0, lambda: tf.gather(w, n), inner)
        f.push("h", h, index=n, size=5)
        f.push("n", n, index=n, size=5)
        f.output(h)
    return f, [tf.constant([4])], True


def one_call(executor, w):
    f, _, pushes = tree(executor, w)
    return f, [tf.constant(4)], pushes


def loop(executor, w):
    with rtf.SubGraph("loop", executor=executor, options=LIMITS) as f:
        n, x = f.input(tf.int32), f.input(tf.TensorSpec([3]))
        body = lambda i, x: (i + 1, tf.sin(tf.linalg.matvec(w, x)))  # noqa: E731
        f.output(tf.while_loop(lambda i, _: i < n, body, (0, x))[1])
    return f, [tf.constant([2, 3]), tf.ones([2, 3])], False


def lists(executor, w):
    choices = {"executor": executor, "options": LIMITS}
    with rtf.SubGraph("lists", output_signature=tf.TensorSpec([3]), **choices) as f:
        n = f.input(tf.int32)

        def inner():
            return tf.reduce_sum(f.map(tf.range(n)), axis=0) * w[0]

        f.output(tf.cond(n < 1, lambda: w[1], inner))
    return f, [tf.constant([2, 3])], False


def memo(executor, w):
    choices = {"executor": executor, "options": LIMITS, "memo": lambda n: n}
    with rtf.SubGraph("memo", output_signature=tf.TensorSpec([3]), **choices) as f:
        n = f.input(tf.int32)
        f.output(tf.cond(n < 2, lambda: w[0], lambda: f(n - 1) + f(n - 2) * w[1]))
    return f, [tf.constant([4, 3])], False


def late(executor, w):
    """Returns a SubGraph of late parts: of several blocks, of one, and of a result."""
    both = (tf.TensorSpec([3]), tf.TensorSpec([3]))
    choices = {"executor": executor, "options": LIMITS}
    with rtf.SubGraph("late", output_signature=both, **choices) as f:
        n = f.input(tf.int32)
        unit = w / tf.norm(w)

        def inner():
            return tf.linalg.matvec(tf.sqrt(unit), f(n - 1)[0]) / (1.0 + w[1] * w[2])

        def never():
            return tf.linalg.matvec(tf.linalg.inv(w), tf.cast([n, n, n], tf.float32))

        leaf = lambda: tf.exp(unit[0] * unit[1]) * tf.cast(n + 1, tf.float32)  # noqa: E731
        h = tf.cond(n < 1, leaf, lambda: tf.cond(n > 9, never, inner))
        f.output((h, tf.sqrt(w[0] + 1.0)))
    return f, [tf.constant([2, 3])], False


PROGRAMS = [tree, one_call, loop, lists, memo, late]


def saved(program, executor, learns):
    """Returns a graph that calls a program, or differentiates it; what to run."""

    @tf.function
    def run():
        w = tf.reshape(tf.range(9.0) / 9, [3, 3])
        f, arguments, pushes = program(executor, w)
        call = f if program is one_call else f.map
        more = {"with_pushed": True} if pushes else {}
        with tf.GradientTape() as tape:
            tape.watch([w, *(a for a in arguments if a.dtype.is_floating)])
            results = tf.nest.flatten(call(*arguments, **more))
            loss = tf.add_n([tf.reduce_sum(tf.cast(r, tf.float32)) for r in results])
        return [tape.gradient(loss, w), *results] if learns else results

    graph = run.get_concrete_function().graph
    return graph.as_graph_def(), [tensor.name for tensor in graph.outputs]


def all_saved():
    """Returns each program in each executor, with its gradient and without."""
    return [
        saved(program, executor, learns)
        for program in PROGRAMS
        for executor in ("batched", "dataflow")
        for learns in (True, False)
    ]


class Mutation:
    """Changes attributes of the ops of this library in a graph, at random."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def change(self, graph):
        """Changes one to four attributes; returns what was changed."""
        nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
        own = [n for n in nodes if n.op.startswith(("Recursive", "StatelessRecursive"))]
        roots = [n for n in own if "Invoke" in n.op]
        functions = [f.signature.name for f in graph.library.function]
        changed = []
        # Of a graph that was changed before, what runs it may be gone.
        for _ in range(self._random.randint(1, 4) if roots else 0):
            node = self._random.choice(roots if self._random.random() < 0.8 else own)
            names = [a for a in node.attr if a[0] != "_" and a not in KEPT]
            if not names:
                continue
            name = self._random.choice(sorted(names))
            self._change(node.attr[name], functions)
            changed.append(f"{node.op}.{name}")
        return changed

    def _change(self, value, functions):
        kind = value.WhichOneof("value")
        if kind == "list":
            self._change_list(value.list, functions)
        elif kind == "i":
            value.i = self._number([value.i])
        elif kind == "b":
            value.b = not value.b
        elif kind == "s":
            value.s = self._random.choice(TEXTS)
        elif kind == "type":
            value.type = self._type()
        elif kind == "shape":
            value.shape.CopyFrom(self._shape())
        elif kind == "func":
            value.func.name = self._random.choice(functions)

    def _change_list(self, value, functions):
        for kind, make in (
            ("i", lambda: self._number(value.i)),
            ("b", lambda: self._random.random() < 0.5),
            ("s", lambda: self._random.choice(TEXTS)),
            ("type", self._type),
        ):
            items = list(getattr(value, kind))
            if items:
                self._change_items(items, make)
                del getattr(value, kind)[:]
                getattr(value, kind).extend(items)
        if value.shape:
            self._random.choice(list(value.shape)).CopyFrom(self._shape())
        if value.func:
            self._random.choice(list(value.func)).name = self._random.choice(functions)

    def _change_items(self, items, make):
        for _ in range(self._random.randint(1, 3)):
            place = self._random.randrange(len(items) + 1)
            what = self._random.random()
            if what < 0.1 or place == len(items):
                items.insert(place, make())
            elif what < 0.2 and len(items) > 1:
                del items[place]
            else:
                items[place] = make()

    def _number(self, others):
        number = self._random.choice(list(others))
        changed = self._random.choice(
            [number, number + 1, number - 1, ~number, self._random.choice(NUMBERS)]
        )
        return min(max(changed, -(2**63)), 2**63 - 1)

    def _type(self):
        return self._random.choice(TYPES).as_datatype_enum

    def _shape(self):
        return tf.TensorShape(self._random.choice(SHAPES)).as_proto()


def session(graph):
    """Returns what runs a graph, and cancels it after a while: a session alone may."""
    v1 = tf.compat.v1  # noqa: TID251
    config = v1.ConfigProto(operation_timeout_in_ms=1000 * SECONDS)
    # TensorFlow's optimizers take most of the time, and are not what is tried.
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return v1.Session(graph=graph, config=config)


def run(graph_def, results):
    """Runs a graph, as one that was loaded."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with session(graph) as running:
            return running.run(results)


def run_mutant(number, programs):
    """Returns what became of a mutant."""
    graph_def, results = programs[number % len(programs)]
    mutant = type(graph_def)()
    mutant.CopyFrom(graph_def)
    say("mutant", number, *Mutation(number).change(mutant))
    return outcome_of(lambda: run(mutant, results))


def outcome_of(attempt):
    """Returns the error of what is tried, in words. It ends the process if it hangs."""
    signal.alarm(SECONDS + SECONDS_TO_CANCEL)
    try:
        attempt()
    except (tf.errors.OpError, ValueError, TypeError) as error:
        return type(error).__name__
    finally:
        signal.alarm(0)
    return "ran"


def say(*words):
    """Prints at once: the process may end before it would be written."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def limit_memory():
    """Takes memory away, beyond what TensorFlow takes: an allocation fails then."""
    if "LD_PRELOAD" not in os.environ:
        resource.setrlimit(resource.RLIMIT_DATA, (GIGABYTES * 2**30,) * 2)


def main(first, count):
    programs = all_saved()
    for graph_def, results in programs:
        run(graph_def, results)
    limit_memory()
    outcomes = {}
    for number in range(first, first + count):
        outcome = run_mutant(number, programs)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if os.environ.get("DAMAGED_VERBOSE"):
            say("  ", outcome)
    say(outcomes)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
