"""The small study that every mistake starts from."""

import shutil
from pathlib import Path

import torch
from error_bench import ROLLOUTS, ROOT, STEPS, TABLE, TRAIN, VOTING, Bench

from cvoting.checkpoint import Checkpoint
from cvoting.models.akorn_released import released_name
from cvoting.models.hrm import HRM
from cvoting.models.hrm_released_weights import to_released
from cvoting.params.core import build
from cvoting.params.hrm import HrmParams
from cvoting.tasks.sudoku import Sudoku


def make_stock(folder: Path) -> None:
    """A small study, from parameters to tables."""
    bench = Bench(folder)
    before, bank, after = (ROOT / "params/toy.yaml").read_text().partition("{run: akorn-sudoku, dataset: sudoku_hard, ")
    bench.write("params.yaml", f"{before}{bank}read_at: [2, 4], {after}")
    (folder / "reference").mkdir()
    for name in ("published.csv", "hyperparameters.csv", "field.csv"):
        shutil.copyfile(ROOT / "reference" / name, bench.path(f"reference/{name}"))
    for name, words in {
        "sudoku": "data sudoku",
        "sudoku_hard": "data sudoku_hard",
        "train": "train akorn-sudoku 0",
        "rollouts": "rollouts akorn-sudoku_hard 0 0",
        "shard1": "rollouts akorn-sudoku_hard 0 1",
        "voting": "voting akorn-sudoku_hard",
        "by_difficulty": "by_difficulty akorn-sudoku_hard",
        "steps": "steps akorn-sudoku_hard",
        "adaptive": "adaptive akorn-sudoku_hard",
        "calibration": "calibration itrsa-sudoku_hard",
        "discrimination": "discrimination akorn-sudoku_hard",
        "trajectories": "trajectories itrsa-sudoku_hard",
        "table": "table table3_akorn",
        "figure": "figure fig2_akorn_voting",
        "summary": "summary toy",
        "claims": "claims toy",
    }.items():
        bench.cvoting(f"recipe {words}")
        bench.write(f"{name}.json", bench.printed)
    short = {"updates": 4, "checkpoint_every": 1, "validate_every": 2, "T_train": 2}
    for key, value in short.items():
        bench.change("train.json", value, "training", key)
    bench.change("train.json", 1, "training", "optimizer", "warmup_updates")
    made = {"voting": ["akorn-sudoku_hard"], "training": [["akorn-sudoku", 0]]}
    for kind in ("voting", "calibration", "discrimination", "training"):
        bench.change("summary.json", made.get(kind, []), kind)
    for words in (
        "data sudoku.json --raw raw --out data/sudoku",
        "data sudoku_hard.json --raw raw --out data/sudoku_hard",
        TRAIN,
        ROLLOUTS,
        ROLLOUTS.replace("rollouts.json", "shard1.json").replace("shard0", "shard1"),
        VOTING,
        STEPS,
        TABLE,
    ):
        bench.cvoting(words)
        assert bench.status == 0, f"{words}: {bench.text}"
    for record in folder.rglob("*.run.json"):
        record.unlink()
    weights = Checkpoint.load(bench.path("model.safetensors")).average
    torch.save({released_name(name): weight for name, weight in weights.items()}, bench.path("released.pth"))
    bench.path("hrm").mkdir()
    torch.save(to_released(make_hrm().state_dict()), bench.path("hrm/released.pth"))
    bench.write("puzzles.txt", "12..34......4...\n")


def make_hrm() -> HRM:
    """An initialised model of 9x9 boards."""
    layers = {"H_cycles": 2, "L_cycles": 2, "H_layers": 1, "L_layers": 1}
    network = {"architecture": "hrm", "channels": 16, "heads": 2, "expansion": 4, **layers}
    network |= {"positions": "rope", "prefix": True, "initial_state": "fixed"}
    model = HRM.for_task(build(HrmParams, network), Sudoku(name="sudoku", box=(3, 3)))
    model.initialise(torch.Generator().manual_seed(0))
    return model
