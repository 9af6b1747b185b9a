"""Training of HRM by segments: what each update works on, how it learns, and that it resumes bit for bit."""

import json

import pytest
import torch

from cvoting.checkpoint import CheckpointError, load_tensors, save_tensors
from cvoting.data.puzzles import Puzzles
from cvoting.models.hrm import HRM
from cvoting.params.core import ParameterError, build
from cvoting.params.hrm import HrmParams
from cvoting.params.training import TrainingParams
from cvoting.tasks.sudoku import Sudoku
from cvoting.training import loop
from cvoting.training.act import IGNORED
from cvoting.training.batches import training_batch
from cvoting.training.loop import Trained, train
from cvoting.training.processes import Processes
from cvoting.training.segments import Segments

TASK = Sudoku(name="sudoku", box=(2, 2))
NETWORK = {
    "architecture": "hrm",
    "channels": 16,
    "heads": 2,
    "expansion": 1,
    "H_cycles": 2,
    "L_cycles": 2,
    "H_layers": 1,
    "L_layers": 1,
    "positions": "rope",
    "prefix": True,
    "initial_state": "per_token",
}
SEGMENTS = {"act": "explore", "exploration": 1.0, "prefix_lr": 1e-3, "prefix_weight_decay": 0.5}
OPTIMIZER = {"name": "adam_atan2", "lr": 1e-2, "betas": [0.9, 0.95], "weight_decay": 0.1, "warmup_updates": 2}
TRAINING = {
    "T_train": 3,
    "segments": SEGMENTS,
    "updates": 8,
    "batch": 8,
    "optimizer": OPTIMIZER,
    "clip": None,
    "loss_positions": "all",
    "augmentation": "digits",
    "ema": {"decay": 0.9, "after": 2, "every": 2},
    "validate_every": 4,
    "checkpoint_every": 3,
}


def objective(network: dict | None = None, **changes: object) -> Segments:
    """Of an initialised model; keyword arguments change `TRAINING`."""
    model = HRM.for_task(build(HrmParams, NETWORK | (network or {})), TASK)
    model.initialise(torch.Generator().manual_seed(0))
    return Segments(model, build(TrainingParams, TRAINING | changes), 0)


def batch(puzzles: dict[str, Puzzles], update: int, model: HRM):
    return training_batch(TASK, puzzles["train"], update, 8, "none", model.noise_shape, 0, 0)


@pytest.fixture
def run(puzzles, tmp_path):
    """Trains the smallest HRM for a few updates."""

    def train_small(name: str, network: dict | None = None, **changes: object) -> Trained:
        trained = objective(network, **changes)
        return train(
            trained,
            TASK,
            puzzles["train"],
            puzzles["validation"],
            tmp_path / name,
            Processes(torch.device("cpu")),
            name,
        )

    return train_small


def weights(trained: Trained) -> str:
    both = (trained.model.state_dict(), trained.average.state_dict())
    return json.dumps([{name: tensor.tolist() for name, tensor in state.items()} for state in both])


