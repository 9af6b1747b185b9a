"""Reference weights as a file of released code, imported, rolled out and voted on, give what was released.

AKOrN's of `data/akorn_tiny.npz`, and HRM's of every `hrm_*.npz` without a training in the directory CVOTING_REFERENCE.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from safetensors.torch import save_file

from cvoting import rollouts
from cvoting.__main__ import main
from cvoting.bank import Bank
from cvoting.bank_file import read_banks
from cvoting.bank_from_answers import no_answer
from cvoting.checkpoint import Checkpoint
from cvoting.command_inputs import make_model
from cvoting.data.puzzles import Puzzles
from cvoting.params.core import plain
from cvoting.tasks.base import Task
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

DATA = Path(__file__).parent / "data"
HRM = [
    path
    for path in sorted(Path(os.environ.get("CVOTING_REFERENCE", DATA)).glob("hrm_*.npz"))
    if "loss" not in np.load(path).files
]
SUDOKU = Sudoku(name="sudoku", box=(3, 3))


@pytest.fixture
def cvoting(monkeypatch, tmp_path):
    """Runs a verb in a folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CVOTING_DEVICE", "cpu")

    def run(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["cvoting", *arguments])
        assert main() == 0

    return run


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, torch.Tensor], dict]:
    """Arrays, weights by released name, and configuration of a reference."""
    with np.load(path) as file:
        arrays = dict(file)
    weights = {n.removeprefix("weight/"): torch.from_numpy(a) for n, a in arrays.items() if n.startswith("weight/")}
    return arrays, weights, json.loads(str(arrays["config_json"]))


def roll_out_and_vote(
    cvoting: Callable[..., None], task: Task, questions: np.ndarray, answers: np.ndarray, steps: int, votes: list[str]
) -> tuple[Bank, pd.DataFrame]:
    """One candidate per puzzle by `checkpoint`, and its votes; `answers` stand in for the labels."""
    Puzzles(questions, answers.astype(np.uint8), "own", "").save("boards.npz")
    plan = {"T_eval": steps, "candidates": 1, "chunk": len(questions)}
    recipe = {"dataset": "boards", "split": "test", "inference_seed": 0, "plan": plan}
    inputs = ["--checkpoint=checkpoint", "--puzzles=boards.npz", "--partial=partial", "--code=0", "--threads=1"]
    cvoting("rollouts", json.dumps(recipe), *inputs, "--out=bank")
    params = {"K": [1], "votes": votes, "subsets": 1, "resamples": 100, "level": 0.9, "seed": 0}
    study = {"study": "s", "task": plain(task), "voting": params}
    cvoting("voting", json.dumps(study), "bank", "--out=table.csv", "--paired=paired.csv")
    (bank,) = read_banks(Path("bank"))
    table = pd.read_csv("table.csv")
    assert sorted(set(table["vote"])) == sorted(votes)
    return bank, table


def confidence(probabilities: np.ndarray, task: Task, questions: np.ndarray) -> np.ndarray:
    """The mean top-1 probability over the positions to predict."""
    asked = task.positions_to_predict(questions)
    return np.array([p.max(-1)[a].mean() for p, a in zip(probabilities, asked, strict=True)])


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def stablemax(logits: np.ndarray) -> np.ndarray:
    s = np.where(logits < 0, 1 / (1 - np.minimum(logits, 0)), logits + 1)
    return s / s.sum(-1, keepdims=True)


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
def test_imported_akorn_is_rolled_out_and_voted_on_as_released(cvoting, monkeypatch, file, write):
    reference, weights, config = read(DATA / "akorn_tiny.npz")
    write(weights, file)
    cvoting("import-checkpoint", "--format=akorn", file, "checkpoint", f"--set=training.T_train={config['T']}")
    assert bool(Checkpoint.load("checkpoint").raw) == (file == "ema.pth")

    # What the released code answered stands in for the labels, and its noise for ours: then every board is right.
    questions, logits = reference["puzzle"].astype(np.uint8), reference["logits"].astype(np.float64)
    noise = reference["initial_noise"][:, None]
    monkeypatch.setattr(rollouts, "initial_noise", lambda puzzles, *_: noise[: len(puzzles)])
    votes = ["confidence", "energy_last"]
    bank, table = roll_out_and_vote(cvoting, SUDOKU, questions, logits.argmax(-1) + 1, config["T"], votes)
    expected = confidence(softmax(logits), SUDOKU, questions)
    np.testing.assert_allclose(bank.scores["confidence"][:, 0], expected, rtol=1e-4)
    np.testing.assert_allclose(bank.scores["energy_last"][:, 0], -reference["energy"][-1], rtol=1e-4)
    assert set(table.query("metric == 'board'")["value"]) == {1.0}


