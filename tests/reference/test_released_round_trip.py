"""The reference weights of AKOrN as a released file, imported, rolled out and voted on, give what was released."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import save_file

from cvoting import rollouts
from cvoting.__main__ import main
from cvoting.bank_file import read_banks
from cvoting.checkpoint import Checkpoint
from cvoting.data.puzzles import Puzzles

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def reference() -> dict[str, np.ndarray]:
    with np.load(DATA / "akorn_tiny.npz") as file:
        return dict(file)


@pytest.fixture
def cvoting(monkeypatch, tmp_path):
    """Runs a verb in a folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CVOTING_DEVICE", "cpu")

    def run(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["cvoting", *arguments])
        assert main() == 0

    return run


def average(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """As ema-pytorch saves weights; those of the last update are others."""
    both = {f"ema_model.{name}": weight for name, weight in weights.items()}
    both |= {f"online_model.{name}": weight + 1 for name, weight in weights.items()}
    return both | {"initted": torch.tensor(True), "step": torch.tensor(7)}


@pytest.mark.parametrize(
    ("file", "write"),
    [
        ("ema.pth", lambda weights, path: torch.save({"model_state_dict": average(weights), "epoch": 9}, path)),
        ("model.pth", lambda weights, path: torch.save(weights, path)),
        ("old.pth", lambda weights, path: torch.save(weights, path, _use_new_zipfile_serialization=False)),
        ("model.safetensors", lambda weights, path: save_file(weights, path)),
    ],
)
def test_imported_weights_are_rolled_out_and_voted_on_as_released(
    reference, cvoting, tmp_path, monkeypatch, file, write
):
    weights = {n.removeprefix("weight/"): torch.from_numpy(a) for n, a in reference.items() if n.startswith("weight/")}
    config = json.loads(str(reference["config_json"]))
    write(weights, tmp_path / file)
    cvoting("import-checkpoint", "--format=akorn", file, "checkpoint", f"--set=training.T_train={config['T']}")
    assert bool(Checkpoint.load("checkpoint").raw) == (file == "ema.pth")

    # What the released code answered stands in for the labels, and its noise for ours: then every board is right.
    logits = reference["logits"].astype(np.float64)
    Puzzles(reference["puzzle"].astype(np.uint8), (logits.argmax(-1) + 1).astype(np.uint8), "own", "").save(
        "boards.npz"
    )
    noise = reference["initial_noise"][:, None]
    monkeypatch.setattr(rollouts, "initial_noise", lambda puzzles, *_: noise[: len(puzzles)])
    plan = {"T_eval": config["T"], "candidates": 1, "chunk": len(logits)}
    recipe = {"dataset": "boards", "split": "test", "inference_seed": 0, "plan": plan}
    inputs = ["--checkpoint=checkpoint", "--puzzles=boards.npz", "--partial=partial", "--code=0", "--threads=1"]
    cvoting("rollouts", json.dumps(recipe), *inputs, "--out=bank")
    params = {"K": [1], "votes": ["confidence", "energy_last"], "subsets": 1, "resamples": 100, "level": 0.9, "seed": 0}
    study = {"study": "s", "task": {"name": "sudoku", "box": [3, 3]}, "voting": params}
    cvoting("voting", json.dumps(study), "bank", "--out=table.csv", "--paired=paired.csv")

    [bank] = read_banks(tmp_path / "bank")
    probabilities = np.exp(logits - logits.max(-1, keepdims=True))
    best = (probabilities / probabilities.sum(-1, keepdims=True)).max(-1)
    expected = [p[q == 0].mean() for p, q in zip(best, reference["puzzle"], strict=True)]
    np.testing.assert_allclose(bank.scores["confidence"][:, 0], expected, rtol=1e-4)
    np.testing.assert_allclose(bank.scores["energy_last"][:, 0], -reference["energy"][-1], rtol=1e-4)
    table = pd.read_csv("table.csv").query("metric == 'board'")
    assert sorted(set(table["vote"])) == ["confidence", "energy_last"]
    assert table["value"].tolist() == [1.0] * len(table)
