"""Machines in one network: network namespaces that a bridge joins, with names."""

import contextlib
import functools
import os
import pathlib
import shutil
import subprocess
import time

NETWORK = "10.213.78"
# Where `ip netns exec` takes a namespace's own files of /etc from.
ETC = pathlib.Path("/etc/netns")
# A machine has a name of its own; and what it starts ends with it.
AS_NAMED = 'hostname "$0" && exec "$@"'


@functools.cache
def why_not():
    """Returns why there can be none here, or None."""
    missing = [tool for tool in ("ip", "unshare") if shutil.which(tool) is None]
    if missing:
        return f"{' and '.join(missing)} not found: install iproute2 and util-linux"
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    tried = subprocess.run(
        ["unshare", "--net", "--uts", "true"], capture_output=True, check=False
    )
    return "network namespaces are forbidden here" if tried.returncode else None


class Machines:
    """Machines with these names; they are gone when the context ends."""

    def __init__(self, names):
        self._names = names
        self._stack = contextlib.ExitStack()
        self._switch = self._space("switch")
        self.addresses = {n: f"{NETWORK}.{i}" for i, n in enumerate(names, start=1)}

    def __enter__(self):
        with self._stack:
            self._make(self._switch)
            _ip("-n", self._switch, "link", "add", "bridge", "type", "bridge")
            _ip("-n", self._switch, "link", "set", "bridge", "up")
            for name in self._names:
                self._add(name)
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *error):
        self._stack.close()

    def command(self, name, *command):
        """Returns a command that runs on a machine."""
        inside = ("unshare", "--uts", "sh", "-c", AS_NAMED, name, *command)
        return ["ip", "netns", "exec", self._space(name), *inside]

    def cut_off(self, name):
        """Pulls the plug of a machine."""
        _ip("-n", self._switch, "link", "set", name, "down")

    def _space(self, name):
        return f"rtf-{os.getpid()}-{name}"

    def _make(self, space):
        _ip("netns", "add", space)
        self._stack.callback(_ip, "netns", "del", space)

    def _add(self, name):
        space = self._space(name)
        self._make(space)
        hosts = ETC / space / "hosts"
        hosts.parent.mkdir(parents=True)
        self._stack.callback(shutil.rmtree, hosts.parent)
        # As Debian does it, a machine's own name is no address for others.
        lines = [f"{ip} {n}" for n, ip in self.addresses.items() if n != name]
        own = ["127.0.0.1 localhost", f"127.0.1.1 {name}"]
        hosts.write_text("\n".join([*own, *lines, ""]))
        ends = ("eth0", "netns", space, "type", "veth", "peer", name)
        _ip("link", "add", *ends, "netns", self._switch)
        _ip("-n", self._switch, "link", "set", name, "master", "bridge", "up")
        _ip("-n", space, "address", "add", f"{self.addresses[name]}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", space, "link", "set", device, "up")


def wait_for(condition, timeout_s, why):
    ends = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < ends, why()
        time.sleep(0.1)


def _ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
