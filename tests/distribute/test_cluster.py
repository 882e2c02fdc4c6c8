"""Processes of a cluster meet before TensorFlow starts, or say what is wrong."""

import json
import re
import socket
import threading
import time

import pytest
import tensorflow as tf

import recursive_tf as rtf
from recursive_tf.distribute import cluster
from recursive_tf.distribute.local_cluster import free_ports

SOON_S = 10.0


def resolver(addresses, number, job="worker"):
    return tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({job: addresses}), task_type=job, task_id=number
    )


@pytest.fixture
def addresses():
    return [f"127.0.0.1:{port}" for port in free_ports(3)]


def meet(addresses, numbers, timeout_s=SOON_S):
    """Lets some processes of a cluster wait for it; returns their errors."""
    errors = {}

    def wait(place, number):
        try:
            rtf.distribute.wait_for_cluster(resolver(addresses, number), timeout_s)
            errors[place] = None
        except rtf.distribute.ClusterError as error:
            errors[place] = str(error)

    threads = [threading.Thread(target=wait, args=pair) for pair in enumerate(numbers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * SOON_S)
        assert not thread.is_alive()
    return [errors[place] for place in range(len(numbers))]


@pytest.mark.parametrize("numbers", [[0, 1, 2], [2, 1, 0]])
def test_all_go_on_when_all_are_there(addresses, numbers):
    assert meet(addresses, numbers) == [None] * 3


def test_ports_are_free_afterwards(addresses):
    assert meet(addresses, [0, 1, 2]) == [None] * 3
    assert meet(addresses, [0, 1, 2]) == [None] * 3


def test_tf_config_says_what_the_cluster_is(addresses, monkeypatch):
    config = {"cluster": {"worker": addresses[:1]}, "task": {"type": "worker"}}
    config["task"]["index"] = 0
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    found = rtf.distribute.wait_for_cluster()
    assert found.as_dict() == {"worker": addresses[:1]}


def test_a_process_that_does_not_come_is_named(addresses):
    start = time.monotonic()
    leader, other = meet(addresses, [0, 1], timeout_s=1.0)
    assert time.monotonic() - start < SOON_S
    for error in (leader, other):
        assert f"in vain for worker:2 ({addresses[2]})" in error


def test_a_leader_that_does_not_come_is_named(addresses):
    [error] = meet(addresses, [1], timeout_s=1.0)
    assert f"worker:1 cannot reach worker:0 at {addresses[0]}" in error


def test_a_wrong_address_is_named(addresses):
    wrong = ["no-such-host.invalid:2222", *addresses[1:]]
    [error] = meet(wrong, [1], timeout_s=1.0)
    assert "cannot reach worker:0 at no-such-host.invalid:2222" in error


def test_a_taken_port_is_named(addresses):
    with socket.socket() as taken:
        taken.bind(("", int(addresses[1].rpartition(":")[2])))
        taken.listen()
        [error] = meet(addresses, [1])
    assert f"worker:1 cannot listen on port {addresses[1].rpartition(':')[2]}" in error
    assert "Address already in use" in error


def test_two_processes_of_one_task_are_refused(addresses):
    facts = {"cluster": {}}
    missing = {"worker:2"}
    with pytest.raises(rtf.distribute.ClusterError, match="Two processes are worker:1"):
        cluster.check({"task": "worker:1", "facts": facts}, missing, facts)


@pytest.mark.parametrize("what", ["tensorflow", "keras", "recursive_tf"])
def test_other_versions_are_refused(addresses, what):
    pair, errors = addresses[:2], []
    leader = threading.Thread(target=lambda: errors.extend(meet(pair, [0])))
    leader.start()
    facts = cluster.facts_of({f"worker:{i}": a for i, a in enumerate(pair)})
    with connected(pair[0]) as peer:
        cluster.tell([peer], {"task": "worker:1", "facts": facts | {what: "0.0.1"}})
        answer = cluster.read(peer)
    leader.join(SOON_S)
    assert f"worker:1 has {what} 0.0.1" in errors[0]
    assert answer == {"error": errors[0]}


def test_another_cluster_is_refused(addresses):
    first = threading.Thread(target=lambda: found.extend(meet(addresses[:2], [0])))
    found = []
    first.start()
    [error] = meet([*addresses[:1], addresses[2]], [1])
    first.join(SOON_S)
    assert "worker:1 has cluster" in error
    assert found == [error]


def connected(address, timeout_s=SOON_S):
    ends = time.monotonic() + timeout_s
    while True:
        try:
            return socket.create_connection(cluster.split(address), timeout=SOON_S)
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.05)


