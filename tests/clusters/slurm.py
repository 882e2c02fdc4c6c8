"""A Slurm cluster for a test: Debian's slurm-wlm, a machine for each daemon."""

import contextlib
import os
import shutil
import subprocess

from tests.clusters import machines
from tests.clusters.machines import Machines, wait_for

HEAD, NODES = "head", ("trees9", "trees10")
NEEDED = ("slurmctld", "slurmd", "srun", "sinfo", "munged")
PATIENCE_S = 60.0

CONFIGURATION = """
ClusterName=trees
SlurmctldHost={head}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=5
NodeName={nodes} CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def why_not():
    """Returns why there can be none here, or None."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not found: apt-get install slurm-wlm munge"
    return machines.why_not()


class Slurm:
    """A head and two nodes; jobs are started on the head."""

    def __init__(self, folder):
        self.folder = folder
        self.machines = Machines([HEAD, *NODES])
        self._conf = folder / "slurm.conf"
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with self._stack:
            self._stack.enter_context(self.machines)
            for name in ("state", *(f"spool.{node}" for node in NODES)):
                (self.folder / name).mkdir()
            text = CONFIGURATION.format(
                head=HEAD, nodes=",".join(NODES), folder=self.folder
            )
            self._conf.write_text(text)
            # A namespace has a /sys of its own, without control groups.
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
            self._start_munge()
            self._start(HEAD, "slurmctld", "-D", "-f", self._conf)
            for node in NODES:
                self._start(node, "slurmd", "-D", "-f", self._conf)
            wait_for(self._is_ready, PATIENCE_S, self._said)
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *error):
        self._stack.close()

    def step(self, *command, log):
        """Starts a command as two tasks, one on each node."""
        srun = ("srun", "--nodes=2", "--ntasks-per-node=1", "--kill-on-bad-exit=1")
        return self._process(HEAD, (*srun, *command), log)

    def _start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        named = {
            "key-file": key,
            "socket": self.folder / "munge.socket",
            "pid-file": self.folder / "munge.pid",
            "seed-file": self.folder / "munge.seed",
            "log-file": self.folder / "munge.log",
        }
        flags = [f"--{name}={path}" for name, path in named.items()]
        self._start(HEAD, "munged", "--foreground", "--force", *flags)

    def _start(self, machine, *command):
        log = self.folder / f"{machine}-{command[0]}.out"
        self._stack.callback(_end, self._process(machine, command, log))

    def _process(self, machine, command, log):
        environment = {**os.environ, "SLURM_CONF": str(self._conf)}
        for name in [name for name in environment if name.startswith("SLURM_")]:
            if name != "SLURM_CONF":
                del environment[name]
        with log.open("ab") as file:
            return subprocess.Popen(
                self.machines.command(machine, *map(str, command)),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _is_ready(self):
        command = self.machines.command(HEAD, "sinfo", "--noheader", "--format=%T %D")
        environment = {**os.environ, "SLURM_CONF": str(self._conf)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        return done.stdout.strip() == f"idle {len(NODES)}"

    def _said(self):
        logs = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        return "\n".join(f"{p.name}: {p.read_text()[-2000:]}" for p in logs)


def _end(process):
    process.terminate()
    try:
        process.wait(10.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
