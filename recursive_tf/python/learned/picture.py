"""The picture of automata, after figure 2 of ED-Batch (Chen et al. 2023)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from recursive_tf.optional import optional_module
from recursive_tf.python.learned.automaton import Automaton, State

_RADIUS = 0.32
_COLUMN = 1.7
_ROW = 1.1
# A line of the legend, in the same units, which are inches.
_LINE = 0.2
_ARROW = "#3b6ea8"
_FILL = "#eaf1f8"

_Point = tuple[float, float]


def picture(automata: Sequence[Automaton]) -> Any:
    """Returns a figure of matplotlib with automata, one below the other.

    Raises:
        ImportError: If matplotlib is not installed.
    """
    figures = optional_module("matplotlib.figure", "The picture of a policy")
    places = [_places(automaton) for automaton in automata]
    heights = [
        _height(p) + _LINE * (len(a.blocks) + 2)
        for a, p in zip(automata, places, strict=True)
    ]
    width = max(_width(p) for p in places)
    figure = figures.Figure(figsize=(max(width, 5), sum(heights)), layout="constrained")
    axes = figure.subplots(len(automata), squeeze=False, height_ratios=heights)[:, 0]
    for automaton, of_states, axis in zip(automata, places, axes, strict=True):
        _draw(automaton, of_states, axis)
    return figure


def _places(automaton: Automaton) -> dict[State, _Point]:
    """Returns where each state is: in the column of how far it is from the first."""
    columns: dict[State, int] = {}
    for state, _, after in automaton.steps:
        column = columns.setdefault(state, 0)
        columns.setdefault(after, column + 1)
    # The end is behind all.
    columns[()] = max(columns.values(), default=0)
    if list(columns.values()).count(columns[()]) > 1:
        columns[()] += 1
    rows: dict[int, int] = {}
    places = {}
    for state, column in columns.items():
        row = rows.get(column, 0)
        rows[column] = row + 1
        places[state] = (column * _COLUMN, -row * _ROW)
    return places


def _width(places: Mapping[State, _Point]) -> float:
    return max(x for x, _ in places.values()) + _COLUMN


def _height(places: Mapping[State, _Point]) -> float:
    return _ROW - min(y for _, y in places.values())


def _draw(automaton: Automaton, places: Mapping[State, _Point], axis: Any) -> None:
    letters = [_letter(block) for block in range(len(automaton.blocks))]
    for state, blocks in automaton.launched().items():
        text = ", ".join(letters[block] for block in dict.fromkeys(state))
        chosen = "/".join(letters[block] for block in blocks)
        _draw_state(axis, places[state], f"{{{text}}}\n{chosen}")
    _draw_state(axis, places[()], "end")
    counts: dict[tuple[State, State], int] = {}
    for (state, _, after), count in automaton.steps.items():
        counts[state, after] = counts.get((state, after), 0) + count
    most = max(counts.values(), default=1)
    for (state, after), count in counts.items():
        width = 0.6 + 2.4 * math.sqrt(count / most)
        _draw_step(axis, places[state], places[after], width)
    named = zip(letters, automaton.blocks, strict=True)
    legend = [f"{letter}  {block}" for letter, block in named]
    axis.set_title(
        f"SubGraph '{automaton.subgraph}': {automaton.launches['fsm']} launches",
        fontsize=10,
        loc="left",
    )
    axis.text(
        0, -0.02, "\n".join(legend), transform=axis.transAxes, fontsize=8, va="top"
    )
    axis.set_xlim(-_COLUMN / 2, _width(places) - _COLUMN / 2)
    axis.set_ylim(_ROW / 2 - _height(places), _ROW / 2 + _RADIUS)
    axis.set_aspect("equal")
    axis.set_axis_off()


def _letter(block: int) -> str:
    """Returns a short name of a block, as columns of a sheet have them.

    >>> _letter(0), _letter(25), _letter(26)
    ('A', 'Z', 'AA')
    """
    head, last = divmod(block, 26)
    return (_letter(head - 1) if head else "") + chr(ord("A") + last)


def _draw_state(axis: Any, place: _Point, text: str) -> None:
    circle = {"boxstyle": "round,pad=0.45", "facecolor": _FILL, "edgecolor": _ARROW}
    axis.text(*place, text, ha="center", va="center", fontsize=8, bbox=circle)


def _draw_step(axis: Any, start: _Point, end: _Point, width: float) -> None:
    if start == end:
        # Out at the top left, and back in at the top right.
        x, y = start
        start, end = (x - 0.15, y + _RADIUS * 0.8), (x + 0.15, y + _RADIUS * 0.8)
        arc, shrink = "arc3,rad=-1.6", 0.0
    else:
        # Forward and back side by side.
        arc, shrink = "arc3,rad=0.18", 19.0
    arrow = {
        "arrowstyle": "-|>",
        "color": _ARROW,
        "linewidth": width,
        "connectionstyle": arc,
        "shrinkA": shrink,
        "shrinkB": shrink,
    }
    axis.annotate("", xy=end, xytext=start, arrowprops=arrow)
