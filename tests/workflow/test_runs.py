"""Whole runs of the toy study: the same bytes twice, with records and provenance."""

import json
import re
import shutil
import sys
from pathlib import Path

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
    tables = [*TOY.voting(), *TOY.adaptive(), *TOY.study["banks"]]  # each bank has a paired comparison too
    assert sum(name.startswith("results/toy/voting/") for name in names) == len(tables)
    assert not list((built.folder / PARTIAL).glob("*"))
    assert (built.folder / f"{CHECKPOINT}.run.json").is_file()


def test_the_lock_file_knows_every_file_that_was_made(built):
    lock = json.loads((built.folder / "provenance/toy.lock.json").read_text())
    assert set(lock["outputs"]) == set(built.outputs())


def test_what_made_a_figure_goes_up_to_puzzles_and_seeds_and_is_verified(built):
    command = (sys.executable, "-m", "cvoting", "provenance", "figures/fig2_akorn_voting.pdf", "--verify")
    said = built.command(*command)
    for words in ("made by: copy_figure", "made by: voting", "inference_seed: 1", "made by: train", "training_seed: 0"):
        assert words in said
    assert f"\n{CHECKPOINT}\n" in said
    count = len(re.findall(r"^  sha256: ", said, flags=re.MULTILINE))
    assert said.endswith(f"verified: {count} of {count} files are here, with the contents that the lock file says\n")
