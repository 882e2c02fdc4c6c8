"""Figures in README and docs, each from JSON that is committed beside it.

    python -m benchmarks.pages             # writes all blocks of figures anew
    python -m benchmarks.pages --check     # says which are not those of the JSON

A page has a block between two comments:

    <!-- figures: yardstick.summary -->
    ...
    <!-- end of figures -->

Its text is what a function of `BLOCKS` makes of docs/figures/yardstick.json.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks import calls_page, td_tree_lstm_page
from benchmarks.accuracy import accuracy_page
from benchmarks.cavs import page as cavs_page
from benchmarks.ed_batch import latency, layout, row_order
from benchmarks.ed_batch import page as ed_batch_page
from benchmarks.ed_batch.peers import page as ed_batch_peers_page
from benchmarks.graphi import chart as graphi_chart
from benchmarks.graphi import page as graphi_page
from benchmarks.scaling import scaling_page
from benchmarks.yardstick import yardstick_page

Found = Mapping[str, Any]

ROOT = pathlib.Path(__file__).parent.parent
FIGURES = ROOT / "docs" / "figures"
PAGES = (
    "README.md",
    "docs/benchmarks.md",
    "docs/distributed.md",
    "docs/models.md",
    "docs/policies.md",
    "docs/schedules.md",
    "docs/vertex.md",
)
# By the name of the JSON file, and that of the block.
BLOCKS: dict[str, dict[str, Callable[[Found], str]]] = {
    "yardstick": yardstick_page.BLOCKS,
    "calls": calls_page.BLOCKS,
    "scaling": scaling_page.BLOCKS,
    "cavs": cavs_page.BLOCKS,
    "cavs_messages": cavs_page.MESSAGE_BLOCKS,
    "cavs_optimizations": cavs_page.OPTIMIZATION_BLOCKS,
    "ed_batch": ed_batch_page.BLOCKS,
    "ed_batch_peers": ed_batch_peers_page.BLOCKS,
    "ed_batch_latency": latency.BLOCKS,
    "layout": layout.BLOCKS,
    "row_order": row_order.BLOCKS,
    "accuracy": accuracy_page.BLOCKS,
    "td_tree_lstm": td_tree_lstm_page.BLOCKS,
    "graphi": graphi_page.BLOCKS,
    "graphi_schedules": graphi_page.SCHEDULE_BLOCKS,
}
_BLOCK = re.compile(
    r"(<!-- figures: (?P<file>\w+)\.(?P<block>\w+) -->\n).*?(<!-- end of figures -->)",
    re.DOTALL,
)


def filled(text: str, figures: pathlib.Path = FIGURES) -> str:
    """Returns the text of a page with every block as its JSON says.

    Raises:
        KeyError: If there is no such block.
        FileNotFoundError: If there is no such JSON.
    """

    def fill(match: re.Match[str]) -> str:
        block = BLOCKS[match["file"]][match["block"]]
        path = figures / f"{match['file']}.json"
        found = json.loads(path.read_text(encoding="utf-8"))
        return f"{match[1]}{block(found)}\n{match[4]}"

    return _BLOCK.sub(fill, text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fills all pages, or checks them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages")
    parser.add_argument("--check", action="store_true", help="write nothing")
    asked = parser.parse_args(arguments)
    wrong = [page for page in PAGES if not _is_up_to_date(ROOT / page, asked.check)]
    if asked.check and wrong:
        sys.exit(f"Run python -m benchmarks.pages: {', '.join(wrong)}.")
    if not asked.check:
        pictures = ROOT / "docs" / "pictures"
        yardstick_page.draw(FIGURES / "yardstick.json", pictures)
        schedules = (FIGURES / "graphi_schedules.json").read_text(encoding="utf-8")
        graphi_chart.draw(json.loads(schedules), pictures / "graphi.png")


def _is_up_to_date(page: pathlib.Path, only_check: bool) -> bool:
    text = page.read_text(encoding="utf-8")
    new = filled(text)
    if not only_check and new != text:
        page.write_text(new, encoding="utf-8")
    return new == text


if __name__ == "__main__":
    main()
