"""Banks of made-up rollouts, and the smallest network that has every part."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import write_banks
from cvoting.data.puzzles import Puzzles
from cvoting.data.registry import SOURCES
from cvoting.params.akorn import AkornParams
from cvoting.params.datasets import GeneratedSudoku, Splits
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

HEADER = BankHeader("akorn-sudoku", "akorn", "sudoku_hard", "test", "generated", "made up for a test", 32, 0, 0)


@pytest.fixture(scope="session")
def tiny_akorn() -> AkornParams:
    """AKOrN for 4x4 boards."""
    return AkornParams(
        architecture="akorn",
        channels=16,
        oscillator_dim=4,
        heads=2,
        layers=1,
        step_size=1.0,
        omega="global",
        omega_initial=0.5,
        omega_learnable=True,
    )


@pytest.fixture(scope="session")
def puzzles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Puzzles]:
    """A few 4x4 boards to train on, by split."""
    source = GeneratedSudoku(
        kind="generated_sudoku", givens=(6, 9), seed=0, splits=Splits(train=20, validation=10, test=5)
    )
    task = Sudoku(name="sudoku", box=(2, 2))
    return SOURCES["generated_sudoku"]("boards", task, source, tmp_path_factory.mktemp("raw"))


@pytest.fixture
def make_bank() -> Callable[..., Bank]:
    """A bank of 4x4 boards; `first` is the number of its first puzzle, the puzzles are the same for all seeds."""

    def make(puzzles: int = 12, candidates: int = 8, first: int = 0, energies: bool = True, **changes: object) -> Bank:
        header = replace(HEADER, **changes)
        return concatenate([_one_puzzle(first + p, candidates, header, energies) for p in range(puzzles)])

    return make


@pytest.fixture
def bank_file(make_bank: Callable[..., Bank], tmp_path: Path) -> Callable[..., Path]:
    """Writes a made-up bank in parts of five puzzles; `name` is the file's."""

    def write(name: str, puzzles: int = 12, first: int = 0, **options: object) -> Path:
        starts = range(first, first + puzzles, 5)
        parts = (make_bank(min(5, first + puzzles - start), first=start, **options) for start in starts)
        write_banks(tmp_path / f"{name}.parquet", parts)
        return tmp_path / f"{name}.parquet"

    return write


def _one_puzzle(number: int, candidates: int, header: BankHeader, energies: bool) -> Bank:
    """Candidates answer the label, one wrong in a given only, or one of two wrong in a blank.

    Scores are rounded, so that some candidates tie.
    """
    rng = generator("made-up puzzle", number)
    label = rng.integers(1, 5, 16).astype(np.uint8)
    blank = rng.permutation(16) < 10
    wrong = label % 4 + 1
    given, first, second = np.flatnonzero(~blank)[0], *np.flatnonzero(blank)[:2]
    kinds = np.stack([label, *(np.where(np.arange(16) == at, wrong, label) for at in (given, first, second))])
    ease = rng.random()
    rng = generator("made-up rollouts", number, header.training_seed, header.inference_seed)
    kind = rng.choice(4, candidates, p=[0.8 * ease, 0.2 * ease, 0.5 * (1 - ease), 0.5 * (1 - ease)])
    _, appearance, ids = np.unique(kind, return_index=True, return_inverse=True)
    order = np.argsort(appearance)
    board = kind <= 1
    names = ["confidence", "negative_entropy", "log_probability"] + ["energy_last", "energy_sum"] * energies
    return Bank(
        header=header,
        puzzles=[f"{number:016x}"],
        questions=np.where(blank, 0, label).astype(np.uint8)[None],
        labels=label[None],
        answers=[kinds[kind[appearance[order]]]],
        answer_ids=np.argsort(order)[ids][None],
        scores={name: np.round(0.5 + 0.1 * board + 0.1 * rng.normal(size=candidates), 1)[None] for name in names},
        correct={"board": board[None], "all_cells": (kind == 0)[None]},
        cell_accuracy=np.where(board, 1.0, 0.9)[None],
    )
