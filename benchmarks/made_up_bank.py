"""Banks of made-up candidates, as large as those of GPUs, written as the engine of rollouts writes them; their votes.

Nothing here imports torch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cvoting.bank import Bank, BankHeader
from cvoting.bank_file import write_banks
from cvoting.metrics import judge_candidates
from cvoting.params.reading import read_study
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.voting import VotingParams
from cvoting.tables import write_voting
from cvoting.tasks.sudoku import BLANK, Sudoku
from harness import ROOT

BOX = (3, 3)
TASK = Sudoku(name="sudoku", box=BOX)
#: Distinct answers of a puzzle, the first being right, and how often each is given.
SHARES = (0.4, 0.3, 0.2, 0.1)
SCORES = ("confidence", "energy_last", "energy_sum")
BLANKS, STEPS = 50, 16


def write_made_up(folder: Path, puzzles: int, candidates: int, shards: int) -> list[Path]:
    """Write a bank in shards, in the row groups that rollouts of so many candidates have.

    Args:
        folder: for the files.
        puzzles, candidates: of the bank.
        shards: files.
    """
    paths = [folder / f"shard{shard}.parquet" for shard in range(shards)]
    for shard, path in enumerate(paths):
        plan = RolloutPlan(T_eval=STEPS, candidates=candidates, chunk=1, shards=shards, shard=shard)
        about = BankHeader("made-up", "akorn", "boards", "test", "generated", "made up", STEPS, 0, 0, shards, shard)
        write_banks(path, (_part(about, part, candidates) for part in plan.parts(puzzles)))
    return paths


def vote(shards: Sequence[Path], candidates: int, box: Sequence[int], folder: Path) -> None:
    """Write the voting table of a bank, and its paired comparison.

    Args:
        shards: the bank's files.
        candidates: M.
        box: of the boards.
        folder: for the tables.
    """
    task = Sudoku(name="sudoku", box=tuple(box))
    write_voting(shards, votes_up_to(candidates), task, "benchmark", folder / "voting.csv", folder / "paired.csv")


def votes_up_to(candidates: int) -> VotingParams:
    """The votes of the paper's study, at its numbers of candidates.

    Args:
        candidates: the largest.
    """
    params = read_study(ROOT / "params/paper.yaml").voting
    return replace(params, K=tuple(k for k in params.K if k <= candidates))


def _part(header: BankHeader, numbers: range, candidates: int) -> Bank:
    """Candidates whose scores are higher where they are right, by about their spread."""
    rng = np.random.Generator(np.random.Philox(numbers.start))
    labels = rng.integers(1, TASK.digits + 1, (len(numbers), TASK.cells)).astype(np.uint8)
    blank = rng.random(labels.shape).argsort(axis=1) < BLANKS
    questions = np.where(blank, BLANK, labels).astype(np.uint8)
    answers = [np.stack([label, *_wrong(label, asked)]) for label, asked in zip(labels, blank, strict=True)]
    ids = rng.choice(len(SHARES), (len(numbers), candidates), p=SHARES)
    correct, cell_accuracy = judge_candidates(TASK, answers, ids, questions, labels)
    scores = {name: rng.normal(size=ids.shape) + correct["board"] for name in SCORES}
    names = [f"{number:016x}" for number in numbers]
    return Bank(header, names, questions, labels, answers, ids, scores, correct, cell_accuracy)


def _wrong(label: np.ndarray, asked: np.ndarray) -> Iterator[np.ndarray]:
    """Answers that are wrong in one cell, in two, in three."""
    for cells in range(1, len(SHARES)):
        answer = label.copy()
        changed = np.flatnonzero(asked)[:cells]
        answer[changed] = answer[changed] % TASK.digits + 1
        yield answer
