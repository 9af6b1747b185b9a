"""What the ablations ask of training and rollouts: truncated gradients, weight decay, raw weights, loss positions."""

import dataclasses
import json
import sys

import numpy as np
import pytest
import torch

from cvoting.__main__ import main
from cvoting.bank import concatenate
from cvoting.bank_file import read_banks
from cvoting.checkpoint import Checkpoint
from cvoting.models.akorn import AKOrN
from cvoting.models.itrsa import ItrSA
from cvoting.params.core import ParameterError, build, plain
from cvoting.params.itrsa import ItrsaParams
from cvoting.params.rollouts import BankParams
from cvoting.params.training import TrainingParams
from cvoting.params.transformer import TransformerParams
from cvoting.tasks.sudoku import Sudoku
from cvoting.training import unrolled
from cvoting.training.loop import train
from cvoting.training.losses import masked_cross_entropy
from cvoting.training.optimizers import make_adam
from cvoting.training.processes import Processes
from cvoting.training.unrolled import Unrolled

TASK = Sudoku(name="sudoku", box=(2, 2))
NETWORK = {
    "architecture": "itrsa",
    "channels": 16,
    "heads": 2,
    "self_attentions": 2,
    "input_mixing": {"kind": "cross_attention"},
    "feed_forward": {"kind": "swiglu", "hidden": 32},
    "gta": "learnable",
    "norm_affine": True,
    "norm_eps": 1e-6,
}
OPTIMIZER = {"name": "adamw", "lr": 1e-3, "betas": [0.9, 0.95], "weight_decay": 0.1, "warmup_updates": 0}
TRAINING = {
    "T_train": 4,
    "detach_step": 3,
    "updates": 2,
    "batch": 10,
    "optimizer": OPTIMIZER,
    "clip": 1.0,
    "loss_positions": "all",
    "augmentation": "none",
    "ema": {"decay": 0.9, "after": 0, "every": 1},
    "validate_every": 1,
    "checkpoint_every": 10,
}


def make_model() -> ItrSA:
    return ItrSA(build(ItrsaParams, NETWORK), TASK.grid, TASK.vocabulary, TASK.classes)


@pytest.fixture
def run(puzzles, tmp_path):
    """Trains a small ItrSA++ for two updates; keyword arguments change `TRAINING`."""

    def train_small(**changes):
        params = build(TrainingParams, TRAINING | changes)
        resume = tmp_path / json.dumps(changes).replace("/", "")
        objective, processes = Unrolled(make_model(), params, 0), Processes(torch.device("cpu"))
        return train(objective, TASK, puzzles["train"], puzzles["validation"], resume, processes)

    return train_small


def test_training_detaches_the_state_that_the_study_names(run, monkeypatch):
    calls = []
    forward = ItrSA.forward
    monkeypatch.setattr(ItrSA, "forward", lambda *arguments: calls.append(arguments[3:]) or forward(*arguments))
    truncated, whole = run().log, run(detach_step=None).log
    assert [call for call in calls if len(call) == 2] == [(4, 3), (4, 3), (4, None), (4, None)]
    assert truncated[0]["loss"] == pytest.approx(whole[0]["loss"], rel=1e-5)
    assert truncated[0]["gradient_norm"] != pytest.approx(whole[0]["gradient_norm"], rel=0.01)


@pytest.mark.parametrize("step", [4, 5])
def test_a_step_to_detach_at_that_training_never_reaches_is_refused(step):
    message = f"detach_step = {step}: expected less than T_train = 4, or null"
    with pytest.raises(ParameterError, match=message):
        build(TrainingParams, TRAINING | {"detach_step": step})


def test_a_model_of_several_layers_is_not_cut_into_steps(tiny_akorn):
    params = dataclasses.replace(tiny_akorn, layers=2)
    model = AKOrN(params, TASK.grid, TASK.vocabulary, TASK.classes)
    model.initialise(torch.Generator().manual_seed(0))
    question, noise = torch.zeros(1, 16, dtype=torch.long), torch.ones(1, 1, *model.noise_shape)
    with pytest.raises(ParameterError, match="detach_step = 2: expected null, akorn with 2 layers"):
        model(question, noise, 4, 2)
    assert not params.step_problems(4)
    assert not tiny_akorn.step_problems(4, 2)


