"""What two workers take to exchange the gradients of a step, by three ways.

    python -m benchmarks.exchanges

The gradients are those of the TreeLSTM of the Stanford Sentiment Treebank: dense ones,
and some rows of the embedding. They are summed by TensorFlow's own exchanges and by
those of rtf.distribute; and by the latter in other processes, which give freed memory
back to the kernel. Each process has one thread. Prints medians of rounds, in each of
which all of that is measured.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tqdm import tqdm

import recursive_tf as rtf
from benchmarks.scaling.processes import run_workers, use_one_thread
from benchmarks.scaling.worker import make_model
from benchmarks.timing import seconds_of
from benchmarks.treelstm_model import TREEBANK
from recursive_tf.distribute import Host

WORKERS = 2
ROWS = (200, 600, 1900)  # Of steps of about 10, 50 and 250 trees.
# With any such variable malloc is left as it is; this is glibc's default for 64 bits.
AS_GLIBC = Host(prefix=("env", "MALLOC_ARENA_TEST=8"))
COLD = "the same, memory given back"
WARM = 3

Seconds = dict[str, list[float]]


def by_tensorflow(parts: list[Any]) -> Any:
    """Sums gradients over replicas as `tf.distribute` does by itself."""
    context = tf.distribute.get_replica_context()
    return context.all_reduce(tf.distribute.ReduceOp.SUM, parts)


WAYS: dict[str, Callable[[list[Any]], Any]] = {
    "TensorFlow's": by_tensorflow,
    "rtf.distribute": rtf.distribute.sum_over_replicas,
}
_, TOGETHER = WAYS


def dense_shapes() -> list[tuple[int, ...]]:
    """Returns the shapes of all of the model's variables but the embedding."""
    variables = make_model(TREEBANK, TREEBANK.vocabulary).trainable_variables
    shapes = [tuple(variable.shape) for variable in variables]
    return [shape for shape in shapes if shape[0] != TREEBANK.vocabulary]


def gradients(dense: Sequence[tuple[int, ...]], rows: int) -> list[Any]:
    """Returns a worker's: dense ones, and some rows of the embedding."""
    indices = tf.range(rows) * (TREEBANK.vocabulary // rows)
    values = tf.ones([rows, TREEBANK.embedding])
    return [*map(tf.ones, dense), tf.IndexedSlices(values, indices)]


def measure(ways: Sequence[str], rows: Sequence[int], repeats: int) -> Seconds:
    """Returns the seconds of some ways in a process of a cluster, by number of rows."""
    resolver = rtf.distribute.cluster_resolver()
    rtf.distribute.wait_for_cluster(resolver)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(resolver)
    dense = dense_shapes()

    def median(way: str, number: int) -> float:
        def of_replica() -> list[tf.Tensor]:
            summed = WAYS[way](gradients(dense, number))
            return tf.nest.flatten(summed, expand_composites=True)

        run = tf.function(lambda: strategy.run(of_replica), autograph=False)
        for _ in range(WARM):
            run()
        return statistics.median(seconds_of(run) for _ in range(repeats))

    return {way: [median(way, number) for number in rows] for way in ways}


def of_cluster(
    host: Host, ways: Sequence[str], rows: Sequence[int], repeats: int
) -> Seconds:
    """Returns what the first worker of a cluster of this machine measures."""
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "found.json")
        command = [sys.executable, "-m", "benchmarks.exchanges", f"--worker={path}"]
        command += [f"--repeats={repeats}", "--rows", *map(str, rows)]
        command += ["--ways", *ways]
        run_workers(command, WORKERS, pathlib.Path(name, "logs"), [host])
        found: Seconds = json.loads(path.read_text(encoding="utf-8"))
        return found


def in_rounds(rows: Sequence[int], rounds: int, repeats: int) -> Seconds:
    """Returns medians of rounds, in each of which all is measured."""
    found = []
    for _ in tqdm(range(rounds), desc="rounds", leave=False):
        warm = of_cluster(Host(), list(WAYS), rows, repeats)
        cold = of_cluster(AS_GLIBC, [TOGETHER], rows, repeats)
        found.append(warm | {COLD: cold[TOGETHER]})
    return {name: medians([seconds[name] for seconds in found]) for name in found[0]}


def medians(rounds: Sequence[Sequence[float]]) -> list[float]:
    """Returns the median of each place over rounds."""
    return [statistics.median(of_place) for of_place in zip(*rounds, strict=True)]


def main(arguments: Sequence[str]) -> None:
    """Prints the table, or measures as one of the processes."""
    parser = argparse.ArgumentParser(description="exchanges of a step's gradients")
    parser.add_argument("--rounds", type=int, default=3, help="clusters of each kind")
    parser.add_argument("--repeats", type=int, default=50, help="steps of a cluster")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="of a worker")
    # What the workers of this benchmark are given.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--ways", nargs="+", default=[], help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.worker:
        found = measure(chosen.ways, chosen.rows, chosen.repeats)
        if rtf.distribute.cluster_resolver().task_id == 0:
            text = json.dumps(found)
            pathlib.Path(chosen.worker).write_text(text, encoding="utf-8")
        return
    use_one_thread()
    found = in_rounds(chosen.rows, chosen.rounds, chosen.repeats)
    print(f"| rows of a worker | {' | '.join(f'{name}, ms' for name in found)} |")
    print(f"|---|{'---|' * len(found)}")
    for number, *seconds in zip(chosen.rows, *found.values(), strict=True):
        print(f"| {number} | {' | '.join(f'{1e3 * s:.1f}' for s in seconds)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
