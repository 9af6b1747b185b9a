"""Time of a plan of many rollout shards of which none is there, and of many jobs that do nothing.

The study is the toy study with a bank in many shards, whose jobs write empty files (`bench_plan`).
"""

import shutil
from functools import partial
from pathlib import Path

import yaml

from bench_plan import project, snakemake
from harness import ROOT, Row, Settings, Work, compare
from yardsticks import looping

STUDY, DATASET, BANK = ROOT / "params/toy.yaml", "sudoku_hard", "akorn-sudoku_hard"
#: Shards that are planned, and those that are run.
PLANNED, RUN = 5000, 200
QUICK = 4


def measure(settings: Settings) -> list[Row]:
    """Plans and jobs per second."""
    planned, run = (QUICK, QUICK) if settings.quick else (PLANNED, RUN)
    of_plan, of_jobs = (sharded(settings.folder / name, n) for name, n in (("plan", planned), ("jobs", run)))
    works = [
        Work(f"plan of {planned} shards", partial(plan, of_plan, planned), 1, "plans"),
        Work(f"run of {run} shards, empty files", partial(run_all, of_jobs), run, "jobs"),
    ]
    return compare(works, [looping(settings)], settings)


def sharded(folder: Path, shards: int) -> Path:
    """A project with a bank in many shards, one for each puzzle.

    Args:
        folder: to be made.
        shards: how many.
    """
    folder.mkdir()
    study = yaml.safe_load(STUDY.read_text())
    study["datasets"][DATASET]["source"]["splits"]["test"] = shards
    study["banks"][BANK] |= {"shards": shards, "chunk": 1, "inference_seeds": [0]}
    parameters = folder.with_suffix(".yaml")
    parameters.write_text(yaml.safe_dump(study, sort_keys=False))
    project(parameters, folder)
    return folder


def plan(folder: Path, shards: int) -> None:
    """Plan everything.

    Args:
        folder: the project.
        shards: of the bank.
    """
    said = snakemake(folder, "-n")
    assert said.count(f"rolling out {BANK}: ") == shards, said


def run_all(folder: Path) -> None:
    """Run what a bank needs, and a vote on it.

    Args:
        folder: the project, in which results are removed first.
    """
    shutil.rmtree(folder / "results", ignore_errors=True)
    snakemake(folder, f"results/toy/voting/{BANK}.csv")
