"""What works over lattices have in common: tables, and how a position mixes.

A position has a candidate g, a gate i, the memory m' of the position before, and the
memories m_k of the words that end there. With s the logistic function and x the
embedding of its character:

    a_k = s(x link_x_kernel + m_k link_c_kernel + link_bias)
    mixed(i, g) = (e^i g + sum of e^a_k m_k) / (e^i + sum of e^a_k)
                = (1 - i) m' + i g, if no word ends there
"""

from __future__ import annotations

from benchmarks.works.lattices import VOCABULARY

Shapes = dict[str, tuple[int, ...]]


def embeddings(units: int) -> Shapes:
    """Returns the shapes of the tables of characters and of words."""
    table = (VOCABULARY, units)
    return {"embedding": table, "word_embedding": table}


def links(units: int) -> Shapes:
    """Returns the shapes of the weights of links."""
    return {
        "link_x_kernel": (units, units),
        "link_c_kernel": (units, units),
        "link_bias": (units,),
    }
