"""The address at which a process listens for the others of a cluster.

It is one address and never all of a machine's, which may be on networks that nobody
thinks of.
"""

import contextlib
import ipaddress
import socket
import time
from collections.abc import Iterable

PAUSE_S = 0.2
_ANY_PORT = 9  # None is opened: a datagram socket only looks for the way.


def own_address(host: str, others: Iterable[str], ends: float) -> str | None:
    """Returns the IP address of this machine that a cluster's name for it means.

    That is what the name says here, unless it is of no use to others. Debian, for one,
    has 127.0.1.1 for a machine's own name; and a port may be forwarded from another
    machine. Then it is the address from which this process goes to the others.

    Args:
        host: The name that the cluster has for this process, or an address.
        others: Those of the other processes.
        ends: Until when to wait for a name to be known, by `time.monotonic`.

    Returns:
        None if neither this process's name is known in time, nor another's.
    """
    others = set(others) - {host}
    while True:
        own = _resolved(host)
        away = [ip for ip in map(_resolved, others) if ip and not _is_loopback(ip)]
        if own and _is_here(own) and not (_is_loopback(own) and away):
            return own
        for ip in away:
            if source := _source_of_a_way_to(ip):
                return source
        if time.monotonic() > ends:
            return None
        time.sleep(PAUSE_S)


def _resolved(host: str) -> str | None:
    """Returns what a name is here; IPv4, which TensorFlow's servers listen on."""
    try:
        return socket.gethostbyname(host)
    except OSError:
        return None


def _is_loopback(ip: str) -> bool:
    return ipaddress.ip_address(ip).is_loopback


def _is_here(ip: str) -> bool:
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.bind((ip, 0))
        return True
    return False


def _source_of_a_way_to(ip: str) -> str | None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as probe,
        contextlib.suppress(OSError),
    ):
        probe.connect((ip, _ANY_PORT))
        source: str = probe.getsockname()[0]
        return source
    return None
