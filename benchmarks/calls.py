"""The cost of calls: time, memory, parallelism, tracing, each beside its target.

    python -m benchmarks.calls                      # all rows; up to half an hour
    python -m benchmarks.calls --only fib linear
    python -m benchmarks.calls --quick              # only shows that every row runs
    python -m benchmarks.calls --json calls.json    # with every run of every figure

Prints a Markdown table of medians with the smallest and largest run. Targets are for
two processors, and the command uses no more; on a machine that does something else they
say little. What a row measures, and why so, is at the top of its file in
`benchmarks/rows`. Each runs in fresh processes, what is compared in turn.

Trees/s against the iterative program are `python -m benchmarks.treelstm`.
"""

import argparse
import pathlib
import sys
from collections.abc import Callable, Sequence

from tqdm import tqdm

from benchmarks import table
from benchmarks.cores import use_two_cores
from benchmarks.effort import Effort
from benchmarks.figures import Figure
from benchmarks.origin import origin
from benchmarks.rows import fib, level, linear, memory, parallel, tracing

Row = Callable[[Effort], list[Figure]]

ROWS: dict[str, Row] = {
    "fib": fib.measure,
    "linear": linear.measure,
    "level": level.measure,
    "parallel": parallel.measure,
    "memory": memory.measure,
    "tracing": tracing.measure,
}
LEAST_REPEATS = 5


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Returns what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calls", description="The cost of calls."
    )
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="ROW", default=ROWS)
    parser.add_argument("--quick", action="store_true", help="small sizes, one run")
    parser.add_argument("--repeats", type=int, default=7, help="runs of a figure")
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    asked = parser.parse_args(arguments)
    if asked.repeats < LEAST_REPEATS:
        parser.error(f"--repeats={asked.repeats}: at least {LEAST_REPEATS}.")
    return asked


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table row by row, and writes it."""
    asked = parse(arguments)
    use_two_cores()
    effort = Effort(1 if asked.quick else asked.repeats, asked.quick)
    print(*table.HEADER, sep="\n", flush=True)
    figures: dict[str, list[Figure]] = {}
    for name in tqdm(list(asked.only), desc="rows"):
        figures[name] = ROWS[name](effort)
        tqdm.write("\n".join(map(table.line, figures[name])))
    if asked.json:
        settings = {"repeats": effort.repeats, "quick": effort.quick}
        arguments = sys.argv[1:] if arguments is None else arguments
        where = origin("benchmarks.calls", arguments)
        table.write_json(asked.json, figures, settings, where)


if __name__ == "__main__":
    main()
