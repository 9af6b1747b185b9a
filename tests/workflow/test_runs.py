"""Whole runs of the toy study: the same bytes twice, and after every kind of interruption."""

import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest
from study_jobs import StudyJobs

pytestmark = pytest.mark.slow

TOY = StudyJobs(Path(__file__).parents[2] / "params/toy.yaml")
FIGURES, TABLES = (list(TOY.study[kind]) for kind in ("figures", "tables"))

PARTIAL = "results/toy/.partial"
CHECKPOINT = "results/toy/checkpoints/akorn-sudoku/seed0.safetensors"


def test_a_second_run_in_another_directory_gives_the_same_bytes(built, elsewhere):
    shutil.copyfile(built.folder / "params.yaml", elsewhere.folder / "params.yaml")
    built.snakemake("--directory", str(elsewhere.folder))
    assert elsewhere.outputs() == built.outputs()
    assert "Nothing to be done" in built.snakemake("--dry-run", "--directory", str(elsewhere.folder))


def test_a_run_makes_all_files_of_the_study_with_a_record_beside_them(built):
    names = set(built.outputs())
    assert {f"figures/{figure}.{kind}" for figure in FIGURES for kind in ("pdf", "png")} <= names
    assert {f"results/toy/figures/{figure}.{kind}" for figure in FIGURES for kind in ("pdf", "png", "csv")} <= names
    assert {f"results/toy/tables/{table}.{kind}" for table in TABLES for kind in ("csv", "md", "tex")} <= names
    assert sum(name.startswith("results/toy/rollouts/") for name in names) == len(TOY.rollouts())
    assert sum(name.startswith("results/toy/voting/") for name in names) == len(TOY.voting()) + len(TOY.study["banks"])
    assert not list((built.folder / PARTIAL).glob("*"))
    assert (built.folder / f"{CHECKPOINT}.run.json").is_file()


def test_what_made_a_figure_goes_up_to_puzzles_and_seeds_and_is_verified(built):
    command = (sys.executable, "-m", "cvoting", "provenance", "figures/fig2_akorn_voting.pdf", "--verify")
    said = built.command(*command)
    for words in ("made by: copy_figure", "made by: voting", "inference_seed: 1", "made by: train", "training_seed: 0"):
        assert words in said
    assert f"\n{CHECKPOINT}\n" in said
    count = len(re.findall(r"^  sha256: ", said, flags=re.MULTILINE))
    assert said.endswith(f"verified: {count} of {count} files are here, with the contents that the lock file says\n")


def test_the_report_has_every_figure_and_table_with_its_caption(built, tmp_path):
    built.snakemake("--report", str(tmp_path / "report.html"))
    report = (tmp_path / "report.html").read_text()
    title = TOY.study["title"]
    for name in FIGURES + TABLES:
        assert name in report
        number = re.match(r"(fig|table)(\d+)|extra", name)
        kind = {"fig": f"Figure {number[2]}", "table": f"Table {number[2]}"}.get(number[1], "Beyond the paper")
        assert f"{kind} ({title})" in report


@pytest.fixture(scope="module")
def long_training(copy_project, tmp_path_factory):
    """A project in which a training takes seconds, after an uninterrupted run of it."""
    project = copy_project(tmp_path_factory.mktemp("long") / "whole")
    _lengthen(project)
    project.snakemake(CHECKPOINT)
    return project


@pytest.fixture
def interrupted(copy_project, tmp_path):
    """The same project before its run."""
    project = copy_project(tmp_path / "interrupted")
    _lengthen(project)
    return project


def test_a_killed_training_goes_on_from_its_last_checkpoint(long_training, interrupted):
    run = _start(interrupted)
    job = next(p for p in psutil.Process(run.pid).children(recursive=True) if _is_training(p))
    job.send_signal(signal.SIGKILL)
    printed, _ = run.communicate()
    assert run.returncode != 0
    assert "At least one job did not complete successfully" in printed
    interrupted.snakemake(CHECKPOINT)
    assert "continues after" in _log(interrupted)
    assert interrupted.outputs() == long_training.outputs()


def test_after_a_crash_of_the_machine_the_same_command_goes_on(long_training, interrupted):
    run = _start(interrupted)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    assert list((interrupted.folder / ".snakemake/locks").iterdir())
    interrupted.snakemake(CHECKPOINT)
    assert "continues after" in _log(interrupted)
    assert interrupted.outputs() == long_training.outputs()
    assert (interrupted.folder / "provenance/toy.lock.json").read_bytes() == (
        long_training.folder / "provenance/toy.lock.json"
    ).read_bytes()


def _lengthen(project):
    for key, value in (("updates", 400), ("checkpoint_every", 20), ("validate_every", 150)):
        project.edit_params(value, "models", "akorn", "training", key)


def _start(project):
    """Start a run and wait until the training has saved its state."""
    run = project.start(*project.snakemake_command, CHECKPOINT)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and run.poll() is None:
        if list((project.folder / PARTIAL).glob("*.safetensors")):
            return run
        time.sleep(0.01)
    raise AssertionError(f"no training state appeared:\n{run.communicate()[0]}")


def _is_training(process):
    try:
        return {"cvoting", "train"} <= set(process.cmdline())
    except psutil.Error:
        return False


def _log(project):
    return "".join(path.read_text() for path in (project.folder / "logs/toy/train").rglob("*.log"))
