"""A process of a cluster listens at the address by which others reach it."""

import pytest

from recursive_tf.distribute import own_address as module
from recursive_tf.distribute.own_address import own_address

HERE, LEFT, NOWHERE = "127.0.0.7", "192.0.2.1", "203.0.113.9"


@pytest.fixture
def names(monkeypatch):
    """What names mean; the way to other machines begins at one address."""
    known = {"here": HERE, "left": LEFT, "own-name": "127.0.1.1", "gateway": NOWHERE}
    monkeypatch.setattr(module, "_resolved", known.get)
    monkeypatch.setattr(module, "_source_of_a_way_to", {LEFT: HERE}.get)
    return known


def test_it_is_what_the_name_says(names):
    assert own_address("here", [], 0.0) == HERE


def test_a_name_that_is_known_to_the_machine_alone_is_not_what_others_know(names):
    assert own_address("own-name", ["own-name", "left"], 0.0) == HERE


def test_among_processes_of_one_machine_it_is_what_the_name_says(names):
    assert own_address("own-name", ["own-name", "here"], 0.0) == "127.0.1.1"


def test_behind_a_port_that_is_forwarded_it_is_where_the_way_begins(names):
    assert own_address("gateway", ["left"], 0.0) == HERE


def test_a_name_that_is_not_known_yet_is_waited_for(names, monkeypatch):
    def publish(seconds):
        names["late"] = HERE

    monkeypatch.setattr(module.time, "sleep", publish)
    assert own_address("late", [], float("inf")) == HERE


def test_where_nothing_is_known_there_is_none(names):
    assert own_address("nobody", ["nothing"], 0.0) is None
