"""The training loop: what it minimises, that it learns, resumes bit for bit, and stops at NaN."""

import dataclasses
import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from cvoting.__main__ import main
from cvoting.checkpoint import Checkpoint, CheckpointError, load_tensors, save_tensors
from cvoting.models.akorn import AKOrN
from cvoting.params.core import ParameterError, build, plain
from cvoting.params.training import TrainingParams
from cvoting.tasks.sudoku import Sudoku
from cvoting.training import loop
from cvoting.training.batches import training_batch, validation_batches
from cvoting.training.loop import TrainingDiverged, train
from cvoting.training.losses import masked_cross_entropy
from cvoting.training.optimizers import warm_up
from cvoting.training.processes import Processes
from cvoting.training.unrolled import Unrolled

TASK = Sudoku(name="sudoku", box=(2, 2))
TRAINING = {
    "T_train": 4,
    "updates": 12,
    "batch": 8,
    "optimizer": {"name": "adamw", "lr": 3e-3, "betas": [0.9, 0.999], "weight_decay": 0.0, "warmup_updates": 2},
    "clip": 1.0,
    "loss_positions": "all",
    "augmentation": "shuffles",
    "ema": {"decay": 0.9, "after": 2, "every": 2},
    "validate_every": 5,
    "checkpoint_every": 3,
}


@pytest.fixture
def run(tiny_akorn):
    """Trains the smallest AKOrN for a few updates; keyword arguments change `TRAINING`."""

    def train_tiny(puzzles, resume, seed=0, **changes):
        params = build(TrainingParams, TRAINING | changes)
        model = AKOrN(tiny_akorn, TASK.grid, TASK.vocabulary, TASK.classes)
        objective = Unrolled(model, params, seed)
        return train(objective, TASK, puzzles["train"], puzzles["validation"], resume, Processes(torch.device("cpu")))

    return train_tiny


def weights(trained) -> dict[str, torch.Tensor]:
    raw, average = trained.model.state_dict(), trained.average.state_dict()
    return {f"raw/{k}": v for k, v in raw.items()} | {f"average/{k}": v for k, v in average.items()}


def assert_same(ours, theirs):
    assert ours.keys() == theirs.keys()
    different = [name for name in ours if not torch.equal(ours[name], theirs[name])]
    assert not different


def test_training_twice_gives_the_same_weights_and_log(run, puzzles, tmp_path):
    one, two = (run(puzzles, tmp_path / name) for name in "ab")
    assert_same(weights(one), weights(two))
    assert one.log == two.log
    assert [row["update"] for row in one.log] == [5, 10, 12]


def test_another_seed_gives_other_weights(run, puzzles, tmp_path):
    one, two = (run(puzzles, tmp_path / str(seed), seed) for seed in (0, 1))
    assert not any(torch.equal(a, b) for a, b in zip(one.model.parameters(), two.model.parameters(), strict=True))