def test_every_architecture_tells_what_steps_it_cannot_make():
    transformer = TransformerParams(architecture="transformer", channels=16, heads=2, blocks=1, hidden=8)
    assert transformer.step_problems(1) == []
    assert transformer.step_problems(2) == ["2 steps: expected 1, a transformer is no recurrent model"]
    assert build(ItrsaParams, NETWORK).step_problems(16, 14) == []


@pytest.mark.parametrize("positions", ["all", "predict"])
def test_the_loss_is_over_the_positions_that_the_study_names(run, monkeypatch, positions):
    seen = []
    monkeypatch.setattr(unrolled, "masked_cross_entropy", lambda *a: seen.append(a[2]) or masked_cross_entropy(*a))
    run(loss_positions=positions)
    cells = seen[0].sum(-1)  # 16 cells, 6 to 9 of them given
    assert (cells == 16).all() if positions == "all" else ((cells >= 7) & (cells <= 10)).all()


def decayed_names(model: torch.nn.Module, decayed: str) -> set[str]:
    """The parameters that an update with zero gradients changes: those that weight decay pulls."""
    optimizer = make_adam(
        model, build(TrainingParams, TRAINING | {"optimizer": OPTIMIZER | {"decayed": decayed}}).optimizer
    )
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    return {name for name, p in model.named_parameters() if not torch.equal(p, before[name])}


def test_weight_decay_spares_rotations_and_norms_where_the_study_says_so():
    model = make_model()
    model.initialise(torch.Generator().manual_seed(0))
    every = {name for name, _ in model.named_parameters()}
    assert decayed_names(model, "all") == every
    spared = {name for name in every if "geometry" in name or "norm" in name}
    assert len(spared) == 8 + 3
    assert decayed_names(model, "maps") == every - spared


def test_weight_decay_spares_akorn_s_frequencies_of_every_pair_too(tiny_akorn):
    params = dataclasses.replace(tiny_akorn, omega="per_pair")
    model = AKOrN(params, TASK.grid, TASK.vocabulary, TASK.classes)
    model.initialise(torch.Generator().manual_seed(0))
    names = decayed_names(model, "maps")
    assert {"embedding", "layers.0.attention.qkv.weight", "classifier.weight"} <= names
    assert not {"layers.0.omega", "layers.0.attention.mat_q", "step_size", "classifier.bias"} & names


def test_a_bank_rolls_out_the_average_or_the_raw_weights(run, puzzles, tmp_path, monkeypatch):
    trained = run()
    about = {"run": "r", "model": "m", "task": plain(TASK), "network": NETWORK, "training_seed": 0}
    checkpoint = Checkpoint(about, trained.average.state_dict(), trained.model.state_dict())
    checkpoint.save(tmp_path / "both")
    Checkpoint(about, {k: v.clone() for k, v in checkpoint.raw.items()}, checkpoint.raw).save(tmp_path / "raw_twice")
    puzzles["test"].save(tmp_path / "test.npz")

    def scores(name: str, weights: str) -> np.ndarray:
        bank = BankParams(
            run="r", dataset="d", T_eval=2, candidates=3, inference_seeds=(0,), chunk=6, shards=1, weights=weights
        )
        recipe = {"dataset": "d", "split": "test", "inference_seed": 0, "plan": plain(bank.plan())}
        options = {"checkpoint": tmp_path / name, "puzzles": tmp_path / "test.npz", "out": tmp_path / "bank.parquet"}
        options |= {"partial": tmp_path / "partial", "code": "x", "threads": 1}
        command = ["cvoting", "rollouts", json.dumps(recipe), *(f"--{k}={v}" for k, v in options.items())]
        monkeypatch.setattr(sys, "argv", command)
        assert main() == 0
        return concatenate(read_banks(tmp_path / "bank.parquet")).scores["confidence"]

    raw = scores("both", "raw")
    assert np.array_equal(raw, scores("raw_twice", "average"))
    assert not np.isclose(raw, scores("both", "average")).any()
