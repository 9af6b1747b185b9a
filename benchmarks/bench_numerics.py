"""The numerics floor: what precision, compilation, threads and the size of a chunk change in answers and accuracy.

With the checkpoints of a finished laptop study, as random weights have no answers that they are sure of.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks
from cvoting.checkpoint import Checkpoint
from cvoting.data.puzzles import Puzzles
from cvoting.models.base import RecurrentModel
from cvoting.models.registry import MODELS
from cvoting.params.reading import read_study
from cvoting.params.rollouts import BankParams, RolloutPlan
from cvoting.rollouts import prepare_start, roll_out
from cvoting.tasks.base import Task
from harness import ROOT, Row, Settings

STUDY = ROOT / "params.yaml"
BANKS = ("akorn-sudoku_hard", "itrsa-sudoku_hard", "hrm-sudoku_extreme", "transformer-sudoku_hard")
PUZZLES, CANDIDATES, CHUNK = 200, 32, 128
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Way:
    """A way to compute the same rollouts."""

    what: str
    chunk: int = CHUNK
    threads: int = 1
    precision: str = "float32"
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


def measure(settings: Settings) -> list[Row]:
    """For each model and way C-voting's board accuracy, and how many answers differ from those in float32.

    Of candidates' answers, and of those that C-voting picks.  A model that nobody trained is left out, and said to be.
    """
    study, rows = read_study(STUDY), []
    for name in BANKS[:1] if settings.quick else BANKS:
        bank = study.banks[name]
        model, dataset = study.runs[bank.run].model, study.datasets[bank.dataset]
        checkpoint = ROOT / f"results/{study.study}/checkpoints/{bank.run}/seed0.safetensors"
        puzzles = ROOT / f"data/{study.study}/{bank.dataset}/test.npz"
        if not (checkpoint.exists() and puzzles.exists()):
            print(f"numerics: {name} is left out: no {checkpoint}: `make reproduce` makes it", flush=True)
            continue
        some = Puzzles.load(puzzles)[: 4 if settings.quick else PUZZLES]
        network = study.models[model].network
        ways = WAYS[:2] if settings.quick else WAYS
        found = [_rolled_out(Checkpoint.load(checkpoint), network, dataset.task, some, bank, way, settings) for way in ways]
        for way, made in zip(ways, found, strict=True):
            rows += [{"what": f"{model}: {way.what}, {what}", **number} for what, number in _compared(found[0], made)]
    return rows


def _rolled_out(
    checkpoint: Checkpoint, network: object, task: Task, puzzles: Puzzles, bank: BankParams, way: Way, settings: Settings
) -> Bank:
    """The candidates of some puzzles, computed in a way; as many as C-voting votes on."""
    model: RecurrentModel = MODELS[checkpoint.about["network"]["architecture"]].for_task(network, task)
    checkpoint.load_into(model)
    prepare_start(model, model.initial_state_kind, CANDIDATES, False)
    plan = replace(
        RolloutPlan(T_eval=bank.T_eval, candidates=CANDIDATES, chunk=way.chunk),
        precision=way.precision, compile=way.compile,
    )  # fmt: skip
    header = BankHeader(bank.run, "model", bank.dataset, "test", puzzles.origin, puzzles.source, bank.T_eval, 0, 0)
    path, before = settings.folder / "numerics.parquet", torch.get_num_threads()
    torch.set_num_threads(way.threads)
    try:
        roll_out(model, task, puzzles, plan, header, path, settings.folder / "partial", CPU)
    finally:
        torch.set_num_threads(before)
    return concatenate(read_banks(path))


def _compared(exact: Bank, made: Bank) -> list[tuple[str, Row]]:
    """What a bank says, and how it differs."""
    candidates = np.mean([
        (one[ids] != other[others]).any(-1)
        for one, ids, other, others in zip(
            exact.answers, exact.answer_ids, made.answers, made.answer_ids, strict=True
        )
    ])  # fmt: skip
    picked, best = (_picked(bank) for bank in (exact, made))
    rows = np.arange(len(made.puzzles))
    accuracy = made.correct["board"][rows, made.scores["confidence"].argmax(1)].mean()
    shares = {
        "board accuracy of C-voting": accuracy,
        "board accuracy of a candidate": made.correct["board"].mean(),
        "boards that C-voting answers otherwise": np.mean([(a != b).any() for a, b in zip(picked, best, strict=True)]),
        "candidates that answer otherwise": candidates,
    }
    return [(what, {"value": 100 * float(share), "unit": "%"}) for what, share in shares.items()]


def _picked(bank: Bank) -> list[np.ndarray]:
    """The answers of the most confident candidates."""
    best = bank.scores["confidence"].argmax(1)
    return [answers[ids[k]] for answers, ids, k in zip(bank.answers, bank.answer_ids, best, strict=True)]