@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\n\r\n", b"{}\n", b"[7]\n"])
def test_what_is_not_one_of_ours_is_left_alone(addresses, said):
    errors = []
    leader = threading.Thread(target=lambda: errors.extend(meet(addresses, [0])))
    leader.start()
    with connected(addresses[0]) as stranger:
        stranger.sendall(said)
        assert meet(addresses, [1, 2]) == [None] * 2
    leader.join(SOON_S)
    assert errors == [None]


def test_something_else_at_the_leaders_address_is_named(addresses):
    with socket.create_server(cluster.split(addresses[0])) as server:

        def answer():
            peer, _ = server.accept()
            with peer:
                peer.recv(100)
                peer.sendall(b"220 mail ready\n")

        thread = threading.Thread(target=answer)
        thread.start()
        [error] = meet(addresses, [1])
        thread.join(SOON_S)
    assert f"The process that answers at {addresses[0]} is not worker:0" in error


def test_one_that_is_stopped_when_it_has_come_is_named(addresses, monkeypatch):
    monkeypatch.setattr(cluster, "READ_S", 0.5)
    errors = []
    others = threading.Thread(target=lambda: errors.extend(meet(addresses, [0, 1])))
    others.start()
    facts = cluster.facts_of({f"worker:{i}": a for i, a in enumerate(addresses)})
    with connected(addresses[0]) as stopped:
        cluster.tell([stopped], {"task": "worker:2", "facts": facts})
        others.join(SOON_S)
    for error in errors:
        assert f"worker:2 ({addresses[2]}) came, and does not answer" in error
    assert len(errors) == 2


def test_a_leader_that_is_stopped_is_named(addresses, monkeypatch):
    monkeypatch.setattr(cluster, "READ_S", 0.5)
    with socket.create_server(cluster.split(addresses[0])):
        [error] = meet(addresses, [1], timeout_s=0.5)
    assert f"answers at {addresses[0]} is not worker:0" in error
    assert "or was stopped" in error


def test_a_late_one_is_told_that_nobody_waits(addresses):
    assert meet(addresses[:2], [0], timeout_s=0.5) != [None]
    [error] = meet(addresses[:2], [1], timeout_s=0.5)
    assert f"worker:1 cannot reach worker:0 at {addresses[0]}" in error


def test_processes_listen_at_their_own_addresses_alone(addresses):
    own = [a.replace("127.0.0.1", f"127.0.0.{2 + i}") for i, a in enumerate(addresses)]
    errors = []
    leader = threading.Thread(target=lambda: errors.extend(meet(own, [0], 1.0)))
    leader.start()
    connected(own[0]).close()
    with pytest.raises(ConnectionRefusedError):
        connected(addresses[0], timeout_s=0.0)
    leader.join(SOON_S)
    assert "in vain for worker:1" in errors[0]


def test_a_port_that_is_taken_at_another_address_is_named(addresses):
    host, port = cluster.split(addresses[1])
    with socket.create_server(("127.0.0.9", port)):
        [error] = meet(addresses, [1])  # TensorFlow's server could not listen there.
    assert f"worker:1 cannot listen on port {port} of {host}" in error


def test_a_name_that_nobody_knows_is_an_error():
    [error] = meet(["no-such-host.invalid:2222"], [0], timeout_s=0.0)
    assert "worker:0 does not know which address no-such-host.invalid is" in error


def test_a_task_that_is_not_in_the_cluster_is_named(addresses):
    with pytest.raises(rtf.distribute.ClusterError, match="This process is worker:3"):
        rtf.distribute.wait_for_cluster(resolver(addresses, 3))


def test_no_cluster_is_an_error(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with pytest.raises(rtf.distribute.ClusterError, match="Set TF_CONFIG"):
        rtf.distribute.wait_for_cluster()


@pytest.mark.parametrize("address", ["host", "host:", ":2222", "host:ssh"])
def test_an_address_without_a_port_is_an_error(address):
    named = re.escape(f"{address!r} is not an address")
    with pytest.raises(rtf.distribute.ClusterError, match=named):
        rtf.distribute.wait_for_cluster(resolver([address], 0))


def test_tf_config_that_cannot_be_read_is_an_error(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "{cluster")
    with pytest.raises(rtf.distribute.ClusterError, match="TF_CONFIG is not JSON"):
        rtf.distribute.wait_for_cluster()
