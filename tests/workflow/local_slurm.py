"""A SLURM of one node on this machine, in a folder of its own: the machine's own, if there is one, is not touched."""

import getpass
import os
import platform
import shutil
import socket
import subprocess
import time
from pathlib import Path

from project import ENVIRONMENT, PATH

#: Where Debian puts daemons.
DAEMONS = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "srun", "sbatch", "squeue", "sinfo", "scancel", "scontrol")
WAIT_SECONDS = 30
#: Two pretend GPUs, and more memory than any job of the tests asks for: nobody looks whether it is there.
CONFIGURATION = """
ClusterName=local
SlurmctldHost=localhost
SlurmctldPort={control_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MinJobAge=86400
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
NodeName=localhost NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=100000 Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """The programs of SLURM and munge that are not here."""
    return [program for program in PROGRAMS if shutil.which(program, path=DAEMONS) is None]


class LocalSlurm:
    """A running SLURM.

    Args:
        folder: an empty folder that every user may enter.
    """

    def __init__(self, folder: Path):
        self.folder, configuration = folder, folder / "slurm.conf"
        for name in ("state", "spool", "bin"):
            (folder / name).mkdir()
        values = {"user": getpass.getuser(), "host": platform.node().split(".")[0], "cpus": os.cpu_count()}
        values |= {"control_port": free_port(), "node_port": free_port(), "folder": folder}
        configuration.write_text(CONFIGURATION.format(**values))
        (folder / "gres.conf").write_text("NodeName=localhost Name=gpu File=/dev/zero,/dev/null\n")
        # The executor takes SLURM_CONF from the environment in which it starts srun.
        srun = folder / "bin/srun"
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={configuration} exec {shutil.which("srun")} "$@"\n')
        srun.chmod(0o755)
        path = os.pathsep.join([str(folder / "bin"), PATH])
        self.environment = ENVIRONMENT | {"SLURM_CONF": str(configuration), "PATH": path}
        self._daemons: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start the daemons, and wait until the node is ready."""
        key, places = (
            self.folder / "munge.key",
            {"socket": "munge.socket", "pid-file": "munge.pid", "seed-file": "seed"},
        )
        subprocess.run([_daemon("mungekey"), "--create", f"--keyfile={key}"], check=True)
        options = [f"--{option}={self.folder / name}" for option, name in places.items()]
        self._run("munged", "--foreground", "--force", f"--key-file={key}", *options)
        self._run("slurmctld", "-D", "-c")
        self._run("slurmd", "-D", "-N", "localhost")
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            if "idle" in self.command("sinfo", "--noheader", "--format=%t", check=False):
                return
            time.sleep(0.2)
        raise AssertionError("\n".join(path.read_text() for path in self.folder.glob("*.log")))

    def stop(self) -> None:
        """Stop jobs and daemons."""
        self.command("scancel", f"--user={getpass.getuser()}", "--signal=KILL", "--full", check=False)
        for daemon in reversed(self._daemons):
            daemon.terminate()
            daemon.wait()

    def command(self, *words: str, check: bool = True) -> str:
        """What a command of SLURM prints."""
        done = subprocess.run(words, env=self.environment, text=True, capture_output=True)
        assert not (check and done.returncode), done.stderr
        return done.stdout

    def running(self) -> str:
        """The number of the one job that runs."""
        (job,) = self.command("squeue", "--noheader", "--states=running", "--format=%i").split()
        return job

    def jobs(self) -> list[dict[str, str]]:
        """Everything that was ever submitted: the rule with its wildcards, and what it asked for."""
        columns = ("comment", "minmemory", "timelimit", "tres-per-job", "state")
        form = ",".join(f"{column}:120" for column in columns)
        said = self.command("squeue", "--noheader", "--states=all", f"--Format={form}")
        return [dict(zip(columns, line.split(), strict=True)) for line in said.splitlines()]

    def _run(self, program: str, *options: str) -> None:
        log = open(self.folder / f"{program}.log", "wb")  # noqa: SIM115 (open as long as the daemon runs)
        started = subprocess.Popen([_daemon(program), *options], env=self.environment, stdout=log, stderr=log)
        log.close()
        self._daemons.append(started)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _daemon(program: str) -> str:
    return str(shutil.which(program, path=DAEMONS))
