"""Waits until all processes of a cluster are there, and alike.

TensorFlow waits for an hour for a worker that does not come up, and does not say which
one, or that a port was taken, or that versions differ. So before it starts, processes
meet at the port of the first of them, on which TensorFlow is to listen later.

They meet twice: when all are there, each is asked once more whether it is. So one that
was stopped meanwhile is named here, and is not waited for in TensorFlow.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import keras
import tensorflow as tf

from recursive_tf.distribute.lifeline import Lifeline, OnLost
from recursive_tf.distribute.memory import keep_freed_memory
from recursive_tf.distribute.own_address import own_address
from recursive_tf.python import tf_compat

JOBS = ("chief", "worker", "ps")
PAUSE_S = 0.2
READ_S = 5.0
REGISTER_S = 30.0  # Until TensorFlow's servers, which start now, have found each other.
PIECE = 1 << 20  # In pieces of 4 KB a step of two workers takes half as long again.

Address = tuple[str, int]


class ClusterError(RuntimeError):
    """Processes of a cluster have not come together, or one of them is lost."""


def not_json(error: ValueError) -> ClusterError:
    """Returns the error of a `TF_CONFIG` that cannot be read."""
    return ClusterError(
        f"TF_CONFIG is not JSON: {error}. See docs/distributed.md for an example."
    )


_lifelines: list[Lifeline] = []


def wait_for_cluster(
    cluster_resolver: Any = None,
    timeout_s: float = 60.0,
    on_lost: OnLost | None = None,
) -> tf.train.ClusterSpec:
    """Returns the cluster when all of its processes are there.

    Call it in each process, before you make a MultiWorkerMirroredStrategy, or start the
    server or the coordinator of a ParameterServerStrategy. It does not wait for
    evaluators. It also makes TensorFlow exchange gradients in large pieces, and makes
    this process keep the memory for them.

    Args:
        cluster_resolver: From `tf.distribute.cluster_resolver`; if None, the
            environment variable `TF_CONFIG` says what the cluster is.
        timeout_s: How long to wait for the others, in seconds.
        on_lost: Is called, in a thread of its own, with what is wrong, if another
            process stops or cannot be reached any more: 30 seconds later, or 10 if it
            has ended. The first process hears from all, and all hear from the first.
            Give it in all processes or in none, and call `leave_cluster` in the end.

    Raises:
        ClusterError: If there is no cluster, an address of it has no port, this process
            is not in it, its port is taken, a process has not come in time or cannot be
            reached, two are the same task, or they have other versions or another
            cluster.
    """
    resolver = (
        cluster_resolver or tf.distribute.cluster_resolver.TFConfigClusterResolver()
    )
    try:
        spec = resolver.cluster_spec()
    except json.JSONDecodeError as error:
        raise not_json(error) from error
    jobs = spec.as_dict() if spec else {}
    addresses = {
        f"{job}:{number}": address
        for job in JOBS
        for number, address in enumerate(jobs.get(job, []))
    }
    if not addresses:
        raise ClusterError(
            "There is no cluster. Set TF_CONFIG in the environment of each process, or "
            "give a cluster_resolver: see docs/distributed.md."
        )
    me = f"{resolver.task_type}:{resolver.task_id}"
    if me not in addresses:
        raise ClusterError(
            f"This process is {me}, and the cluster has {', '.join(addresses)}. Set "
            "task.type and task.index in its TF_CONFIG to one of these."
        )
    for address in addresses.values():
        split(address)
    facts = facts_of(addresses, on_lost)
    ends = time.monotonic() + timeout_s
    leader = next(iter(addresses))
    with _listening(me, addresses, ends) as door:
        if me == leader:
            peers = _lead(door, addresses, facts, ends)
        else:
            peers = _follow(me, leader, addresses[leader], facts, ends)
    tf_compat.send_in_pieces_of(PIECE)
    if "ps" not in jobs:
        tf_compat.wait_for_tasks(spec, REGISTER_S)
    keep_freed_memory()
    if on_lost is not None:
        _lifelines.append(Lifeline(peers, on_lost))
    return spec


def leave_cluster() -> None:
    """Tells the other processes that this one is done, if they would miss it."""
    while _lifelines:
        _lifelines.pop().leave()


def serve_until_the_end() -> None:
    """Returns when the process that leads has left the cluster.

    If it is lost, `on_lost` is called.
    """
    for line in _lifelines:
        line.join()


def facts_of(
    addresses: Mapping[str, str], on_lost: OnLost | None = None
) -> dict[str, Any]:
    """Returns what has to be the same in all processes."""
    return {
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
        "recursive_tf": importlib.metadata.version("recursive_tf"),
        "cluster": addresses,
        "on_lost": on_lost is not None,
    }


@contextlib.contextmanager
def _listening(
    me: str, addresses: Mapping[str, str], ends: float
) -> Iterator[socket.socket]:
    """Holds this process's port, and takes connections to its own address."""
    address = addresses[me]
    host, port = split(address)
    others = [split(other)[0] for task, other in addresses.items() if task != me]
    own = own_address(host, others, ends)
    if own is None:
        raise ClusterError(
            f"{me} does not know which address {host} is, nor one of the others'. Is "
            "the name right, and known on this machine?"
        )
    with socket.socket() as door, socket.socket() as port_of_all:
        for each in (door, port_of_all):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            # TensorFlow's server will take the port of all addresses. Nobody can
            # connect to a socket that does not listen.
            port_of_all.bind(("", port))
            port_of_all.close()
            door.bind((own, port))
        except OSError as error:
            raise ClusterError(
                f"{me} cannot listen on port {port} of {address}: {error.strerror}. "
                "End the process that has the port, or give the task another one in "
                "the TF_CONFIG of all processes."
            ) from error
        door.listen()
        yield door


