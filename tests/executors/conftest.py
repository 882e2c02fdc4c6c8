"""What tests of executors share: what is said is said anew, and can be read."""

import logging

import pytest


@pytest.fixture(autouse=True)
def nothing_was_said(monkeypatch):
    """What other tests warned of, or defined, is new again."""
    from recursive_tf.python.root_calls import fallback, redefinition

    monkeypatch.setattr(fallback, "_warned", set())
    monkeypatch.setattr(redefinition, "_by_place", {})
    monkeypatch.delenv("RTF_WARN_FALLBACK", raising=False)


@pytest.fixture
def records(caplog):
    """Returns a function that gives what was logged so far."""
    caplog.set_level(logging.WARNING, "recursive_tf")
    return lambda: [r for r in caplog.records if r.name == "recursive_tf"]


@pytest.fixture
def warnings(records):
    """Returns a function that gives the warnings so far."""
    return lambda: [record.getMessage() for record in records()]
