"""The training loop, the same for every model and task."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cvoting.data.puzzles import Puzzles
from cvoting.errors import CvotingError
from cvoting.models.base import RecurrentModel
from cvoting.params.core import ParameterError
from cvoting.progress import Progress
from cvoting.seeding import generator
from cvoting.tasks.base import Task
from cvoting.training.batches import Batch, training_batch, validation_batches
from cvoting.training.ema import update_average
from cvoting.training.objective import Objective
from cvoting.training.optimizers import set_learning_rate, warm_up
from cvoting.training.state import TrainingState


class TrainingDiverged(CvotingError):
    """The loss, its gradient or a weight is no longer a number."""


@dataclass(frozen=True)
class Trained:
    """What a training leaves: the model, its moving average, and the log's rows."""

    model: RecurrentModel
    average: RecurrentModel
    log: list[dict[str, Any]]


def train(
    objective: Objective,
    task: Task,
    puzzles: Puzzles,
    validation: Puzzles,
    resume: Path,
    device: torch.device,
    label: str = "training",
) -> Trained:
    """Train a model, or go on where an earlier process stopped.

    On one CPU thread the weights are the same, bit for bit, however often the training was interrupted.

    Args:
        objective: with the model, whose weights are drawn here, the parameters and the seed of the training.
        task: positions to predict, classes, symmetries.
        puzzles: the training set.
        validation: watched every `validate_every` updates with the averaged weights; changes nothing.
        resume: the file that holds the state between updates; it stays until the caller removes it.
        device: where to compute.
        label: names the run in progress lines.

    Raises:
        ParameterError: for an augmentation that the task does not know.
        TrainingDiverged: when the loss, its gradient or a weight is not finite; the last good state stays in `resume`.
    """
    model, params, seed = objective.model, objective.params, objective.seed
    if params.augmentation not in task.symmetry_groups:
        groups = ", ".join(task.symmetry_groups)
        raise ParameterError([f"training.augmentation = {params.augmentation!r}: expected one of {groups}"])
    model.to(device)
    state = _start(objective, resume)
    first = model.first_token(task)
    held_out = validation_batches(task, validation, params.batch, model.noise_shape, seed, first)
    held_out = [batch.to(device) for batch in held_out]
    progress = Progress(label, params.updates, done=state.update, unit="updates")
    note = ""
    while state.update < params.updates:
        batch = training_batch(
            task, puzzles, state.update, params.batch, params.augmentation, model.noise_shape, seed, first
        ).to(device)
        state.watch(_update(state, batch, resume))
        if state.update % params.validate_every == 0 or state.update == params.updates:
            row = state.end_window() | evaluate(state.average, held_out, params.T_train, objective.cell_losses)
            state.log.append(row)
            note = f"loss {row['loss']:.3f}, validation: board accuracy {100 * row['validation_board']:.1f} %"
        if state.update % params.checkpoint_every == 0 or state.update == params.updates:
            if not state.is_finite():
                raise _diverged(state.update, "a weight is not finite", resume)
            state.save(resume)
        progress.step(note=note)
    return Trained(model, state.average, state.log)


def _start(objective: Objective, resume: Path) -> TrainingState:
    """The state before the first update, or the one an earlier process left."""
    model = objective.model
    torch_seed = int(generator("weights", objective.seed).integers(2**63))
    model.initialise(torch.Generator().manual_seed(torch_seed))
    average = copy.deepcopy(model).requires_grad_(False)
    state = TrainingState(objective, average, objective.make_optimizer())
    if resume.exists():
        state.load(resume)
    return state


def _update(state: TrainingState, batch: Batch, resume: Path) -> dict[str, float]:
    """One optimiser update; returns what the log says about it."""
    model, params = state.model.train(), state.objective.params
    loss, watched = state.objective.minimised(batch, state.update)
    state.optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), math.inf if params.clip is None else params.clip)
    if not (torch.isfinite(loss) and torch.isfinite(norm)):
        raise _diverged(state.update + 1, f"loss {loss.item()}, gradient norm {norm.item()}", resume)
    share = warm_up(state.update, params.optimizer)
    set_learning_rate(state.optimizer, share)
    state.optimizer.step()
    update_average(state.average, model, state.update, params.ema)
    state.update += 1
    about = {"gradient_norm": norm.item(), "learning_rate": share * params.optimizer.lr}
    return {"loss": loss.item(), **watched, **about}


def _diverged(update: int, found: str, resume: Path) -> TrainingDiverged:
    kept = f"the state after an earlier update is kept in {resume}" if resume.exists() else "no state was saved yet"
    return TrainingDiverged(
        f"update {update}: {found}, expected finite numbers; {kept}; lower training.optimizer.lr or training.clip, or "
        "lengthen the warm-up"
    )


@torch.inference_mode()
def evaluate(
    model: RecurrentModel, batches: list[Batch], steps: int, cell_losses: Callable[[Tensor, Tensor], Tensor]
) -> dict[str, float]:
    """Loss over the positions to predict (nats), and cell and board accuracy, one rollout per puzzle."""
    model.eval()
    loss = right = cells = boards = puzzles = 0.0
    for batch in batches:
        logits = model(batch.questions, batch.noise, steps)[:, 0]
        correct = (logits.argmax(-1) == batch.targets) | ~batch.to_predict
        count = int(batch.to_predict.sum())
        loss += float(cell_losses(logits, batch.targets)[batch.to_predict].sum())
        right += count - int((~correct).sum())
        cells += count
        boards += int(correct.all(-1).sum())
        puzzles += len(correct)
    return {"validation_loss": loss / cells, "validation_cell": right / cells, "validation_board": boards / puzzles}
