"""How training scales: one and two workers here, and what a model says of 1 to 8.

    python -m benchmarks.scaling                         # random trees of 1-37 words
    python -m benchmarks.scaling --data=sst --picture=scaling.png
    python -m benchmarks.scaling --link=1gbit            # as root: on a slow link, too

Steps of the TreeLSTM by Keras's `fit` under a MultiWorkerMirroredStrategy; a worker has
one thread. docs/distributed.md, section "Scaling", says what the model is. It needs a
machine with two cores that does nothing else, for some minutes.
"""

import argparse
import pathlib
import re
import sys
from collections.abc import Iterable, Sequence

from benchmarks import table
from benchmarks.scaling import picture, processes
from benchmarks.scaling import trees as all_trees
from benchmarks.scaling.jobs import Jobs
from benchmarks.scaling.link import why_not
from benchmarks.scaling.measuring import Plan, costs_of, measure, seconds
from benchmarks.scaling.model import GBIT_S
from benchmarks.scaling.report import LINKS, MACHINES, Report, Row, Trees
from benchmarks.scaling.worker import make_model
from benchmarks.treelstm_model import TREEBANK, Size

QUICK = Size(50, 4, 4)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Returns what the command line says."""
    parser = argparse.ArgumentParser(description="training shared among machines")
    parser.add_argument("--data", help="folder with train.txt")
    parser.add_argument("--trees", type=int, default=4096, help="how many to use")
    parser.add_argument(
        "--batch_sizes",
        type=int,
        nargs="+",
        default=[25, 64, 256, 512],
        help="of a worker",
    )
    parser.add_argument(
        "--executors", nargs="+", default=["batched", "dataflow"], help="names"
    )
    parser.add_argument(
        "--rounds", type=int, default=3, help="times that all steps are measured"
    )
    parser.add_argument("--link", type=_rate, help="e.g. 1gbit: as root, on Linux")
    parser.add_argument("--picture", type=pathlib.Path, help="PNG to write")
    parser.add_argument("--quick", action="store_true", help="only show that it runs")
    chosen = parser.parse_args(arguments)
    if chosen.link and why_not():
        parser.error(f"--link: {why_not()}")
    return chosen


def _rate(text: str) -> str:
    if not re.fullmatch(r"\d+gbit", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number and gbit")
    return text


def plan_of(chosen: argparse.Namespace) -> Plan:
    """Returns what to measure."""
    jobs = Jobs(chosen.data, chosen.trees, QUICK if chosen.quick else TREEBANK)
    rounds = 1 if chosen.quick else chosen.rounds
    return Plan(
        jobs, chosen.batch_sizes, chosen.executors, chosen.link, rounds, chosen.quick
    )


def report_of(plan: Plan) -> Report:
    """Measures, and returns what there is to say."""
    size = Size(*plan.jobs.size)
    forest = all_trees.load(plan.jobs.data, plan.jobs.limit, size)
    words = all_trees.num_words(forest)
    dense = [
        4 * int(variable.value.shape.num_elements())
        for variable in make_model(size, words).trainable_variables
        if "embedding" not in variable.path
    ]
    measured = measure(plan)
    costs = {name: costs_of(measured, name, size, dense) for name in plan.executors}
    return Report(measured, costs, Trees(forest))


def print_table(title: str, header: str, rows: Iterable[Row]) -> None:
    """Prints a Markdown table."""
    print(f"\n{title}\n\n| {header} |")
    print("|" + "---|" * (header.count("|") + 1))
    for row in rows:
        print("|", " | ".join(map(str, row)), "|", flush=True)


def print_report(report: Report, link: str | None) -> None:
    """Prints all tables."""
    print_table(
        "Two workers here, ms a step; trees/s as a share of those of one worker, twice "
        "(weak), of two that share nothing, and of one with the trees of both (strong)",
        "executor | trees a worker | 1 | two apart | 2 | predicted | error "
        "| weak | of apart | strong",
        report.of_two(),
    )
    if link:
        print_table(
            f"Two hosts on a link of {link}",
            "executor | trees a worker | 2, ms | predicted | error | weak | KB sent",
            report.on_link(int(link.removesuffix("gbit")) * GBIT_S),
        )
    print_table(
        "KB that a worker sends in a step, of two",
        "executor | trees a worker | dense | sparse | together | measured",
        report.traffic(),
    )
    print_table(
        "Idle time of a worker in a step",
        "executor | trees a worker | workers | shared by trees | shared by nodes",
        report.idle(),
    )
    machines = " | ".join(map(str, MACHINES))
    print_table(
        "Predicted trees/s, by machines",
        f"executor | trees a worker | link | {machines} | efficiency of 8",
        report.predicted(),
    )
    print_table(
        "Where the time of a step goes, of 8 machines at 10 Gbit/s, ms",
        "executor | trees a worker | compute | idle | call | sharing | more rows "
        "| number of trees | dense | sparse | of these while it computes",
        report.parts(),
    )
    print_table(
        "Efficiency of 8 machines at 10 Gbit/s if a step were otherwise",
        "executor | trees a worker | as it is | trees in order | dense not packed "
        "| rows, indices and their number apart | trees not counted "
        "| dense gradients while others are computed, at best",
        report.helped(),
    )
    print("\nGoals\n", *table.HEADER, *map(table.line, report.goals()), sep="\n")


def draw(report: Report, path: pathlib.Path) -> None:
    """Draws the curve, of the first executor."""
    predicted, measured = {}, {}
    for key in report.measured.steps.pair:
        executor, batch = key
        if executor != next(iter(report.costs)):
            continue
        title = f"{batch} trees a machine"
        predicted[title] = {n: report.rates(key, link) for n, link in LINKS.items()}
        measured[title] = [
            workers * batch / seconds(steps[key])
            for workers, steps in enumerate(
                (report.measured.steps.alone, report.measured.steps.pair), start=1
            )
        ]
    picture.draw(path, predicted, measured)


def main(arguments: Sequence[str]) -> None:
    """Measures, prints and draws."""
    chosen = parse(arguments)
    processes.use_one_thread()
    report = report_of(plan_of(chosen))
    print_report(report, chosen.link)
    if chosen.picture:
        draw(report, chosen.picture)


if __name__ == "__main__":
    main(sys.argv[1:])
