"""The systems that are compared."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.peers import environments

OURS = "recursive_tf"
# Says where our steps spend their time, beside the systems.
PARTS = "parts"
# The environment that this command itself runs in.
HERE = ""
_OPTIONS = "RTF_BENCHMARK_OPTIONS"
_GEMM_PEAK = "RTF_BENCHMARK_GEMM_PEAK"


class NotMadeError(RuntimeError):
    """There is no environment for a system."""


class System(NamedTuple):
    """A system, and how to start it.

    Attributes:
        name: In files.
        title: In tables.
        module: What its interpreter runs.
        environment: Which of `benchmarks.peers.environments` it needs.
        variables: What is in its environment besides.
        by_hand: Whether somebody batched the program by hand.
    """

    name: str
    title: str
    module: str
    environment: str = HERE
    variables: Mapping[str, str] = {}
    by_hand: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is this library."""
        return self.name.startswith(OURS)

    def command(self) -> list[str]:
        """Returns what starts it.

        Raises:
            NotMadeError: If its environment was not made.
        """
        python = sys.executable
        if self.environment:
            if not environments.is_made(self.environment):
                raise NotMadeError(
                    "Its environment is not there: python -m benchmarks --peers "
                    f"{self.environment}."
                )
            python = str(environments.python_of(self.environment))
        return [python, "-m", self.module, "--serve"]


def _ours(name: str, title: str, **options: object) -> System:
    variables = {_OPTIONS: json.dumps(options)}
    return System(name, title, "benchmarks.peers.ours", variables=variables)


def parts_of_ours(gemm_peak: float) -> System:
    """Returns what measures parts of our steps.

    Args:
        gemm_peak: Operations a second of the machine's products.
    """
    module = "benchmarks.yardstick.breakdown"
    variables = {_GEMM_PEAK: str(gemm_peak)}
    return System(PARTS, "parts of our steps", module, variables=variables)


SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        _ours(OURS, "recursive_tf"),
        System(
            f"{OURS}_several",
            "recursive_tf, 8 steps a call",
            "benchmarks.peers.ours_several",
        ),
        _ours(f"{OURS}_unshared", "recursive_tf, no shared rows", share_rows=False),
        _ours(f"{OURS}_dataflow", "recursive_tf, dataflow", executor="dataflow"),
        System(
            "tensorflow_by_hand",
            "TensorFlow by hand",
            "benchmarks.peers.tensorflow_by_hand",
            by_hand=True,
        ),
        System(
            "tensorflow_while_loop",
            "TensorFlow, a loop over nodes",
            "benchmarks.peers.tensorflow_while_loop",
        ),
        System(
            "torch_by_hand",
            "PyTorch by hand",
            "benchmarks.peers.torch_by_hand",
            "torch",
            by_hand=True,
        ),
        System(
            "torch_by_hand_avx512",
            "PyTorch by hand, AVX-512",
            "benchmarks.peers.torch_by_hand",
            "torch",
            environments.environment_variables("torch"),
            by_hand=True,
        ),
        System(
            "torch_eager",
            "PyTorch, tree by tree",
            "benchmarks.peers.torch_eager",
            "torch",
            environments.environment_variables("torch"),
        ),
        System(
            "jax_levels",
            "JAX, padded levels",
            "benchmarks.peers.jax_levels",
            "jax",
            by_hand=True,
        ),
        System(
            "dynet_autobatch",
            "DyNet, autobatch",
            "benchmarks.peers.dynet_autobatch",
            "dynet",
        ),
        System(
            "dynet_autobatch_mkl",
            "DyNet, autobatch, MKL",
            "benchmarks.peers.dynet_autobatch",
            "dynet_mkl",
            {
                **environments.environment_variables("dynet_mkl"),
                "MKL_NUM_THREADS": "1",
            },
        ),
        System(
            "dgl_batched",
            "DGL",
            "benchmarks.peers.dgl_batched",
            "dgl",
            environments.environment_variables("dgl"),
        ),
    )
}
