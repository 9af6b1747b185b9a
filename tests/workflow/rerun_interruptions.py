"""What goes wrong while or after something is made: kills, two runs at once, files that a hand has touched."""

import os
import re
import signal

from rerun_rows import IDLE, TOY, Row, assert_jobs, collector
from rerun_site import CHECKPOINT, PARTIAL, Site, kill_training, start_training, training_log
from study_jobs import SUMMARY

from unprivileged import launcher

ROWS: list[Row] = []
row = collector(ROWS)
TABLE = "results/toy/voting/akorn_n2-sudoku_hard.csv"
SHARD = "results/toy/rollouts/akorn-sudoku_hard/train0-infer1/shard1.parquet"
BANK = ["akorn_n2-sudoku_hard"]


@row(
    "a training is killed (kill -9)",
    "snakemake\nkill -9 <the training>\nsnakemake",
    "the run fails; the second goes on from the last checkpoint, with the same bytes in the end",
)
def killed_training(site: Site) -> str:
    """Its state lies outside the outputs, which Snakemake deletes."""
    project = site.interruptible()
    run = start_training(project)
    kill_training(run)
    printed, _ = run.communicate()
    assert run.returncode != 0
    assert "At least one job did not complete successfully" in printed
    project.snakemake(CHECKPOINT)
    assert "continues after" in training_log(project)
    assert project.outputs() == site.uninterrupted.outputs()
    return "it continues; the same bytes as without the kill"


@row(
    "everything is killed, as by a power cut",
    "snakemake\nkill -9 <snakemake and its jobs>\nsnakemake",
    "Snakemake's lock is left and goes with the second run, which goes on from the last checkpoint",
)
def killed_run(site: Site) -> str:
    """A lock counts as long as its process lives."""
    project = site.interruptible()
    run = start_training(project)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    assert list((project.folder / ".snakemake/locks").iterdir())
    project.snakemake(CHECKPOINT)
    assert "continues after" in training_log(project)
    assert project.outputs() == site.uninterrupted.outputs()
    locks = [p.folder / "provenance/toy.lock.json" for p in (project, site.uninterrupted)]
    assert locks[0].read_bytes() == locks[1].read_bytes()
    return "it continues; the same bytes, the same lock file"


@row(
    "a scheduler takes the machine away (SIGTERM to every process)",
    "snakemake\nkill -TERM <snakemake and its jobs>\nsnakemake",
    "the training saves its state before it ends, and its log says so; the second run goes on from there",
)
def taken_away(site: Site) -> str:
    """The shell of a job and what writes its log outlive it."""
    project = site.interruptible()
    run = start_training(project)
    os.killpg(run.pid, signal.SIGTERM)
    run.communicate()
    assert run.returncode != 0
    (saved,) = re.findall(r"stopped by SIGTERM: the state after update (\d+) is kept", training_log(project))
    project.snakemake(CHECKPOINT)
    assert f"continues after {saved} of" in training_log(project)
    assert project.outputs() == site.uninterrupted.outputs()
    return "it continues after the last update; the same bytes as without it"


@row(
    "two runs at once",
    "snakemake &\nsnakemake",
    "the second is refused before any job and names the folder; the first goes on",
)
def two_runs(site: Site) -> str:
    """What they share is Snakemake's lock."""
    project = site.interruptible()
    first = start_training(project)
    first.send_signal(signal.SIGSTOP)  # on a busy machine it could end before the second has begun
    said = project.snakemake(CHECKPOINT, check=False)
    first.send_signal(signal.SIGCONT)
    assert "Error: Directory cannot be locked." in said
    assert str(project.folder) in said
    assert project.jobs(said) == []
    assert list((project.folder / PARTIAL).glob("*.safetensors"))
    first.communicate()
    assert first.returncode == 0
    assert project.outputs() == site.uninterrupted.outputs()
    return '"Directory cannot be locked"; the first run ends well, the same bytes'


@row(
    "a table is deleted by hand",
    f"rm {TABLE}\nsnakemake",
    "it is made again, the same bytes, and nothing else",
)
def deleted(site: Site) -> str:
    """What it was made into is right still: contents count."""
    clone = site.clone("results/toy/voting", "results/toy/rollouts/akorn_n2-sudoku_hard")
    path = clone.folder / TABLE
    before = path.read_bytes()
    path.unlink()
    ran = clone.jobs(clone.snakemake(TABLE))
    assert path.read_bytes() == before
    return assert_jobs(ran, [f"voting in {BANK[0]}"])