@pytest.mark.parametrize("stop", [1, 3, 7])
def test_an_interrupted_training_ends_with_the_same_weights_and_log(run, monkeypatch, stop):
    whole = run("whole")

    def stopping_batch(task, puzzles, update, *rest):
        if update == stop:
            raise KeyboardInterrupt
        return training_batch(task, puzzles, update, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(loop, "training_batch", stopping_batch)
        with pytest.raises(KeyboardInterrupt):
            run("stopped")
    continued = run("stopped")
    assert weights(whole) == weights(continued)
    assert whole.log == continued.log


def test_a_batch_in_parts_trains_as_a_whole_one_does(run):
    whole, parts = run("whole").log, run("parts", accumulate=3).log
    for one, other in zip(whole, parts, strict=True):
        assert other == pytest.approx(one, rel=1e-4)


@pytest.mark.parametrize("initial_state", ["fixed", "per_row", "per_token"])
def test_the_loss_falls(run, initial_state):
    log = run("long", {"initial_state": initial_state}, updates=80, validate_every=20).log
    assert log[-1]["cell_loss"] < 0.8 * log[0]["cell_loss"]
    assert log[0]["loss"] == pytest.approx(log[0]["cell_loss"] + 0.5 * log[0]["halting_loss"])


def test_without_act_every_row_makes_all_segments_and_then_takes_the_next_puzzle(puzzles):
    trained = objective(segments=SEGMENTS | {"act": "off"}, T_train=3)
    torch.nn.init.constant_(trained.model.halting.bias, 5.0)  # all would halt if they might
    with torch.no_grad():
        trained.model.halting.bias[1] = -5.0
    worked_on, watched = [], []
    for update in range(7):
        watched.append(trained.minimised(batch(puzzles, update, trained.model), range(8), update).watched)
        worked_on.append(trained.state()["questions"])
    offered = [batch(puzzles, update, trained.model).questions for update in range(7)]
    for update, first in enumerate([0, 0, 0, 3, 3, 3, 6]):
        assert torch.equal(worked_on[update], offered[first])
    assert [w["segments"] for w in watched] == [1, 2, 3, 1, 2, 3, 1]
    assert [w["halted"] for w in watched] == [0, 0, 1, 0, 0, 1, 0]


def test_with_act_rows_halt_where_their_logits_say_so_after_as_many_segments_as_are_drawn(puzzles):
    halted = {}
    for probability in (0.0, 1.0):
        trained = objective(segments=SEGMENTS | {"exploration": probability}, T_train=6)
        with torch.no_grad():
            trained.model.halting.bias.copy_(torch.tensor([5.0, -5.0]))
        halted[probability] = [
            trained.minimised(batch(puzzles, update, trained.model), range(8), update).watched["halted"]
            for update in range(6)
        ]
    assert halted[0.0] == [1.0] * 6
    assert halted[1.0][0] == 0.0
    assert 0 < sum(halted[1.0]) < 6


def test_cells_that_are_not_to_predict_can_be_left_out_of_the_loss(puzzles):
    given = objective(loss_positions="all"), objective(loss_positions="predict")
    first = batch(puzzles, 0, given[0].model)
    for trained in given:
        trained.minimised(first, range(8), 0)
    assert torch.equal(given[0].state()["labels"], first.targets)
    assert torch.equal(given[1].state()["labels"] == IGNORED, ~first.to_predict)


def test_the_prefix_descends_along_the_sign_of_its_gradient_at_its_own_rate(puzzles):
    trained = objective(optimizer=OPTIMIZER | {"warmup_updates": 0})
    optimizer = trained.make_optimizer()
    assert sum(len(group["params"]) for group in optimizer.param_groups) == len(list(trained.model.parameters()))
    torch.nn.init.constant_(trained.model.prefix, 2.0)
    trained.minimised(batch(puzzles, 0, trained.model), range(8), 0).loss.backward()
    loop.set_learning_rate(optimizer, 0.5)  # in the warm-up
    optimizer.step()
    sign = trained.model.prefix.grad.sign()
    assert sign.abs().sum() > 0
    torch.testing.assert_close(trained.model.prefix.detach(), 2.0 * (1 - 0.5e-3 * 0.5) - 0.5e-3 * sign)
    assert {group["lr"] for group in optimizer.param_groups} == {0.5e-3, 0.5e-2}


def test_a_state_without_its_rows_is_that_of_another_training(run, tmp_path):
    run("state", updates=3)
    tensors, about = load_tensors(tmp_path / "state")
    assert {"objective/z_H", "objective/halted"} <= tensors.keys()
    del tensors["objective/halted"]
    save_tensors(tmp_path / "state", tensors, about)
    with pytest.raises(CheckpointError, match=r"the state of another training .* starts anew"):
        run("state")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"detach_step": 2}, "detach_step = 2: expected null, segments have a one-step gradient"),
        ({"segments": None}, "optimizer.name = 'adam_atan2': expected adam or adamw, as segments is null"),
        ({"optimizer": OPTIMIZER | {"name": "adamw"}}, "optimizer.name = 'adamw': expected adam_atan2, as segments"),
    ],
)
def test_segments_and_their_optimizer_come_together(changes, problem):
    with pytest.raises(ParameterError, match=problem):
        build(TrainingParams, TRAINING | changes)
