"""The systems that are compared on workloads along sequences."""

from __future__ import annotations

from benchmarks.peers import environments
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