def _lead(
    door: socket.socket, addresses: Mapping[str, str], facts: Any, ends: float
) -> dict[str, socket.socket]:
    """Lets all go on when they are there, or tells them what is wrong.

    Returns:
        The connections to them, if they are to stay.
    """
    missing = set(addresses) - {next(iter(addresses))}
    with contextlib.ExitStack() as stack:
        there: dict[str, socket.socket] = {}
        try:
            while missing:
                peer = stack.enter_context(_next_peer(door, addresses, missing, ends))
                told = read(peer)
                if told is None or not told.keys() >= {"task", "facts"}:
                    continue  # Not one of ours.
                waiting = told["task"] in there
                there[f"{told['task']} again" if waiting else told["task"]] = peer
                check(told, missing, facts)
                missing.discard(told["task"])
            tell(there.values(), {"there": True})
            _check_are_there(there, addresses)
        except ClusterError as error:
            tell(there.values(), {"error": str(error)})
            raise
        tell(there.values(), {})
        if facts["on_lost"]:
            stack.pop_all()
            return there
        for peer in there.values():
            with contextlib.suppress(OSError):
                peer.recv(1)  # They close first, so that the port is free at once.
        return {}


def _check_are_there(
    there: Mapping[str, socket.socket], addresses: Mapping[str, str]
) -> None:
    """Raises an error if one that came does not answer any more."""
    ends = time.monotonic() + READ_S
    for task, peer in there.items():
        peer.settimeout(max(ends - time.monotonic(), 0.001))
        if read(peer) is None:
            raise ClusterError(
                f"{task} ({addresses[task]}) came, and does not answer any more. Look "
                "into its log: was it stopped, or did it end?"
            )
        peer.settimeout(READ_S)


def _next_peer(
    door: socket.socket, addresses: Mapping[str, str], missing: set[str], ends: float
) -> socket.socket:
    door.settimeout(max(ends - time.monotonic(), 0.001))
    try:
        peer, _ = door.accept()
    except TimeoutError as error:
        names = ", ".join(f"{task} ({addresses[task]})" for task in sorted(missing))
        raise ClusterError(
            f"Waited in vain for {names}. Look into their logs: did they start, and "
            f"can they reach {next(iter(addresses.values()))}?"
        ) from error
    peer.settimeout(READ_S)
    return peer


def check(told: Any, missing: set[str], facts: Any) -> None:
    """Raises an error if a process is not one of those that are waited for."""
    task = told["task"]
    if task not in missing:
        raise ClusterError(
            f"Two processes are {task}. Give each another task.index in its TF_CONFIG."
        )
    for name, ours in facts.items():
        theirs = told["facts"].get(name)
        if theirs != ours:
            raise ClusterError(
                f"{task} has {name} {theirs}, and the first process has {ours}. They "
                "must be the same everywhere."
            )


def _follow(
    me: str, leader: str, address: str, facts: Any, ends: float
) -> dict[str, socket.socket]:
    """Goes to the first process, and waits for what it says.

    Returns:
        The connection to it, if that is to stay.
    """
    with contextlib.ExitStack() as stack:
        peer = stack.enter_context(_connected(me, leader, address, ends))
        tell([peer], {"task": me, "facts": facts})
        peer.settimeout(max(ends - time.monotonic(), 0) + READ_S)
        answer = read(peer)
        if answer and "there" in answer:
            tell([peer], {})
            peer.settimeout(2 * READ_S)
            answer = read(peer)
        if answer == {} and facts["on_lost"]:
            stack.pop_all()
            return {leader: peer}
    if answer is None:
        raise ClusterError(
            f"The process that answers at {address} is not {leader}, or does not wait "
            f"for {me}, or was stopped. Either the address is wrong, or the others are "
            "already running without this process: then end them, and start all."
        )
    if "error" in answer:
        raise ClusterError(answer["error"])
    return {}


def _connected(me: str, leader: str, address: str, ends: float) -> socket.socket:
    while True:
        try:
            return socket.create_connection(split(address), timeout=READ_S)
        except OSError as error:
            if time.monotonic() > ends:
                raise ClusterError(
                    f"{me} cannot reach {leader} at {address}: {error}. Look into its "
                    "log: did it start? And is the address in TF_CONFIG right?"
                ) from error
        time.sleep(PAUSE_S)


def split(address: str) -> Address:
    """Returns the host and the port."""
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()):
        raise ClusterError(
            f"{address!r} is not an address in a cluster. Expected a host and a port, "
            "e.g. worker-0.example.com:2222."
        )
    return host, int(port)


def tell(peers: Iterable[socket.socket], what: Any) -> None:
    """Says something to all that are still there: a line of JSON."""
    for peer in peers:
        with contextlib.suppress(OSError):
            peer.sendall(json.dumps(what).encode() + b"\n")


def read(peer: socket.socket) -> Any:
    """Returns what a peer says, or None if it is not of our kind."""
    try:
        with peer.makefile("rb") as lines:
            told = json.loads(lines.readline(1 << 20))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None
