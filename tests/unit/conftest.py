"""Banks of made-up rollouts, and the smallest network that has every part."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import write_banks
from cvoting.bank_from_answers import bank_from_answers
from cvoting.data.puzzles import Puzzles
from cvoting.data.registry import SOURCES
from cvoting.params.akorn import AkornParams
from cvoting.params.datasets import GeneratedSudoku, Splits
from cvoting.params.hrm import HrmParams
from cvoting.params.itrsa import CrossAttentionParams, ItrsaParams, SwiGluParams
from cvoting.params.network import NetworkParams
from cvoting.params.transformer import TransformerParams
from cvoting.seeding import generator
from cvoting.tasks.base import Task
from cvoting.tasks.maze import FREE, GOAL, START, WALL, Maze
from cvoting.tasks.sudoku import Sudoku

BOARDS = Sudoku(name="sudoku", box=(2, 2))
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
def tiny_networks(tiny_akorn: AkornParams) -> dict[str, NetworkParams]:
    """The smallest network of every architecture that has each of its parts."""
    return {
        "akorn": tiny_akorn,
        "hrm": HrmParams(
            architecture="hrm",
            channels=16,
            heads=2,
            expansion=1.0,
            H_cycles=2,
            L_cycles=2,
            H_layers=1,
            L_layers=1,
            positions="rope",
            prefix=True,
            initial_state="per_token",
        ),
        "itrsa": ItrsaParams(
            architecture="itrsa",
            channels=16,
            heads=2,
            self_attentions=2,
            input_mixing=CrossAttentionParams(kind="cross_attention"),
            feed_forward=SwiGluParams(kind="swiglu", hidden=16),
            gta="learnable",
            norm_affine=False,
            norm_eps=1e-6,
        ),
        "transformer": TransformerParams(architecture="transformer", channels=16, heads=2, blocks=1, hidden=16),
    }


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


@pytest.fixture
def predicted_bank() -> Callable[..., Bank]:
    """A bank that keeps logits, of 4x4 boards with one blank or more, or of mazes.

    `first` is the number of its first puzzle, the puzzles are the same for all seeds.  Confidences are those of the
    logits, rounded so that some candidates tie.
    """

    def make(
        task: Task = BOARDS, puzzles: int = 12, candidates: int = 6, kept: int = 4, first: int = 0, **changes: object
    ) -> Bank:
        header = replace(HEADER, **changes)
        return concatenate([_one_prediction(task, first + p, candidates, kept, header) for p in range(puzzles)])

    return make


def _one_prediction(task: Task, number: int, candidates: int, kept: int, header: BankHeader) -> Bank:
    """Logits with a bump at the label, or at another answer: of a maze a path that is as short."""
    rng = generator("made-up question", number)
    question, label, other = _maze(task, rng) if isinstance(task, Maze) else _board(rng)
    ease = rng.random()
    rng = generator("made-up logits", number, header.training_seed, header.inference_seed)
    target = np.where(rng.random((candidates, 1)) < 0.3 + 0.7 * ease, label, other)
    tokens = task.first_answer_token + task.classes
    logits = 1.5 * rng.normal(size=(candidates, task.cells, tokens))
    logits += 10 * rng.random((candidates, 1, 1)) * (target[..., None] == np.arange(tokens))
    logits[..., : task.first_answer_token] = -np.inf
    p = np.exp(logits - logits.max(-1, keepdims=True))
    best = (p.max(-1) / p.sum(-1))[:, task.positions_to_predict(question)]
    puzzle, scores = Puzzles(question[None], label[None], "generated", "made up"), {"confidence": best.mean(-1)[None]}
    scores["confidence"] = scores["confidence"].round(2)
    some = logits[None, :kept] if kept else None
    return bank_from_answers(header, task, puzzle, logits.argmax(-1)[None], scores, logits=some)


def _board(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A question, its label and an answer with one wrong blank."""
    label, order = rng.integers(1, 5, 16).astype(np.uint8), rng.permutation(16)
    wrong = np.where(np.arange(16) == order[0], label % 4 + 1, label)
    return np.where(np.isin(np.arange(16), order[: rng.integers(1, 12)]), 0, label).astype(np.uint8), label, wrong


def _maze(task: Maze, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A question, its label and that of the maze turned by half, turned back: often another shortest path."""
    while True:
        question = np.where(rng.random(task.cells) < 0.15, WALL, FREE).astype(np.uint8)
        question[rng.permutation(task.cells)[:2]] = START, GOAL
        if task.contradiction(question) is None:
            return question, task.solve(question), task.solve(question[::-1])[::-1]


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
