"""What commands about the workloads are asked."""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Sequence

from benchmarks.ed_batch.workload import Workload
from benchmarks.ed_batch.workloads import WORKLOADS


def parser_of(module: str, repeats: int) -> argparse.ArgumentParser:
    """Returns a parser of which data, sizes and workloads there are.

    Args:
        module: That is run.
        repeats: By default.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    add = parser.add_argument
    add("--data", type=pathlib.Path, help="folder of real data")
    add("--batch", type=int, default=32, help="sentences in a batch")
    add("--units", type=int, default=64, help="of every cell")
    add("--repeats", type=int, default=repeats, help="runs of each figure")
    add("--only", nargs="*", help="names of workloads")
    add("--json", type=pathlib.Path, help="file to write")
    return parser


def chosen(asked: argparse.Namespace) -> Sequence[Workload]:
    """Returns the workloads that are asked for: all, if none is named."""
    return [w for w in WORKLOADS if not asked.only or w.name in asked.only]
