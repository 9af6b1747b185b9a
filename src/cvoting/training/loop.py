"""The training loop, the same for every model and task."""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from cvoting.ahead import ahead
from cvoting.data.puzzles import Puzzles
from cvoting.errors import CvotingError
from cvoting.models.base import RecurrentModel
from cvoting.params.core import ParameterError
from cvoting.precision import computing
from cvoting.preemption import Preempted
from cvoting.progress import Progress
from cvoting.seeding import generator
from cvoting.tasks.base import Task
from cvoting.training.batches import Batch, training_batch, validation_batches
from cvoting.training.ema import update_average
from cvoting.training.objective import Objective
from cvoting.training.optimizers import set_learning_rate, warm_up
from cvoting.training.processes import Processes
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
    processes: Processes,
    label: str = "training",
    stopping: Callable[[], bool] = lambda: False,
) -> Trained:
    """Train a model, or go on where an earlier process stopped.

    On one CPU thread the weights are the same, bit for bit, however often the training was interrupted; with several
    processes, or a batch in parts, they are the same but for the order in which gradients are summed.

    Args:
        objective: with the model, whose weights are drawn here, the parameters and the seed of the training.
        task: positions to predict, classes, symmetries.
        puzzles: the training set.
        validation: watched every `validate_every` updates with the averaged weights; changes nothing.
        resume: the file that holds the state between updates; it stays until the caller removes it.
        processes: this one, which says where to compute, among those that share each batch.
        label: names the run in progress lines.
        stopping: asked after every update, whether to save the state and end.

    Raises:
        CvotingError: for fewer puzzles in a batch than processes and parts.
        ParameterError: for an augmentation that the task does not know.
        Preempted: when `stopping` said so in any process.
        TrainingDiverged: when the loss, its gradient or a weight is not finite; the last good state stays in `resume`.
    """
    model, params, seed = objective.model, objective.params, objective.seed
    if params.augmentation not in task.symmetry_groups:
        groups = ", ".join(task.symmetry_groups)
        raise ParameterError([f"training.augmentation = {params.augmentation!r}: expected one of {groups}"])
    own = processes.rows(params.batch, params.accumulate)
    model.to(processes.device)
    state = _start(objective, processes, resume)
    first = model.first_token(task)
    held_out = validation_batches(task, validation, params.batch, model.noise_shape, seed, first)
    progress = Progress(label, params.updates, done=state.update, unit="updates", silent=not processes.writes)
    note = ""
    for batch in ahead(
        training_batch(task, puzzles, update, params.batch, params.augmentation, model.noise_shape, seed, first)
        for update in range(state.update, params.updates)
    ):
        state.watch(_update(state, batch, own, resume))
        if state.update % params.validate_every == 0 or state.update == params.updates:
            row = state.end_window() | evaluate(state, held_out)
            state.log.append(row)
            note = f"loss {row['loss']:.3f}, validation: board accuracy {100 * row['validation_board']:.1f} %"
        stop = processes.any(stopping())
        if stop or state.update % params.checkpoint_every == 0 or state.update == params.updates:
            _save(state, resume)
        if stop:
            kept = f"the state after update {state.update} is kept in {resume}"
            raise Preempted(f"stopped by SIGTERM: {kept}, from which the same command goes on")
        progress.step(note=note)
    return Trained(model, state.average, state.log)


def _start(objective: Objective, processes: Processes, resume: Path) -> TrainingState:
    """The state before the first update, or the one an earlier process left."""
    model = objective.model
    torch_seed = int(generator("weights", objective.seed).integers(2**63))
    model.initialise(torch.Generator().manual_seed(torch_seed))
    average = copy.deepcopy(model).requires_grad_(False)
    if objective.params.compile:
        model.compile_steps()
    state = TrainingState(objective, processes, average, objective.make_optimizer())
    if resume.exists():
        state.load(resume)
    return state


def _update(state: TrainingState, batch: Batch, own: Sequence[range], resume: Path) -> dict[str, float]:
    """One optimiser update, of which this process computes its own rows; returns what the log says about it."""
    model, objective, processes = state.model.train(), state.objective, state.processes
    params = objective.params
    state.optimizer.zero_grad(set_to_none=True)
    here: dict[str, float] = {}
    for rows in own:
        with computing(processes.device, params.precision):
            loss, watched = objective.minimised(batch, rows, state.update)
        loss.backward()
        for name, value in {"loss": loss.item(), **watched}.items():
            here[name] = here.get(name, 0.0) + value
    processes.add_gradients(model)
    values = processes.sums(here)
    norm = nn.utils.clip_grad_norm_(model.parameters(), math.inf if params.clip is None else params.clip)
    if not (math.isfinite(values["loss"]) and torch.isfinite(norm)):
        raise _diverged(state.update + 1, f"loss {values['loss']}, gradient norm {norm.item()}", resume)
    share = warm_up(state.update, params.optimizer)
    set_learning_rate(state.optimizer, share)
    state.optimizer.step()
    update_average(state.average, model, state.update, params.ema)
    state.update += 1
    return {**values, "gradient_norm": norm.item(), "learning_rate": share * params.optimizer.lr}


def _save(state: TrainingState, resume: Path) -> None:
    """Keep the state, unless it is spoilt."""
    if not state.is_finite():
        raise _diverged(state.update, "a weight is not finite", resume)
    state.save(resume)


def _diverged(update: int, found: str, resume: Path) -> TrainingDiverged:
    kept = f"the state after an earlier update is kept in {resume}" if resume.exists() else "no state was saved yet"
    return TrainingDiverged(
        f"update {update}: {found}, expected finite numbers; {kept}; lower training.optimizer.lr or training.clip, or "
        "lengthen the warm-up"
    )


@torch.inference_mode()
def evaluate(state: TrainingState, batches: Sequence[Batch]) -> dict[str, float]:
    """The average's loss over the positions to predict (nats), and cell and board accuracy, one rollout per puzzle."""
    model, objective, processes = state.average.eval(), state.objective, state.processes
    sums = dict.fromkeys(("loss", "right", "cells", "boards", "puzzles"), 0.0)
    for batch in batches[processes.rank :: processes.count]:
        batch = batch.part(range(len(batch.questions)), processes.device)
        with computing(processes.device, objective.params.precision):
            logits = model(batch.questions, batch.noise, objective.params.T_train)[:, 0]
        correct = (logits.argmax(-1) == batch.targets) | ~batch.to_predict
        cells = int(batch.to_predict.sum())
        found = {
            "loss": float(objective.cell_losses(logits, batch.targets)[batch.to_predict].sum()),
            "right": cells - int((~correct).sum()),
            "cells": cells,
            "boards": int(correct.all(-1).sum()),
            "puzzles": len(correct),
        }
        sums = {name: sums[name] + value for name, value in found.items()}
    loss, right, cells_in_all, boards, puzzles = processes.sums(sums).values()
    return {
        "validation_loss": loss / cells_in_all,
        "validation_cell": right / cells_in_all,
        "validation_board": boards / puzzles,
    }