@row(
    "a checkpoint is deleted by hand",
    f"rm {CHECKPOINT}\nsnakemake -n\ndvc checkout",
    "the rollouts that were made from it are right still; its stage would make it again, DVC's cache has it",
)
def deleted_checkpoint(site: Site) -> str:
    """Nothing that is asked for needs it."""
    with site.edited() as clone:
        (clone.folder / CHECKPOINT).unlink()
        assert_jobs(clone.plan(), [])
        planned = assert_jobs(clone.plan("stage_train"), TOY.training(["akorn-sudoku"]))
        assert "results/toy/checkpoints" in clone.dvc("status")
        clone.dvc("checkout", "--quiet")
        assert_jobs(clone.plan("stage_train"), [])
    return f"{IDLE}; `snakemake stage_train`: {planned}; after `dvc checkout`: {IDLE}"


@row(
    "one shard of a bank is lost",
    f"rm {SHARD}\nsnakemake -n\nsnakemake stage_rollouts",
    "the tables that were made from it are right still; its stage makes it again alone, the same bytes",
)
def lost_shard(site: Site) -> str:
    """A shard depends on no other one."""
    clone = site.clone()
    path = clone.folder / SHARD
    before = path.read_bytes()
    path.unlink()
    assert_jobs(clone.plan(), [])
    ran = clone.jobs(clone.snakemake("stage_rollouts"))
    assert path.read_bytes() == before
    lost = "rolling out akorn-sudoku_hard: training seed 0, inference seed 1, shard 1"
    redone = assert_jobs(ran, [lost])
    assert_jobs(clone.plan(), [])
    return f"{IDLE}; `snakemake stage_rollouts`: {redone}"


@row(
    "a table is edited by hand",
    f"edit {TABLE}\nsnakemake -n",
    "it is made again, and what was made of it: neither is the product of its parameters any more",
)
def edited(site: Site) -> str:
    """Its contents are not those that the lock file tells."""
    with site.edited() as clone:
        path = clone.folder / TABLE
        right = path.read_bytes()
        path.write_bytes(right.replace(b"0.", b"1.", 1))
        planned = assert_jobs(clone.plan(), [f"voting in {BANK[0]}", *TOY.figures(BANK, votes=True), *SUMMARY])
        said = clone.cvoting("provenance", "results/toy/figures/fig2_akorn_voting.pdf", "--verify", check=False)
        assert f"{TABLE}: its SHA-256 is " in said
        path.write_bytes(right)
        assert_jobs(clone.plan(), [])
    return f"{planned}; `provenance --verify` names it; with the right contents back, {IDLE}"


@row(
    "an output that is to be made again is read-only, as where DVC links it to its cache",
    f"edit voting.level\nsnakemake {TABLE}\ndvc unprotect {TABLE}\nsnakemake {TABLE}",
    "refused before any job, with the file's name; a copy of its own may be replaced, and the cache keeps the other",
)
def read_only(site: Site) -> str:
    """As a user who is not root; Snakemake refuses what it may not write."""
    clone = site.clone("results/toy/voting", "results/toy/rollouts/akorn_n2-sudoku_hard", link="hardlink")
    path = clone.folder / TABLE
    before = path.read_bytes()
    clone.edit_params(0.9, "voting", "level")
    command = (*launcher(), *clone.snakemake_command, TABLE)
    said = clone.command(*command, check=False)
    assert "ProtectedOutputException" in said
    assert TABLE in said
    assert clone.jobs(said) == []
    assert path.read_bytes() == before
    for output in (TABLE, TABLE.replace(".csv", ".paired.csv")):
        clone.dvc("unprotect", output)
    ran = clone.jobs(clone.command(*command))
    assert path.read_bytes() != before
    clone.git("checkout", "--quiet", ".")
    clone.dvc("checkout", "--quiet", "--force", "results/toy/voting")
    assert path.read_bytes() == before
    return f'"Write-protected output files"; after `dvc unprotect`: {assert_jobs(ran, [f"voting in {BANK[0]}"])}'
