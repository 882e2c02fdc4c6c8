"""docs/errors.md: its messages are those of the code, and those of users are on it."""

import re

from tests.helpers import messages
from tests.helpers.pages import DOCS

# What a user gets of these is all on the page.
PYTHON = {
    "CannotBatchError",
    "ClusterError",
    "DataNotFoundError",
    "ForestError",
    "ImportError",
    "IndexError",
    "MalformedError",
    "NotImplementedError",
    "ReadError",
    "RunError",
    "RuntimeError",
    "SubGraphError",
    "TypeError",
    "ValueError",
}
CC = {"OutOfRangeError", "ResourceExhaustedError", "UnimplementedError"}
# What no program brings about but by a fault of the library, or a damaged file.
FAULTS = (
    "the gradient of a shared value has shape",
    "its rows are not kept for the gradient",
    "it takes no rows",
    "what it computes depends on how many rows there are",
    "is not in its list of",
    "nothing was written to its list",
    "how long its list is, is not known",
    "its gradient function returns shape",
    "Its axis is computed",
    "of … arrays",
)
# Of letters: what says less is put together elsewhere, e.g. f"{what} {why}".
LEAST = 12


def entries():
    """Returns the messages of the page."""
    tables = (DOCS / "errors.md").read_text().split("\n## ")[1:]
    rows = [row for table in tables for row in table.splitlines() if row[:3] == "| `"]
    return [re.match(r"\| `([^`]+)` \|", row)[1] for row in rows]


def test_every_message_of_the_page_is_in_the_code():
    texts = [
        text
        for source in (messages.python_texts(), messages.cc_texts())
        for _, found in source
        for text in found
    ]
    there = entries()
    assert len(there) > 150
    missing = [
        one
        for one in there
        if not any(messages.has(text, messages.pieces(one)) for text in texts)
    ]
    assert missing == []


def test_every_message_that_a_user_gets_is_on_the_page():
    raised = [one for one in messages.raised_in_python() if one.kind in PYTHON]
    raised += [one for one in messages.raised_in_cc() if one.kind in CC]
    assert len(raised) > 120
    wanted = [messages.pieces(one) for one in entries()]
    missing = [
        one
        for one in raised
        if len("".join(messages.pieces(one.text))) > LEAST
        and not any(messages.has(one.text, pieces) for pieces in wanted)
        and not any(fault in one.text for fault in FAULTS)
    ]
    assert missing == []


def test_no_message_stands_on_the_page_twice():
    there = entries()
    assert len(there) == len(set(there))


def test_each_row_has_a_cause_and_a_cure():
    text = (DOCS / "errors.md").read_text()
    tables = text.split("| message | cause | cure |")[1:]
    rows = [row for table in tables for row in table.splitlines() if row[:3] == "| `"]
    for row in rows:
        _, cause, cure = row.strip("|").split(" | ")
        assert cause.strip()
        assert cure.strip()
