"""The LSTM, which all works along sequences have.

With s the logistic function, x the vector of a step, and h and c of the step before:

    i, f, u, o = split(x kernel + h recurrent + bias, 4)
    c = s(f) c + s(i) tanh(u)
    h = s(o) tanh(c)
"""

from __future__ import annotations

Shapes = dict[str, tuple[int, ...]]


def lstm(name: str, of: int, units: int) -> Shapes:
    """Returns the shapes of an LSTM's weights.

    Args:
        name: Before the names of the weights.
        of: The length of a step's vector.
        units: The length of h.
    """
    return {
        f"{name}_kernel": (of, 4 * units),
        f"{name}_recurrent": (units, 4 * units),
        f"{name}_bias": (4 * units,),
    }


def both_lstms(of: int, units: int, name: str = "") -> Shapes:
    """Returns those of an LSTM in each direction."""
    return lstm(f"{name}forward", of, units) | lstm(f"{name}backward", of, units)