@pytest.mark.parametrize("stop", [3, 7, 11])
def test_an_interrupted_training_ends_with_the_same_weights_and_log(run, puzzles, tmp_path, monkeypatch, stop):
    whole = run(puzzles, tmp_path / "whole")

    def stopping_batch(task, puzzles, update, *rest):
        if update == stop:
            raise KeyboardInterrupt
        return training_batch(task, puzzles, update, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(loop, "training_batch", stopping_batch)
        with pytest.raises(KeyboardInterrupt):
            run(puzzles, tmp_path / "stopped")
    continued = run(puzzles, tmp_path / "stopped")
    assert_same(weights(whole), weights(continued))
    assert whole.log == continued.log


def test_a_batch_in_parts_trains_as_a_whole_one_does(run, puzzles, tmp_path):
    whole, parts = (run(puzzles, tmp_path / str(n), accumulate=n, loss_positions="predict") for n in (1, 3))
    for one, other in zip(whole.log, parts.log, strict=True):
        assert other == pytest.approx(one, rel=1e-4)


def test_a_training_in_bfloat16_keeps_float32_weights_and_learns_much_the_same(run, puzzles, tmp_path):
    exact, rounded = (run(puzzles, tmp_path / name, precision=name) for name in ("float32", "bfloat16"))
    assert {weight.dtype for weight in rounded.model.parameters()} == {torch.float32}
    assert rounded.log != exact.log
    assert rounded.log[-1]["loss"] == pytest.approx(exact.log[-1]["loss"], rel=0.02)


def test_the_loss_falls(run, puzzles, tmp_path):
    log = run(puzzles, tmp_path / "long", updates=80, validate_every=20).log
    assert log[-1]["loss"] < 0.7 * log[0]["loss"]


def test_a_loss_that_is_no_number_stops_with_the_update_and_keeps_the_last_good_state(run, puzzles, tmp_path):
    resume = tmp_path / "state"
    run(puzzles, resume, updates=6)
    good = resume.read_bytes()
    with pytest.raises(
        TrainingDiverged, match=r"update \d+: loss .*nan.* kept in .*state; lower training.optimizer.lr"
    ):
        run(puzzles, resume, optimizer=TRAINING["optimizer"] | {"lr": 1e30}, clip=None, checkpoint_every=1000)
    assert resume.read_bytes() == good


@pytest.mark.parametrize("holder", ["model", "average"])
def test_weights_that_are_no_numbers_are_not_saved(run, puzzles, tmp_path, monkeypatch, holder):
    def overflow(state, *arguments):
        values = update(state, *arguments)
        if state.update == 6:
            next(getattr(state, holder).parameters()).data.view(-1)[0] = math.inf
        return values

    update, resume = loop._update, tmp_path / "state"
    monkeypatch.setattr(loop, "_update", overflow)
    with pytest.raises(TrainingDiverged, match=r"update 6: a weight is not finite, .* after an earlier update is kept"):
        run(puzzles, resume)
    tensors, about = load_tensors(resume)
    assert about["update"] == 3
    assert all(torch.isfinite(t).all() for t in tensors.values())


def test_an_unknown_augmentation_is_refused_with_the_choices(run, puzzles, tmp_path):
    with pytest.raises(ParameterError, match="augmentation = 'spin': expected one of none, digits, shuffles"):
        run(puzzles, tmp_path / "state", augmentation="spin")


def test_a_state_of_another_model_or_of_none_is_refused(run, puzzles, tmp_path):
    for tensors in ({"model/other": torch.zeros(1)}, {"optimizer/x": torch.zeros(1)}):
        save_tensors(tmp_path / "state", tensors, {"update": 3})
        with pytest.raises(CheckpointError, match=r"state: the state of another training .* starts anew"):
            run(puzzles, tmp_path / "state")


def test_masked_cross_entropy_by_hand():
    # Two cells of two classes: logits (0, 0) -> log 2 for either class; (log 3, 0) -> -log(3/4) for class 0.
    logits = torch.tensor([[[0.0, 0.0], [np.log(3.0), 0.0]]])
    targets = torch.tensor([[1, 0]])
    both = masked_cross_entropy(logits, targets, torch.tensor([[True, True]]))
    second = masked_cross_entropy(logits, targets, torch.tensor([[False, True]]))
    assert both.item() == pytest.approx((np.log(2) + np.log(4 / 3)) / 2, rel=1e-6)
    assert second.item() == pytest.approx(np.log(4 / 3), rel=1e-6)


def test_every_puzzle_is_seen_once_per_epoch(puzzles):
    seen = [
        row.tobytes()
        for update in range(5)  # 5 batches of 8 = 2 epochs of 20
        for row in training_batch(TASK, puzzles["train"], update, 8, "none", (1,), 0, 1).questions.numpy()
    ]
    epochs = seen[:20], seen[20:]
    assert epochs[0] != epochs[1]
    for epoch in epochs:
        assert sorted(epoch) == sorted(q.astype(np.int64).tobytes() for q in puzzles["train"].questions)


def test_augmented_batches_stay_puzzles_with_their_solutions(puzzles):
    batch = training_batch(TASK, puzzles["train"], 0, 20, "shuffles", (1,), 0, 1)
    questions, answers = (a.numpy().astype(np.uint8) for a in (batch.questions, batch.targets + 1))
    assert TASK.valid(answers).all()
    assert TASK.answers_question(answers, questions).all()
    assert (batch.to_predict.numpy() == (questions == 0)).all()


def test_validation_covers_every_puzzle_once(puzzles):
    batches = validation_batches(TASK, puzzles["validation"], 4, (2, 3), 0, 1)
    assert [tuple(b.noise.shape) for b in batches] == [(4, 1, 2, 3), (4, 1, 2, 3), (2, 1, 2, 3)]
    assert np.array_equal(np.concatenate([b.questions for b in batches]), puzzles["validation"].questions)


def test_the_learning_rate_rises_linearly_then_stays():
    params = build(TrainingParams, TRAINING).optimizer
    params = dataclasses.replace(params, warmup_updates=4)
    assert [warm_up(u, params) for u in range(6)] == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    assert warm_up(0, dataclasses.replace(params, warmup_updates=0)) == 1.0


@pytest.mark.parametrize("changed", ["train", "validation", "updates", "code", "nothing"])
def test_a_training_is_resumed_only_with_the_same_recipe_code_and_puzzles(
    puzzles, tiny_akorn, tmp_path, monkeypatch, changed
):
    resumed_from = []

    def stop(objective, task, puzzles, validation, resume, processes, label, stopping):
        resumed_from.append(resume)
        raise TrainingDiverged("stopped by the test")

    monkeypatch.setattr(loop, "train", stop)
    for now in ("nothing", changed):
        for split in ("train", "validation"):
            puzzles[split][:: -1 if now == split else 1].save(tmp_path / f"{split}.npz")
        training = TRAINING | ({"updates": 13} if now == "updates" else {})
        names = {
            "run": "r",
            "task": plain(TASK),
            "network": plain(tiny_akorn),
            "training": training,
            "training_seed": 0,
        }
        options = {
            "train": tmp_path / "train.npz",
            "validation": tmp_path / "validation.npz",
            "out": "o",
            "curves": "l",
        }
        options |= {"partial": tmp_path, "threads": 1, "code": "y" if now == "code" else "x"}
        command = ["cvoting", "train", json.dumps(names), *(f"--{k}={v}" for k, v in options.items())]
        monkeypatch.setattr(sys, "argv", command)
        assert main() == 1
    assert (resumed_from[0] == resumed_from[1]) == (changed == "nothing")


@pytest.mark.slow
def test_kill_9_and_the_same_command_end_in_the_same_files(tiny_akorn, puzzles, tmp_path):
    for split in ("train", "validation"):
        puzzles[split].save(tmp_path / f"{split}.npz")
    recipe = {
        "run": "r",
        "model": "akorn",
        "dataset": "boards",
        "task": plain(TASK),
        "network": plain(tiny_akorn),
        "training": TRAINING | {"updates": 200, "checkpoint_every": 20},
        "training_seed": 0,
    }

    def command(folder):
        files = {"train": tmp_path / "train.npz", "validation": tmp_path / "validation.npz"}
        outputs = {"out": folder / "c.safetensors", "curves": folder / "log.csv", "partial": folder / "partial"}
        options = [f"--{k}={v}" for k, v in (files | outputs | {"code": "x", "threads": 1}).items()]
        return [sys.executable, "-m", "cvoting", "train", json.dumps(recipe), *options]

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(whole), check=True, capture_output=True)
    process = subprocess.Popen(command(killed), stderr=subprocess.PIPE)
    while not list((killed / "partial").glob("*.safetensors")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    assert not (killed / "c.safetensors").exists()
    again = subprocess.run(command(killed), check=True, capture_output=True, text=True)
    assert "continues after" in again.stderr
    for name in ("c.safetensors", "log.csv"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes()
    assert not list((killed / "partial").iterdir())
    assert Checkpoint.load(killed / "c.safetensors").about["initial_state"] == "random"
