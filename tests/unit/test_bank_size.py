"""How large a bank will be, against banks that are there."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks
from cvoting.bank_from_answers import bank_from_answers, reading_from_answers
from cvoting.bank_size import bank_bytes, in_words
from cvoting.data.puzzles import Puzzles
from cvoting.models.base import RecurrentModel
from cvoting.models.registry import MODELS
from cvoting.params.akorn import AkornParams
from cvoting.params.network import NetworkParams
from cvoting.params.rollouts import RolloutPlan
from cvoting.rollouts import roll_out
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
HEADER = BankHeader("run", "a model", "boards", "test", "generated", "a generator", 4, 0, 5)
PLAN = RolloutPlan(
    T_eval=4, candidates=8, chunk=16, logit_candidates=5, read_at=(1, 3), read_candidates=3, temperatures=(0.5,)
)


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
        "logits": sum(kept.nbytes for kept in (*bank.logits, *bank.ranks)),
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
