"""Rollouts: the network alone, and the engine that draws noise, scores, judges and writes a bank."""

import os
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import torch

from cases import Case
from cvoting.bank import BankHeader
from cvoting.data.puzzles import Puzzles
from cvoting.flops.registry import network_flops
from cvoting.flops.rollouts import bank_flops, rollout_flops
from cvoting.params.rollouts import RolloutPlan
from cvoting.rollouts import roll_out
from harness import Row, Settings, Work, compare
from yardsticks import linear_map, matrix_product

CASES = (
    Case("paper", "akorn-sudoku", 16),
    Case("paper", "itrsa-sudoku_extreme", 16),
    Case("paper", "hrm-sudoku_extreme", 16, steps=2),
    Case("paper", "transformer-sudoku", 64),
    Case("laptop", "akorn-sudoku", 128),
    Case("laptop", "itrsa-sudoku_extreme", 128),
    Case("laptop", "hrm-sudoku_extreme", 128, steps=2),
    Case("laptop", "transformer-sudoku", 128),
)
QUICK = (Case("toy", "akorn-sudoku", 2),)
#: Of the bank that the engine writes.
BANK, BANK_PUZZLES, BANK_CANDIDATES = Case("laptop", "akorn-sudoku", 128), 16, 128
QUICK_BANK = Case("toy", "akorn-sudoku", 2)


def measure(settings: Settings) -> list[Row]:
    """GFLOP/s of rollouts, those of `cvoting.flops`."""
    yardsticks = [linear_map(settings), matrix_product(settings)]
    works = [network_alone(case) for case in (QUICK if settings.quick else CASES)]
    bank = QUICK_BANK if settings.quick else BANK
    puzzles, candidates = (2, 4) if settings.quick else (BANK_PUZZLES, BANK_CANDIDATES)
    works.append(engine(bank, puzzles, candidates, settings.folder))
    return [row for work in works for row in compare([work], yardsticks, settings)]


def network_alone(case: Case) -> Work:
    """Rollouts and their readout, from noise that is there.

    Args:
        case: what is rolled out.
    """
    model = case.model().eval()
    batch, steps = case.batch(model), case.training.T_train
    run: Callable[[], object] = torch.inference_mode()(lambda: model(batch.questions, batch.noise, steps))
    flops = case.rows * rollout_flops(network_flops(case.network, case.task), steps, 1)
    return Work(case.name, run, flops / 1e9, "GFLOP")


def engine(case: Case, puzzles: int, candidates: int, folder: Path) -> Work:
    """A bank, from noise to file.

    Args:
        case: the model; its rows are the rollouts at once.
        puzzles, candidates: of the bank.
        folder: for the file.
    """
    plan = RolloutPlan(T_eval=case.training.T_train, candidates=candidates, chunk=case.rows)
    flops = puzzles * bank_flops(network_flops(case.network, case.task), plan)
    what = f"{case.name}: bank of {puzzles} puzzles x {candidates}"
    return Work(what, lambda: write_bank(case, plan, puzzles, folder / "bank.parquet"), flops / 1e9, "GFLOP")


def write_bank(case: Case, plan: RolloutPlan, puzzles: int, path: Path) -> None:
    """Roll out random boards.

    Args:
        case: the model.
        plan: steps, candidates and chunk.
        puzzles: how many.
        path: the bank's file.
    """
    header = BankHeader(
        case.run, case.network.architecture, "made-up", "test", "generated", "random", plan.T_eval, 0, 0
    )
    partial = path.with_suffix(".partial")
    boards = random_boards(case, puzzles)
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        roll_out(case.model(), case.task, boards, plan, header, path, partial, torch.device("cpu"))


def random_boards(case: Case, puzzles: int) -> Puzzles:
    """Boards of random tokens, half of them blank: rollouts take as long as of boards that have a solution.

    Args:
        case: whose task they are of.
        puzzles: how many.
    """
    rng, task = np.random.Generator(np.random.Philox(2)), case.task
    shape = (puzzles, task.cells)
    labels = rng.integers(task.first_answer_token, task.first_answer_token + task.classes, size=shape)
    questions = np.where(rng.random(shape) < 0.5, 0, labels)
    return Puzzles(questions.astype(np.uint8), labels.astype(np.uint8), "generated", "random")
