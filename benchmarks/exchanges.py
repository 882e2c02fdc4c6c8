"""What two workers take to exchange the gradients of a step, by three ways.

    python -m benchmarks.exchanges

The gradients are those of the TreeLSTM of the Stanford Sentiment Treebank: dense ones,
and some rows of the embedding. They are summed by TensorFlow's own exchanges and by
those of rtf.distribute, in turn; and by the latter in other processes, which give freed
memory back to the kernel. Each process has one thread. Prints medians of rounds.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from tqdm import tqdm

import recursive_tf as rtf
from benchmarks.scaling.processes import use_one_thread
from benchmarks.timing import seconds_of
from benchmarks.treelstm_model import CLASSES, TREEBANK, Size
from models.running import local_cluster
from models.running.distribution import cluster_resolver

WORKERS = 2
ROWS = (200, 600, 1900)  # Of steps of about 10, 50 and 250 trees.
OWN, TOGETHER, COLD = "TensorFlow's", "rtf.distribute", "the same, memory given back"
# Glibc's default for 64 bits. With any such variable malloc is left as it is.
GLIBC = {"MALLOC_ARENA_TEST": "8"}
WARM = 3

Seconds = dict[str, list[float]]


def shapes_of(size: Size) -> list[tuple[int, ...]]:
    """Returns the shapes of the dense gradients."""
    h = size.hidden
    of_leaf = [(size.embedding, 3 * h), (3 * h,)]
    of_node = [(2 * h, 5 * h), (5 * h,)]
    return [*of_leaf, *of_node, (h, CLASSES), (CLASSES,)]


def gradients(rows: int, size: Size) -> list[Any]:
    """Returns some of a worker."""
    dense = [tf.ones(shape) for shape in shapes_of(size)]
    indices = tf.range(rows) * (size.vocabulary // rows)
    return [*dense, tf.IndexedSlices(tf.ones([rows, size.embedding]), indices)]


def by_tensorflow(parts: list[Any]) -> Any:
    """Sums gradients over replicas as `tf.distribute` does by itself."""
    context = tf.distribute.get_replica_context()
    return context.all_reduce(tf.distribute.ReduceOp.SUM, parts)


def summed(
    strategy: tf.distribute.Strategy, way: Callable[[list[Any]], Any], rows: int
) -> Callable[[], object]:
    """Returns a function that sums gradients once."""

    def of_replica() -> list[tf.Tensor]:
        return tf.nest.flatten(way(gradients(rows, TREEBANK)), expand_composites=True)

    return tf.function(lambda: strategy.run(of_replica), autograph=False)


def measure(rows: Sequence[int], repeats: int) -> Seconds:
    """Returns the seconds of each way in a process of a cluster, of each number."""
    resolver = cluster_resolver()
    rtf.distribute.wait_for_cluster(resolver)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(resolver)
    ways = {OWN: by_tensorflow, TOGETHER: rtf.distribute.sum_over_replicas}
    found: Seconds = {}
    for name, way in ways.items():
        found[name] = []
        for number in rows:
            run = summed(strategy, way, number)
            for _ in range(WARM):
                run()
            runs = [seconds_of(run) for _ in range(repeats)]
            found[name].append(statistics.median(runs))
    return found


def of_cluster(rows: Sequence[int], repeats: int) -> Seconds:
    """Returns what the first worker of a cluster of this machine measures."""
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "found.json")
        command = [sys.executable, "-m", "benchmarks.exchanges", f"--worker={path}"]
        command += [f"--repeats={repeats}", "--rows", *map(str, rows)]
        failed = local_cluster.run(
            command, {"worker": WORKERS}, pathlib.Path(name, "logs"), is_shown=False
        )
        if failed is not None:
            raise RuntimeError(f"{failed}:\n{failed.log.read_text(errors='replace')}")
        found: Seconds = json.loads(path.read_text(encoding="utf-8"))
        return found


@contextlib.contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Sets variables of processes that are started within."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def in_rounds(rows: Sequence[int], rounds: int, repeats: int) -> Seconds:
    """Returns medians of rounds, in each of which all is measured."""
    rounds_of: dict[str, list[list[float]]] = {OWN: [], TOGETHER: [], COLD: []}
    for _ in tqdm(range(rounds), desc="rounds", leave=False):
        for name, seconds in of_cluster(rows, repeats).items():
            rounds_of[name].append(seconds)
        with environment(GLIBC):
            rounds_of[COLD].append(of_cluster(rows, repeats)[TOGETHER])
    return {
        name: [statistics.median(of_rows) for of_rows in zip(*found, strict=True)]
        for name, found in rounds_of.items()
    }


def main(arguments: Sequence[str]) -> None:
    """Prints the table, or measures as one of the processes."""
    parser = argparse.ArgumentParser(description="exchanges of a step's gradients")
    parser.add_argument("--rounds", type=int, default=3, help="clusters of each kind")
    parser.add_argument("--repeats", type=int, default=50, help="steps of a cluster")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="of a worker")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.worker:
        found = measure(chosen.rows, chosen.repeats)
        if cluster_resolver().task_id == 0:
            text = json.dumps(found)
            pathlib.Path(chosen.worker).write_text(text, encoding="utf-8")
        return
    use_one_thread()
    medians = in_rounds(chosen.rows, chosen.rounds, chosen.repeats)
    print(f"| rows of a worker | {' | '.join(f'{name}, ms' for name in medians)} |")
    print(f"|---|{'---|' * len(medians)}")
    for number, *seconds in zip(chosen.rows, *medians.values(), strict=True):
        print(f"| {number} | {' | '.join(f'{1e3 * s:.1f}' for s in seconds)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