@pytest.mark.parametrize("told", ["all_config.yaml", "--set"])
@pytest.mark.parametrize("prefix", ["", "model.", "_orig_mod.", "_orig_mod.model."])
@pytest.mark.parametrize(("file", "write"), [("step_9", torch.save), ("model.safetensors", save_file)])
@pytest.mark.parametrize("path", HRM, ids=lambda path: path.stem)
def test_imported_hrm_is_rolled_out_and_voted_on_as_released(cvoting, path, file, write, prefix, told):
    reference, weights, config = read(path)
    write({prefix + name: weight for name, weight in weights.items()}, file)
    settings = {"heads": "num_heads", "H_cycles": "H_cycles", "L_cycles": "L_cycles"}
    flags = [f"--set=network.{name}={config[theirs]}" for name, theirs in settings.items()]
    if told == "all_config.yaml":
        arch = {**config, "halt_max_steps": config["segments"], "name": "hrm.hrm_act_v1@HRM"}
        Path(told).write_text(yaml.safe_dump({"arch": arch, "epochs": 20000}))
        flags = []
    cells, classes = reference["logits"].shape[-2:]
    side = round(cells**0.5)
    task = SUDOKU if classes == 11 else Maze(name="maze", grid=(side, side))
    flags += [f"--set=task.grid=[{side}, {side}]"] * (task is not SUDOKU)
    cvoting("import-checkpoint", "--format=hrm", file, "checkpoint", *flags)
    checkpoint = Checkpoint.load("checkpoint")
    about = checkpoint.about
    assert about["initial_state"] == "fixed"
    assert about["training"] == {"T_train": config["segments"] if told == "all_config.yaml" else 16}

    # Released token and class 0 is padding, and the last of ours.
    questions, logits = (reference["inputs"] - 1).astype(np.uint8), reference["logits"][-1].astype(np.float64)
    model = make_model(about["network"], about["task"])
    checkpoint.load_into(model)
    found = model(torch.from_numpy(questions).long(), torch.empty(len(questions), 1, 0), config["segments"])
    found = found.detach().squeeze(1).roll(1, -1).numpy()
    np.testing.assert_allclose(found, logits, atol=1e-4 * np.abs(logits).max(), rtol=0)

    # What is neither a digit nor a part of a maze is no answer.
    answers = logits.argmax(-1) - 1
    answers[answers < task.first_answer_token] = no_answer(task)
    votes = ["confidence", "confidence_stablemax", "halting_logit"]
    labels = np.minimum(answers, no_answer(task) - 1)
    bank, table = roll_out_and_vote(cvoting, task, questions, labels, config["segments"], votes)
    expected = {
        "confidence": confidence(softmax(logits), task, questions),
        "confidence_stablemax": confidence(stablemax(logits), task, questions),
        "halting_logit": reference["q_logits"][-1][:, 0],
    }
    for name, scores in expected.items():
        np.testing.assert_allclose(bank.scores[name][:, 0], scores, rtol=1e-4, err_msg=name)
    assert np.array_equal(np.concatenate(bank.answers), answers)
    asked = task.positions_to_predict(questions)
    right = [(a == b)[where].mean() for a, b, where in zip(answers, labels, asked, strict=True)]
    assert set(table.query("metric == 'cell_accuracy'")["value"].round(9)) == {round(float(np.mean(right)), 9)}


def test_there_are_references_of_hrm() -> None:
    assert HRM, "no hrm_*.npz: set CVOTING_REFERENCE to the directory that holds them"
