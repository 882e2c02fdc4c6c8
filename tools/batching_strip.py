"""Draws docs/pictures/batching_strip.png: one step of two trees, launch by launch.

    python -m tools.batching_strip

It is of a real run. Each invocation prints its node, so that the lines say which nodes
were in a launch; how many lines a launch has is in the trace of the run.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("agg")
import tensorflow as tf
from matplotlib import pyplot

import recursive_tf as rtf

PICTURE = pathlib.Path(__file__).resolve().parents[1] / "docs/pictures"
PICTURE /= "batching_strip.png"
SENTENCES = [["A", [["lovely", "film"], "indeed"]], [["not", "bad"], ["at", "all"]]]
SIZE = 8
WORDS = {"look": "look", "leaf": "read words", "inner": "join children"}
COLORS = {"look": "#9aa5b1", "leaf": "#2f9e62", "inner": "#d9480f"}


class Launch(NamedTuple):
    """A launch: which part of the body ran, for which nodes.

    Attributes:
        part: "look", "leaf" or "inner".
        nodes: By number, in the order of the launch's rows.
    """

    part: str
    nodes: list[int]


def program(trees: Any, lines: str) -> Any:
    """Returns a TreeRNN that writes each node that it visits to a file."""
    vectors = tf.random.stateless_normal([int(trees.num_nodes), SIZE], [1, 2])
    weights = tf.random.stateless_normal([2 * SIZE, SIZE], [3, 4])

    def tell(part: str, node: tf.Tensor) -> None:
        tf.print(part, node, output_stream=lines)

    with rtf.SubGraph("encode", executor="batched") as encode:
        node = encode.input(tf.int32)
        tell("look", node)

        def leaf() -> tf.Tensor:
            tell("leaf", node)
            return tf.gather(vectors, node)

        def inner() -> tf.Tensor:
            left = encode(tf.gather(trees.left, node))
            right = encode(tf.gather(trees.right, node))
            with tf.control_dependencies([left, right]):
                tell("inner", node + 0 * tf.cast(left[0], tf.int32))
            both = tf.concat([left, right], 0)
            return tf.tanh(tf.linalg.matvec(weights, both, transpose_a=True))

        encode.output(tf.cond(tf.gather(trees.left, node) < 0, leaf, inner))
    return encode


def launches(trees: Any) -> list[Launch]:
    """Runs the program once, and returns its launches in order."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        encode = program(trees, f"file://{folder / 'lines'}")
        with rtf.trace(folder / "trace.json"):
            encode.map(trees.roots)
        lines = (folder / "lines").read_text(encoding="utf-8").split("\n")
        events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    forward = [event for event in events if event.get("cat") == "forward"]
    rows = [event["args"]["rows"] for event in sorted(forward, key=lambda e: e["ts"])]
    told = iter(line.split() for line in lines if line)
    found = []
    for count in rows:
        of_launch = [next(told) for _ in range(count)]
        (part,) = {part for part, _ in of_launch}
        found.append(Launch(part, [int(node) for _, node in of_launch]))
    return found


def places(trees: Any) -> dict[int, tuple[float, float]]:
    """Returns where each node is drawn: leaves side by side, parents above them."""
    left, right = trees.left.numpy(), trees.right.numpy()
    found: dict[int, tuple[float, float]] = {}

    def place(node: int, x: float, depth: int) -> float:
        if left[node] < 0:
            found[node] = (x, -depth)
            return x + 1
        between = place(int(left[node]), x, depth + 1)
        after = place(int(right[node]), between, depth + 1)
        middle = (found[int(left[node])][0] + found[int(right[node])][0]) / 2
        found[node] = (middle, -depth)
        return after

    x = 0.0
    for root in trees.roots.numpy():
        x = place(int(root), x, 0) + 0.6
    return found


def draw(trees: Any, run: list[Launch]) -> Any:
    """Returns a figure with a panel for each launch."""
    columns = 2
    rows = -(-len(run) // columns)
    figure, panels = pyplot.subplots(
        rows, columns, figsize=(8, 1.9 * rows), layout="constrained", squeeze=False
    )
    done: set[int] = set()
    for panel in panels.flat[len(run) :]:
        panel.axis("off")
    for number, (panel, launch) in enumerate(zip(panels.flat, run, strict=False), 1):
        draw_launch(panel, trees, launch, done)
        count = f"{len(launch.nodes)} row" + "s" * (len(launch.nodes) > 1)
        panel.set_title(f"{number}. {WORDS[launch.part]}: {count}", fontsize=11)
        if launch.part != "look":
            done |= set(launch.nodes)
    return figure


def draw_launch(panel: Any, trees: Any, launch: Launch, done: set[int]) -> None:
    """Draws the trees; nodes of the launch are large, those that are done are dark."""
    at, tokens = places(trees), trees.tokens.numpy()
    for child, parent in ((trees.left, trees.left), (trees.right, trees.right)):
        for node, below in enumerate(child.numpy()):
            if parent[node] >= 0:
                xs, ys = zip(at[node], at[int(below)], strict=True)
                panel.plot(xs, ys, color="#ced4da", linewidth=1, zorder=1)
    for node, (x, y) in at.items():
        is_now = node in launch.nodes
        color = COLORS[launch.part] if is_now else "#495057"
        face = color if is_now or node in done else "white"
        panel.scatter(
            x, y, s=130 if is_now else 45, color=face, edgecolors=color, zorder=2
        )
        if trees.left[node] < 0:
            word = tokens[node].decode()
            panel.annotate(
                word, (x, y), (0, -15), textcoords="offset points", ha="center", size=8
            )
    panel.margins(0.06, 0.25)
    panel.axis("off")


def main() -> int:
    """Runs the command; returns its exit code."""
    trees = rtf.data.from_nested(SENTENCES)
    run = launches(trees)
    draw(trees, run).savefig(PICTURE, dpi=130)
    for part, nodes in run:
        print(part, nodes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
