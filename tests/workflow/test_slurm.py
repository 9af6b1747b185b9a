"""The workflow through a real SLURM of one node: the same bytes, what jobs ask for, and preemption."""

import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from local_slurm import LocalSlurm, missing
from project import Project, copy_checkout
from rerun_site import PARTIAL

from cvoting.estimate_jobs import Counts
from cvoting.flops.registry import network_flops
from cvoting.memory.registry import network_memory
from cvoting.params.reading import read_study
from cvoting.resources import Need, of_rollouts, of_trainings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.slurm,
    pytest.mark.skipif(bool(missing()), reason=f"SLURM and munge are not installed: no {', '.join(missing())}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root starts SLURM's daemons"),
]

BANK, RUN = "akorn-sudoku_hard", "akorn-sudoku"
#: Of a bank of two shards, and a table that is made of parameters alone.
TARGETS = (f"results/toy/voting/{BANK}.csv", "results/toy/tables/table3_akorn.csv")
TRAINING_LOG = "logs/toy/train/akorn-sudoku/seed0.log"
DATA = ("data/toy/sudoku/train.npz", "data/toy/sudoku_hard/test.npz")
#: The command that the documents name.
ON_SLURM = (sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm")
#: The accounts, the accounting and the leisure of a cluster are not here.
HERE = (
    *("--slurm-no-account", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5"),
)
#: A training of seconds, which saves no state of its own accord.
LONG = {"updates": 700, "checkpoint_every": 10**6, "validate_every": 500}
WAIT_SECONDS = 120
#: SLURM's KillWait: what has not ended so long after SIGTERM is killed.
KILL_WAIT_SECONDS = 30


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSlurm]:
    """A SLURM of this module's own."""
    local = LocalSlurm(tmp_path_factory.mktemp("slurm"))
    try:
        local.start()
        yield local
    finally:
        local.stop()


@dataclass(frozen=True)
class Runs:
    """The same study twice.

    Attributes:
        local: run on this machine.
        cluster: run by SLURM, which took the machine away from its training twice.
        took: seconds from SLURM's two orders to stop the training until its state was saved.
        logs: of the training, after each time.
    """

    local: Project
    cluster: Project
    took: list[float]
    logs: list[str]


@pytest.fixture(scope="module")
def runs(slurm: LocalSlurm, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Part of the toy study, with one pretend GPU for each job that trains or rolls out."""
    folder = tmp_path_factory.mktemp("toy")
    local = copy_checkout(folder / "local")
    for key, value in LONG.items():
        local.edit_params(value, "models", "akorn", "training", key)
    local.edit_params([0], "banks", BANK, "inference_seeds")
    local.snakemake(*DATA)
    shutil.copytree(local.folder, folder / "cluster")
    cluster = Project(folder / "cluster")
    cluster.edit_params(1, "gpus")
    cluster.snakemake_command = (*ON_SLURM, *HERE)
    cluster.environment = slurm.environment
    here, there = (project.start(*project.snakemake_command, *TARGETS) for project in (local, cluster))
    try:
        log = cluster.folder / TRAINING_LOG
        wait_for(lambda: "device: " in text_of(log), there)
        time.sleep(0.5)  # until it trains
        job = slurm.running()
        slurm.command("scontrol", "requeue", job)
        took = [wait_for(lambda: bool(list((cluster.folder / PARTIAL).glob("*.safetensors"))), there)]
        wait_for(lambda: "PENDING" in slurm.command("squeue", "--noheader", f"--jobs={job}", "--format=%T"), there)
        logs = [log.read_text()]
        slurm.command("scontrol", "update", f"JobId={job}", "StartTime=now")  # which it else is two minutes later
        wait_for(lambda: "continues after" in text_of(log), there)
        time.sleep(0.5)
        slurm.command("scancel", slurm.running())
        took.append(wait_for(lambda: "stopped by SIGTERM" in text_of(log), there))
        logs.append(log.read_text())
        for run in (there, here):
            said = run.communicate()[0]
            assert run.returncode == 0, said
    finally:
        for run in (here, there):
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                run.communicate()
    return Runs(local, cluster, took, [*logs, log.read_text()])


def text_of(log: Path) -> str:
    """What a job has written so far: Snakemake removes the log of a job that it starts again before that one writes."""
    try:
        return log.read_text()
    except FileNotFoundError:
        return ""


def wait_for(true: Callable[[], bool], run: subprocess.Popen[str]) -> float:
    """Wait until something is true, while a run goes on; how many seconds that took."""
    start = time.monotonic()
    while not true():
        if run.poll() is not None or time.monotonic() > start + WAIT_SECONDS:
            os.killpg(run.pid, signal.SIGKILL)
            raise AssertionError(f"waited in vain for {inspect.getsource(true).strip()}\n{run.communicate()[0]}")
        time.sleep(0.1)
    return time.monotonic() - start


def test_slurm_makes_the_same_bytes_as_this_machine(runs: Runs) -> None:
    assert set(TARGETS) <= set(runs.local.outputs())
    assert runs.cluster.outputs() == runs.local.outputs()


def test_afterwards_nothing_is_to_be_done_with_slurm_or_without(runs: Runs) -> None:
    for project in (runs.cluster, Project(runs.cluster.folder)):
        assert "Nothing to be done" in project.snakemake("--dry-run", *TARGETS)


def test_a_training_that_slurm_stops_saves_its_state_in_seconds_and_goes_on_from_it(runs: Runs) -> None:
    first, second, third = runs.logs
    (requeued,), (cancelled,) = (re.findall(r"the state after update (\d+) is kept", log) for log in (first, second))
    assert max(runs.took) < KILL_WAIT_SECONDS
    assert 0 < int(requeued) < int(cancelled) < LONG["updates"]
    assert f"continues after {requeued} of {LONG['updates']} updates" in second
    assert f"continues after {cancelled} of {LONG['updates']} updates" in third


def test_heavy_jobs_ask_slurm_for_what_they_are_estimated_to_need(runs: Runs, slurm: LocalSlurm) -> None:
    study = read_study(runs.cluster.folder / "params.yaml")
    counts = Counts(network_flops, partial(network_memory, device="gpu"))
    training, rollouts = of_trainings(study, counts)[RUN], of_rollouts(study, counts)[BANK]
    asked: dict[str, list[tuple[str, ...]]] = {}
    for job in slurm.jobs():
        rule = job["comment"].partition("_wildcards_")[0].removeprefix("rule_")
        asked.setdefault(rule, []).append((job["tres-per-job"], job["minmemory"], job["timelimit"]))
    # The training's second attempt, after `scancel`, asks for more; when SLURM itself starts a job anew, it does not.
    assert asked["train"] == [request(training, 1), request(training, 2)]
    assert asked["rollouts"] == [request(rollouts, 1)] * 2
    assert {gpus for gpus, _, _ in asked["voting"]} == {"N/A"}
    assert set(asked) == {"train", "rollouts", "voting"}


def request(need: Need, attempt: int) -> tuple[str, ...]:
    """GPUs, memory and time, as squeue shows them."""
    minutes = need.runtime * attempt
    return f"gres:gpu:{need.gpu}", f"{need.mem_mb * attempt}M", f"{minutes}:00"
