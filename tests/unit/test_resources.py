"""What jobs ask a scheduler for."""

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from cvoting import recipes
from cvoting.assumed_gpu import RATE
from cvoting.estimate_jobs import Counts, of_bank, of_run
from cvoting.flops.registry import network_flops
from cvoting.memory.registry import network_memory
from cvoting.params.reading import read_study
from cvoting.params.study import Study
from cvoting.resources import (
    FLOOR_MB,
    FLOOR_MINUTES,
    GPU_FLOOR_MB,
    MEMORY_MARGIN,
    THREAD_RATE,
    TIME_MARGIN,
    Need,
    of_rollouts,
    of_trainings,
)

ROOT = Path(__file__).parents[2]
LAPTOP, PAPER = (read_study(ROOT / name) for name in ("params.yaml", "params/paper.yaml"))


def counts(study: Study) -> Counts:
    """How networks are counted on a study's devices."""
    return Counts(network_flops, partial(network_memory, device="gpu" if study.gpus else "cpu"))


def needs(study: Study) -> dict[str, Need]:
    """What trainings and rollouts ask for, by run and bank, whose names differ only by chance."""
    of = counts(study)
    trainings = {f"train {name}": need for name, need in of_trainings(study, of).items()}
    return trainings | {f"rollouts {name}": need for name, need in of_rollouts(study, of).items()}


def test_without_gpus_jobs_ask_for_the_estimated_memory_and_time_of_cpus() -> None:
    asked, of = needs(LAPTOP), counts(LAPTOP)
    for stage, jobs, names in (("train", of_run, LAPTOP.runs), ("rollouts", of_bank, LAPTOP.banks)):
        for name in names:
            need, job = asked[f"{stage} {name}"], max(jobs(LAPTOP, name, of), key=lambda job: job.flops)
            assert (need.gpu, need.threads) == (0, LAPTOP.threads)
            # Above the estimate only the puzzles, of which each study has a few MB at most.
            assert -1 <= need.mem_mb - FLOOR_MB - MEMORY_MARGIN * job.memory / 1e6 < 10
            minutes = job.flops / (THREAD_RATE * LAPTOP.threads) / 60
            assert need.runtime == FLOOR_MINUTES + round(TIME_MARGIN * minutes)


def test_with_a_gpu_the_time_is_that_of_the_assumed_rate_and_the_memory_is_not_the_gpus() -> None:
    need = needs(PAPER)["train hrm_fixed-maze_hard"]
    (job,) = of_run(PAPER, "hrm_fixed-maze_hard", counts(PAPER))
    assert need.runtime == FLOOR_MINUTES + round(TIME_MARGIN * job.flops / RATE / 60)
    assert need.gpu == 1
    # What it goes on from is written from there; the rest is on the GPU.
    assert MEMORY_MARGIN * job.disk["resume"] / 1e6 <= need.mem_mb - GPU_FLOOR_MB < 0.1 * job.memory / 1e6


def test_a_training_takes_all_gpus_with_a_process_each_and_rollouts_one() -> None:
    one, four = needs(PAPER), needs(replace(PAPER, gpus=4))
    for name, need in four.items():
        if name.startswith("train"):
            assert (need.gpu, need.threads, need.mem_mb) == (4, 4 * PAPER.threads, 4 * one[name].mem_mb)
            assert 4 * (need.runtime - FLOOR_MINUTES) == pytest.approx(one[name].runtime - FLOOR_MINUTES, abs=4)
        else:
            assert need == one[name]


def test_the_most_of_a_banks_shards_is_what_all_ask_for() -> None:
    bank = "itrsa-sudoku_hard"
    study = replace(PAPER, banks=PAPER.banks | {bank: replace(PAPER.banks[bank], shards=7)})
    assert of_rollouts(study, counts(study))[bank].runtime > of_rollouts(PAPER, counts(PAPER))[bank].runtime
    largest = max(job.flops for job in of_bank(study, bank, counts(study)))
    expected = FLOOR_MINUTES + round(TIME_MARGIN * largest / RATE / 60)
    assert of_rollouts(study, counts(study))[bank].runtime == expected


def test_what_is_asked_for_is_in_no_recipe() -> None:
    other = replace(LAPTOP, gpus=4, threads=3)
    for run in LAPTOP.runs:
        assert recipes.train(other, run, 0) == recipes.train(LAPTOP, run, 0)
    for bank in LAPTOP.banks:
        assert recipes.rollouts(other, bank, 0, 0) == recipes.rollouts(LAPTOP, bank, 0, 0)


def test_what_jobs_ask_for_is_known_without_torch() -> None:
    imports = (
        "import cvoting.resources, cvoting.flops.registry, cvoting.memory.registry, sys; print(sys.modules.keys())"
    )
    loaded = subprocess.run([sys.executable, "-c", imports], env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True)
    assert b"cvoting.resources" in loaded.stdout
    assert b"'torch'" not in loaded.stdout
