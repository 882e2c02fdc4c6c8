"""Whether two systems compute the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Five digits.
TOLERANCE = 1e-5


def disagreement(answer: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Returns where an answer to a check is not as expected; "" if it is.

    Args:
        answer: Losses, and norms of gradients by the name of the weights.
        expected: The same of the system to agree with.
    """
    found, wanted = _numbers(answer), _numbers(expected)
    if missing := wanted.keys() ^ found.keys():
        return f"It has not the same weights: {', '.join(sorted(missing))}."
    for name, number in wanted.items():
        if not abs(found[name] - number) <= TOLERANCE * abs(number):
            return f"{name} is {found[name]:.7g}, and has to be {number:.7g}."
    return ""


def _numbers(answer: Mapping[str, Any]) -> dict[str, float]:
    losses = {name: answer[name] for name in ("loss", "inferred")}
    norms = {f"gradient of {k}": norm for k, norm in answer["norms"].items()}
    return losses | norms
