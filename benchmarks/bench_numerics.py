"""The numerics floor: what precision, compilation, threads and the size of a chunk change in answers and accuracy.

With the checkpoints and puzzles of a finished laptop study, as random weights have no answers that they are sure of.
"""

import copy
import os
import time
from contextlib import redirect_stderr
from dataclasses import dataclass

import numpy as np
import torch

from bench_rollouts import QUICK, random_boards
from cases import Case
from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks
from cvoting.checkpoint import Checkpoint
from cvoting.data.puzzles import Puzzles
from cvoting.errors import CvotingError
from cvoting.models.base import RecurrentModel
from cvoting.params.precision import Precision
from cvoting.params.reading import read_study
from cvoting.params.rollouts import RolloutPlan
from cvoting.rollouts import roll_out
from cvoting.tasks.base import Task
from harness import ROOT, Row, Settings

BANKS = ("akorn-sudoku_hard", "itrsa-sudoku_hard", "hrm-sudoku_extreme", "transformer-sudoku_hard")
PUZZLES, CANDIDATES, CHUNK = 200, 32, 128


@dataclass(frozen=True)
class Way:
    """A way to compute the same rollouts."""

    what: str
    chunk: int = CHUNK
    threads: int = 1
    precision: Precision = "float32"
    compile: bool = False


#: The first is what the others are compared with.
WAYS = (
    Way("float32"),
    Way("chunks a quarter as large", chunk=CHUNK // 4),
    Way("two threads", threads=2),
    Way("compiled", compile=True),
    Way("bfloat16", precision="bfloat16"),
    Way("bfloat16, compiled", precision="bfloat16", compile=True),
)


@dataclass(frozen=True)
class Trained:
    """A model with puzzles that it was not trained on."""

    name: str
    model: RecurrentModel
    task: Task
    puzzles: Puzzles
    steps: int


def measure(settings: Settings) -> list[Row]:
    """A row for each model and way: how many boards C-voting answers otherwise than in float32, and what comes of it.

    Raises:
        CvotingError: where the laptop study has not been made.
    """
    rows: list[Row] = []
    for trained in [_random()] if settings.quick else map(_of_the_laptop_study, BANKS):
        exact: Bank | None = None
        for way in (WAYS[0], WAYS[4]) if settings.quick else WAYS:
            start = time.perf_counter()
            bank = _rolled_out(trained, way, settings)
            exact = exact or bank
            rows.append(_row(f"{trained.name}: {way.what}", exact, bank) | {"took (s)": time.perf_counter() - start})
    return rows


def _of_the_laptop_study(bank: str) -> Trained:
    """The model of a bank and its first puzzles."""
    study = read_study(ROOT / "params.yaml")
    block = study.banks[bank]
    checkpoint = ROOT / f"results/{study.study}/checkpoints/{block.run}/seed0.safetensors"
    puzzles = ROOT / f"data/{study.study}/{block.dataset}/{block.split}.npz"
    if missing := [str(path) for path in (checkpoint, puzzles) if not path.exists()]:
        raise CvotingError(f"{', '.join(missing)}: expected those of the laptop study: `make reproduce` makes them")
    case = Case("laptop", block.run, CHUNK)
    model = case.model()
    Checkpoint.load(checkpoint).load_into(model)
    return Trained(study.runs[block.run].model, model, case.task, Puzzles.load(puzzles)[:PUZZLES], block.T_eval)


def _random() -> Trained:
    """A model and boards that say nothing."""
    (case,) = QUICK
    return Trained("random", case.model(), case.task, random_boards(case, 3), 2)


def _rolled_out(trained: Trained, way: Way, settings: Settings) -> Bank:
    """The candidates of the puzzles, computed in a way."""
    plan = RolloutPlan(
        T_eval=trained.steps, candidates=CANDIDATES, chunk=way.chunk, precision=way.precision, compile=way.compile
    )
    path, partial = settings.folder / "numerics.parquet", settings.folder / "partial"
    header = BankHeader(trained.name, trained.name, "boards", "test", "generated", "", trained.steps, 0, 0)
    # A copy of its own: a model that was compiled stays so.
    model, before = copy.deepcopy(trained.model), torch.get_num_threads()
    torch.set_num_threads(way.threads)
    try:
        with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):
            roll_out(model, trained.task, trained.puzzles, plan, header, path, partial, torch.device("cpu"))
    finally:
        torch.set_num_threads(before)
    return concatenate(read_banks(path))


def _row(what: str, exact: Bank, bank: Bank) -> Row:
    """How a bank differs from one in float32, and its accuracies, in %."""
    places = np.arange(len(bank.puzzles))[:, None]
    first, second = (_cells(one) for one in (exact, bank))
    otherwise = (first != second).any(-1)
    best = [one.scores["confidence"].argmax(1)[:, None] for one in (exact, bank)]
    voted = (first[places, best[0]] != second[places, best[1]]).any(-1)
    return {
        "what": what,
        "value": 100 * float(voted.mean()),
        "unit": "% of boards voted otherwise",
        "% of candidates otherwise": 100 * float(otherwise.mean()),
        "% right, C-voting": 100 * float(bank.correct["board"][places, best[1]].mean()),
        "% right, candidates": 100 * float(bank.correct["board"].mean()),
    }


def _cells(bank: Bank) -> np.ndarray:
    """The answer of every candidate, [puzzles, candidates, cells]."""
    return np.stack([answers[ids] for answers, ids in zip(bank.answers, bank.answer_ids, strict=True)])
