"""The table of accuracies: models, labels and seeds, the epoch chosen on other trees.

    python -m benchmarks.accuracy --data sst                    # five seeds of each
    python -m benchmarks.accuracy --data sst --models rntn --labels all --seeds 3
    python -m benchmarks.accuracy --data sst --models tree_lstm --vectors glove.300d.txt
    python -m benchmarks.accuracy --data sst --json docs/figures/accuracy.json

A tenth of the training trees is not learned from. After each epoch, a run is measured
on it, on the development split, and on `test.txt` if the folder has it. Runs are kept
in `--runs`: a command that was stopped goes on, and a run that is done is not run
again. `--json` keeps the figures, of which `python -m benchmarks.pages` makes the table
of docs/models.md.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import queue
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from tqdm import tqdm

from benchmarks.accuracy.accuracy_page import MODELS, table_of
from benchmarks.accuracy.choosing import DECIDES
from benchmarks.choices import names_of
from benchmarks.origin import origin, portable, write

RESULT = "accuracy.json"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Returns what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy")
    parser.add_argument("--data", help="folder with train.txt and dev.txt")
    parser.add_argument("--models", type=names_of(MODELS), default=[*MODELS])
    parser.add_argument("--labels", type=names_of(DECIDES), default=[*DECIDES])
    parser.add_argument("--seeds", type=int, default=5, help="how many: from 0")
    parser.add_argument("--hold_out", type=float, default=0.1, help="share; 0: none")
    parser.add_argument("--vectors", help="file of words' vectors, as GloVe has them")
    parser.add_argument("--epochs", type=int, help="another number of epochs")
    parser.add_argument("--limit_trees", type=int, help="only show that it runs")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument(
        "--collect", action="store_true", help="show what is done, and run no more"
    )
    parser.add_argument(
        "--runs", type=pathlib.Path, default=pathlib.Path("runs/accuracy")
    )
    parser.add_argument("--json", type=pathlib.Path, help="file to write")
    return parser.parse_args(arguments)


def asked_of(chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yields what each run is of: seeds first, so that all rows grow together."""
    shared = {"data": chosen.data, "hold_out": chosen.hold_out}
    for name in ("vectors", "epochs", "limit_trees"):
        if getattr(chosen, name) is not None:
            shared[name] = getattr(chosen, name)
    rows = itertools.product(chosen.labels, range(chosen.seeds), chosen.models)
    for labels, seed, model in rows:
        yield {"model": model, "labels": labels, "seed": seed, **shared}


def folder_of(runs: pathlib.Path, asked: dict[str, Any]) -> pathlib.Path:
    """Returns where a run is."""
    of_vectors = "-vectors" if "vectors" in asked else ""
    return runs / f"{asked['model']}-{asked['labels']}-{asked['seed']}{of_vectors}"


def result_of(folder: pathlib.Path, asked: dict[str, Any]) -> dict[str, Any] | None:
    """Returns what a run found, or None if it is not done."""
    file = folder / RESULT
    if not file.exists():
        return None
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if found["asked"] != asked:
        sys.exit(f"{file} is of a run of {found['asked']}: choose another --runs.")
    return found


def run_all(todo: Sequence[dict[str, Any]], runs: pathlib.Path, jobs: int) -> None:
    """Runs what is not done yet, some at a time, each on cores of its own."""
    all_cores = sorted(os.sched_getaffinity(0))
    free: queue.SimpleQueue[str] = queue.SimpleQueue()
    for job in range(jobs):
        free.put(",".join(map(str, all_cores[job::jobs] or all_cores)))

    def run(asked: dict[str, Any]) -> None:
        cores = free.get()
        try:
            _run(asked, folder_of(runs, asked), cores)
        finally:
            free.put(cores)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(run, asked) for asked in todo]
        done = concurrent.futures.as_completed(running)
        for future in tqdm(done, desc="runs", total=len(running)):
            future.result()


def _run(asked: dict[str, Any], folder: pathlib.Path, cores: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    command = [sys.executable, "-m", "benchmarks.accuracy.one_run"]
    command += [json.dumps(asked), str(folder), cores]
    with log.open("ab") as output:
        done = subprocess.run(command, stdout=output, stderr=output, check=False)
    if done.returncode:
        raise RuntimeError(f"A run failed: see {log}.")


def main(arguments: Sequence[str]) -> None:
    """Runs what is not done, prints tables, and writes the figures."""
    chosen = parse(arguments)
    every = list(asked_of(chosen))
    if not chosen.collect:
        todo = [a for a in every if not result_of(folder_of(chosen.runs, a), a)]
        run_all(todo, chosen.runs, chosen.jobs)
    runs = [
        {**found, "asked": _portable(found["asked"])}
        for asked in every
        if (found := result_of(folder_of(chosen.runs, asked), asked))
    ]
    print("\n\n".join(table_of(runs, metric) for metric in DECIDES.values()))
    write({**origin("benchmarks.accuracy", arguments), "runs": runs}, chosen.json)


def _portable(asked: dict[str, Any]) -> dict[str, Any]:
    """Returns what a run is of, without folders of this machine."""
    return {k: portable(v) if isinstance(v, str) else v for k, v in asked.items()}


if __name__ == "__main__":
    main(sys.argv[1:])
