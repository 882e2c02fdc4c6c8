"""What a work needs at least: operations, bytes, and so time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.works.trees import NO_CHILD
from benchmarks.works.work import CLASSES, Kind, Work

FLOAT_BYTES = 4


class Needs(NamedTuple):
    """Of one step, in the mean of the batches of a pass.

    Attributes:
        flops: Operations of products: a multiplication and an addition are two.
        bytes: That move between memory and processor if nothing is moved twice.
    """

    flops: float
    bytes: float


def needs_of(work: Work, size: int, mode: str) -> Needs:
    """Returns what a step of a batch size needs.

    In training each product is three: itself, and those of both gradients. Every node
    counts, also a leaf whose word another leaf has, and each of its parents: who
    computes such leaves once, and multiplies them once, needs less. Of bytes it counts
    the weights and the vectors of distinct words, read once and in training written
    once, and what a node hands to its parent or keeps, written once and read once.
    """
    steps = [_needs(work, trees, mode) for trees in work.batches(size)]
    return Needs(*map(float, np.mean(steps, axis=0)))


def _needs(work: Work, trees: np.ndarray, mode: str) -> Needs:
    recursion, batch = work.recursion, work.trees.batch(trees)
    is_leaf = batch.left == NO_CHILD
    leaves, internal = int(is_leaf.sum()), int((~is_leaf).sum())
    labeled = len(is_leaf) if recursion.loss_at == "nodes" else len(trees)
    is_training = mode == "training"
    flops = 2 * recursion.hidden * CLASSES * labeled
    numbers = 2 * CLASSES * labeled
    for count, kind in ((leaves, recursion.leaf), (internal, recursion.internal)):
        flops += count * _flops(kind)
        numbers += 2 * count * (kind.state + (kind.kept if is_training else 0))
    words = len(np.unique(batch.word[is_leaf]))
    weights = sum(w.size for name, w in work.weights.items() if name != "embedding")
    weights += words * recursion.embedding
    numbers += weights * (2 if is_training else 1)
    return Needs(flops * (3 if is_training else 1), FLOAT_BYTES * numbers)


def _flops(kind: Kind) -> int:
    return 2 * kind.product[0] * kind.product[1] if kind.product else 0


def bounds(needs: Needs, limits: dict[str, Any]) -> dict[str, float]:
    """Returns the seconds that no step can be faster than, by what it would wait for.

    Args:
        needs: Of the step.
        limits: What `machine.measure` found.
    """
    return {
        "products": needs.flops / limits["gemm_peak"],
        "memory": needs.bytes / limits["copy"],
        "call": limits["call_s"],
    }
