"""Trainings in parts: several processes, a batch in pieces, and one that is told to end."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import torch

from cvoting.__main__ import main
from cvoting.ahead import ahead
from cvoting.checkpoint import Checkpoint, load_tensors
from cvoting.errors import CvotingError
from cvoting.params.core import plain
from cvoting.tasks.sudoku import Sudoku
from cvoting.training.processes import Processes

TASK = Sudoku(name="sudoku", box=(2, 2))
CPU = torch.device("cpu")
SEGMENTS = {"act": "explore", "exploration": 1.0, "prefix_lr": 1e-3, "prefix_weight_decay": 0.5}
OPTIMIZER = {"lr": 3e-3, "betas": [0.9, 0.99], "weight_decay": 0.0, "warmup_updates": 2}
TRAINING = {
    "T_train": 4,
    "updates": 12,
    "batch": 8,
    "clip": 1.0,
    "loss_positions": "predict",
    "augmentation": "shuffles",
    "ema": {"decay": 0.9, "after": 2, "every": 2},
    "validate_every": 4,
    "checkpoint_every": 4,
}


@pytest.fixture
def recipes(tiny_networks):
    """The recipe of a training by its objective; keyword arguments change the training's block."""
    objectives = {
        "unrolled": (tiny_networks["akorn"], {"optimizer": OPTIMIZER | {"name": "adamw"}}),
        "segments": (tiny_networks["hrm"], {"optimizer": OPTIMIZER | {"name": "adam_atan2"}, "segments": SEGMENTS}),
    }

    def recipe(objective: str, **changes: object) -> dict:
        network, training = objectives[objective]
        about = {"run": "r", "model": "m", "dataset": "d", "task": plain(TASK), "training_seed": 0}
        return about | {"network": plain(network), "training": TRAINING | training | changes}

    return recipe


@pytest.fixture
def command(puzzles, tmp_path):
    """The command that trains by a recipe in a folder; with several processes by torchrun."""
    for split in ("train", "validation"):
        puzzles[split].save(tmp_path / f"{split}.npz")

    def words(recipe: dict, folder: str, processes: int = 1) -> list[str]:
        files = {"train": tmp_path / "train.npz", "validation": tmp_path / "validation.npz"}
        made = {"out": "c.safetensors", "curves": "log.csv", "partial": "partial"}
        files |= {name: tmp_path / folder / path for name, path in made.items()}
        options = [f"--{k}={v}" for k, v in (files | {"code": "x", "threads": 1}).items()]
        started = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
        return [sys.executable, *started * (processes > 1), "-m", "cvoting", "train", json.dumps(recipe), *options]

    return words


@pytest.fixture
def train(command, tmp_path):
    """Trains by a recipe in a folder, which it returns."""

    def run(recipe: dict, folder: str, processes: int = 1) -> Path:
        subprocess.run(command(recipe, folder, processes), check=True, capture_output=True, text=True)
        return tmp_path / folder

    return run


def assert_alike(one: Path, other: Path) -> None:
    """Logs and weights agree but for the order of sums."""
    logs = [pd.read_csv(folder / "log.csv") for folder in (one, other)]
    pd.testing.assert_frame_equal(*logs, rtol=1e-4)
    weights = [Checkpoint.load(folder / "c.safetensors").average for folder in (one, other)]
    for name, values in weights[0].items():
        torch.testing.assert_close(weights[1][name], values, rtol=1e-3, atol=1e-4, msg=lambda text, n=name: n + text)


def test_what_is_no_number_of_processes_is_refused(monkeypatch: pytest.MonkeyPatch, command, capsys) -> None:
    monkeypatch.setattr(sys, "argv", command({}, "folder")[2:])
    for wanted in ("two", "0", "-1", ""):
        monkeypatch.setenv("CVOTING_PROCESSES", wanted)
        assert main() == 1
        assert f"CVOTING_PROCESSES = {wanted!r}: expected a number of processes" in capsys.readouterr().err


@pytest.mark.parametrize("batch", [7, 8, 64])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("parts", [1, 2])
def test_every_row_of_a_batch_is_in_one_part_of_one_process(batch: int, count: int, parts: int) -> None:
    of_all = [Processes(CPU, rank, count).rows(batch, parts) for rank in range(count)]
    assert all(len(of_one) == parts for of_one in of_all)
    assert [row for of_one in of_all for rows in of_one for row in rows] == list(range(batch))
    sizes = [len(rows) for of_one in of_all for rows in of_one]
    assert max(sizes) - min(sizes) <= 1


def test_more_parts_than_rows_are_refused() -> None:
    with pytest.raises(CvotingError, match=r"batch = 5: expected at least 6 puzzles, .* 3 processes x accumulate = 2"):
        Processes(CPU, 0, 3).rows(5, 2)


@pytest.mark.slow
def test_two_processes_with_batches_in_parts_train_as_one_does(recipes, train) -> None:
    whole, two = train(recipes("unrolled"), "whole"), train(recipes("unrolled", accumulate=2), "two", processes=2)
    assert_alike(whole, two)
    assert json.loads((two / "c.safetensors.run.json").read_text())["processes"] == 2
    assert sorted(path.name for path in two.iterdir()) == [
        "c.safetensors",
        "c.safetensors.run.json",
        "log.csv",
        "partial",
    ]


@pytest.mark.slow
def test_a_training_told_to_end_saves_its_state_and_goes_on_in_any_number_of_processes(
    recipes, command, train, tmp_path
) -> None:
    recipe = recipes("segments", updates=150, validate_every=75, checkpoint_every=150)
    whole = train(recipe, "whole")
    process = subprocess.Popen(command(recipe, "ended"), stderr=subprocess.PIPE, text=True)
    while "device" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 143, said
    assert "stopped by SIGTERM: the state after update" in said
    (state,) = (tmp_path / "ended/partial").iterdir()
    assert 0 < load_tensors(state)[1]["update"] < 150
    assert not (tmp_path / "ended/c.safetensors").exists()
    kept = state.read_bytes()
    ended = train(recipe, "ended")
    for name in ("c.safetensors", "log.csv"):
        assert (whole / name).read_bytes() == (ended / name).read_bytes()
    state.parent.mkdir(exist_ok=True)
    state.write_bytes(kept)
    two = train(recipe, "ended", processes=2)
    logs = [pd.read_csv(folder / "log.csv") for folder in (whole, two)]
    assert logs[1]["loss"][0] == pytest.approx(logs[0]["loss"][0], rel=0.02)  # rounding grows with every update


def test_what_is_made_ahead_comes_in_order_with_its_errors_in_their_place() -> None:
    def items():
        yield from range(3)
        raise ValueError("the fourth")

    coming, seen = ahead(items()), []
    with pytest.raises(ValueError, match="the fourth"):
        seen.extend(iter(lambda: next(coming), math.nan))
    assert list(ahead(range(5))) == [0, 1, 2, 3, 4]
    assert list(ahead([])) == []


def test_a_signal_is_only_noted_while_someone_looks(monkeypatch) -> None:
    from cvoting.preemption import sigterm_noticed

    before = signal.getsignal(signal.SIGTERM)
    with sigterm_noticed() as came:
        assert not came()
        os.kill(os.getpid(), signal.SIGTERM)
        assert came()
    assert signal.getsignal(signal.SIGTERM) is before
