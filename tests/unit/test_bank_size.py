"""How large a bank will be, against banks that are there."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks
from cvoting.bank_from_answers import bank_from_answers, reading_from_answers
from cvoting.bank_size import bank_bytes, in_words
from cvoting.data.puzzles import Puzzles
from cvoting.estimate import bank_sizes
from cvoting.models.base import RecurrentModel
from cvoting.models.registry import MODELS
from cvoting.params.akorn import AkornParams
from cvoting.params.core import build
from cvoting.params.network import NetworkParams
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.study import Study
from cvoting.rollouts import roll_out
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
HEADER = BankHeader("run", "a model", "boards", "test", "generated", "a generator", 4, 0, 5)
PLAN = RolloutPlan(
    T_eval=4, candidates=8, chunk=16, logit_candidates=5, read_at=(1, 3), read_candidates=3, temperatures=(0.5,)
)
#: Python sizes by what they hold.
PARTS = ("answers", "scores", "steps", "logits")


def held(bank: Bank) -> dict[str, float]:
    """Bytes of the arrays of a bank, of which metrics take a bit in a file."""

    def of(part: object) -> float:
        bits = sum(correct.size for correct in part.correct.values())
        return sum(map(np.size, part.scores.values())) * 8 + part.cell_accuracy.nbytes + bits / 8

    tokens = bank.questions.nbytes + bank.labels.nbytes + sum(answers.nbytes for answers in bank.answers)
    return {
        "answers": tokens + bank.answer_ids.astype(np.int32).nbytes,
        "scores": of(bank),
        "steps": sum(map(of, bank.steps.values())),
        "logits": sum(logits.nbytes for logits in bank.logits),
    }


def test_a_bank_in_which_no_answer_repeats_has_exactly_these_bytes(puzzles: dict[str, Puzzles]) -> None:
    boards, rng = puzzles["train"][:8], generator("made-up answers")
    answers = rng.integers(1, 5, (8, 8, 16))
    logits = np.where(np.arange(5) > 0, rng.random((8, 5, 16, 5)), -np.inf)
    scores = {name: rng.random((8, 8)) for name in PLAN.scores(())}
    read = {name: values[:, :3] for name, values in scores.items() if name in PLAN.step_scores(())}
    steps = {step: reading_from_answers(TASK, boards, answers[:, :3], read) for step in PLAN.read_at}
    bank = bank_from_answers(HEADER, TASK, boards, answers, scores, steps, logits=logits)
    assert all(len(table) == 8 for table in bank.answers)
    asked = int((boards.questions == 0).sum())
    assert bank_bytes(PLAN, TASK, NetworkParams(), 8, asked) == held(bank)


def test_where_candidates_agree_a_bank_takes_less(make_bank: Callable[..., Bank], tiny_akorn: AkornParams) -> None:
    bank = make_bank()
    most = bank_bytes(RolloutPlan(T_eval=1, candidates=8, chunk=8), TASK, tiny_akorn, 12, 0)
    assert most["scores"] == held(bank)["scores"]
    assert most["answers"] > held(bank)["answers"]
    assert (most["steps"], most["logits"]) == (0, 0)


@pytest.fixture(scope="module")
def models(tiny_networks) -> dict[str, RecurrentModel]:
    models = {name: MODELS[name].for_task(tiny_networks[name], TASK) for name in ("akorn", "hrm")}
    for model in models.values():
        model.initialise(torch.Generator().manual_seed(0))
    return models


@pytest.mark.parametrize("architecture", ["akorn", "hrm"])
def test_no_part_of_a_bank_that_was_rolled_out_is_larger_than_said(
    models, puzzles: dict[str, Puzzles], architecture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boards, path, model = puzzles["test"], tmp_path / "bank", models[architecture]
    roll_out(model, TASK, boards, PLAN, HEADER, path, tmp_path / "partial", torch.device("cpu"))
    asked = int((boards.questions == 0).sum())
    said = bank_bytes(PLAN, TASK, model.params, len(boards), asked)
    for part, size in held(concatenate(read_banks(path))).items():
        assert 0 < size <= said[part], part
    assert f"this shard takes {in_words(said)}" in capsys.readouterr().out


def test_sizes_are_told_in_megabytes_without_parts_that_are_not_there() -> None:
    parts = {"answers": 1_250_000_000, "scores": 500_000, "steps": 0, "logits": 40_000}
    assert in_words(parts) == "at most 1,250.5 MB before compression (answers 1,250.0, scores 0.5, logits 0.0)"


@pytest.fixture(scope="module")
def toy(repository: Path) -> Study:
    return build(Study, yaml.safe_load((repository / "params/toy.yaml").read_text()))


def test_steps_and_logits_count_once_for_each_training_seed_and_all_else_for_each_inference_seed(toy: Study) -> None:
    name = "itrsa-sudoku_hard"
    bank, run = toy.banks[name], toy.runs[toy.banks[name].run]

    def sizes(trainings: int, seeds: int) -> dict[str, float]:
        study = replace(
            toy,
            banks={**toy.banks, name: replace(bank, inference_seeds=tuple(range(5, 5 + seeds)))},
            runs={**toy.runs, bank.run: replace(run, training_seeds=tuple(range(trainings)))},
        )
        row = bank_sizes(study).set_index("bank").loc[name]
        return {part: row[f"{part} (MB)"] for part in PARTS}

    assert all(size > 0 for size in sizes(1, 2).values())
    network = toy.models[run.model].network
    of_bank = {part: n / 1e6 for part, n in bank_bytes(bank, TASK, network, 24, 24 * 16).items()}
    for trainings, seeds in ((1, 2), (1, 3), (2, 2), (2, 3)):
        times = dict.fromkeys(PARTS, trainings * seeds) | {"steps": trainings, "logits": trainings}
        assert sizes(trainings, seeds) == pytest.approx({part: size * times[part] for part, size in of_bank.items()})


def test_the_command_tells_the_size_of_every_bank_and_of_all(repository: Path, toy: Study) -> None:
    command = [sys.executable, "-m", "cvoting", "estimate", "--params", str(repository / "params/toy.yaml")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in run.stdout.splitlines()]
    assert run.stdout.startswith("at most, as plain numbers before compression:\n\n")
    lines = {name: rest for name, *rest in cells[4:]}
    assert list(lines) == [*toy.banks, "all banks"]
    assert lines["itrsa-sudoku_hard"][0] == "24 puzzles x 8 candidates"
    assert lines["itrsa-sudoku_hard"][1] == "1 x 2"
    table = bank_sizes(toy)
    assert float(lines["all banks"][-1]) == pytest.approx(table["all (MB)"].iloc[:-1].sum(), abs=0.06)
    assert table["all (MB)"].iloc[-1] == pytest.approx(table["all (MB)"].iloc[:-1].sum())
