"""Two hosts on this machine, joined by a link of some speed: network namespaces."""

import contextlib
import functools
import os
import shutil
import subprocess
from collections.abc import Iterator

from recursive_tf.distribute import Host

NETWORK = "10.213.77"
# netem and htb would shape better, but are not in every kernel.
SHAPE = ("burst", "128kb", "latency", "50ms")


@functools.cache
def why_not() -> str | None:
    """Returns why there can be no namespaces here, or None."""
    missing = [tool for tool in ("ip", "tc", "unshare") if shutil.which(tool) is None]
    if missing:
        return f"{' and '.join(missing)} not found: install iproute2 and util-linux"
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    tried = subprocess.run(
        ["unshare", "--net", "true"], capture_output=True, check=False
    )
    return "network namespaces are forbidden here" if tried.returncode else None


@contextlib.contextmanager
def linked(rate: str) -> Iterator[list[Host]]:
    """Two hosts, which are gone when the context ends.

    Args:
        rate: As `tc` has it, e.g. "1gbit".
    """
    names = [f"rtf-{os.getpid()}-{i}" for i in range(2)]
    with contextlib.ExitStack() as stack:
        for name in names:
            _ip("netns", "add", name)
            # With it go its end of the link, and so the other end.
            stack.callback(_ip, "netns", "del", name)
        left, right = names
        ends = ("veth", "netns", left, "type", "veth", "peer", "veth", "netns", right)
        _ip("link", "add", *ends)
        yield [_join(name, f"{NETWORK}.{i + 1}", rate) for i, name in enumerate(names)]


def _join(name: str, address: str, rate: str) -> Host:
    """Brings a namespace's end of the link up."""
    _ip("-n", name, "address", "add", f"{address}/24", "dev", "veth")
    for device in ("lo", "veth"):
        _ip("-n", name, "link", "set", device, "up")
    shape = ("root", "tbf", "rate", rate, *SHAPE)
    _call("tc", "-n", name, "qdisc", "add", "dev", "veth", *shape)
    return Host(address, ("ip", "netns", "exec", name))


def _ip(*arguments: str) -> None:
    _call("ip", *arguments)


def _call(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")
