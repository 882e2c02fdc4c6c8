"""The systems that are compared on ED-Batch's workloads."""

from __future__ import annotations

from collections.abc import Collection

from benchmarks.peers import environments
from benchmarks.works.texts import Texts
from benchmarks.yardstick.systems import OURS, System

_HERE = "benchmarks.ed_batch.peers"

SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System(OURS, "recursive_tf", f"{_HERE}.ours"),
        System("keras_by_hand", "Keras", f"{_HERE}.keras_by_hand", by_hand=True),
        System(
            "torch_by_hand",
            "PyTorch",
            f"{_HERE}.torch_by_hand",
            "torch",
            environments.environment_variables("torch"),
            by_hand=True,
        ),
        System(
            "dynet_autobatch",
            "DyNet, autobatch",
            f"{_HERE}.dynet_autobatch",
            "dynet",
        ),
    )
}


def systems_of(inputs: type, names: Collection[str]) -> list[System]:
    """Returns those of the named systems that have a program for these inputs.

    By hand, sequences are written here; the yardstick has trees.
    """
    chosen = [system for system in SYSTEMS.values() if system.name in names]
    return [system for system in chosen if inputs is Texts or not system.by_hand]
