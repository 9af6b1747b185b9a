"""Training of HRM: an update per segment, each row of the batch with the state that its last segment left."""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from cvoting.models.base import RecurrentModel
from cvoting.models.hrm import HRM
from cvoting.params.training import SegmentsParams, TrainingParams
from cvoting.seeding import generator
from cvoting.training.act import (
    IGNORED,
    Carry,
    cell_losses,
    minimum_steps,
    offer,
    replace_halted,
    right,
    run_segment,
    segment_losses,
)
from cvoting.training.adam_atan2 import AdamAtan2
from cvoting.training.batches import Batch
from cvoting.training.objective import Minimised, Objective
from cvoting.training.optimizers import parameter_groups


class Segments(Objective):
    """The losses of one segment of every row, per row; T_train is the most segments that a row makes."""

    model: HRM

    def __init__(self, model: RecurrentModel, params: TrainingParams, seed: int):
        super().__init__(model, params, seed)
        #: Of the rows that an update has computed, and of all rows of a batch where a state was restored since.
        self.carries: dict[range, Carry] = {}
        self.restored: Carry | None = None

    @property
    def segments(self) -> SegmentsParams:
        """How rows halt, and how the prefix learns."""
        assert self.params.segments is not None  # else the study chooses another objective
        return self.params.segments

    def make_optimizer(self) -> torch.optim.Optimizer:
        """Adam-atan2; the prefix descends along the sign of its gradient, at a rate of its own."""
        optimizer, prefix = self.params.optimizer, self.model.prefix
        own = [] if prefix is None else [prefix]
        groups = parameter_groups(self.model, optimizer, own)
        rate, decay = self.segments.prefix_lr, self.segments.prefix_weight_decay
        groups += [{"params": [p], "sign": True, "peak_lr": rate, "weight_decay": decay} for p in own]
        return AdamAtan2(groups, lr=optimizer.lr, betas=optimizer.betas)

    def minimised(self, batch: Batch, rows: range, update: int) -> Minimised:
        """Rows that have halted take the puzzle of their place in this batch; then every row makes a segment."""
        part, puzzles = batch.part(rows, self.device), len(batch.questions)
        labels = part.targets
        if self.params.loss_positions == "predict":
            labels = torch.where(part.to_predict, labels, IGNORED)
        offered = offer(self.model, part.questions, labels, part.noise)
        carry = replace_halted(self._carry(rows) or offered, offered)
        minimum = self._minimum(puzzles, update)[rows.start : rows.stop].to(self.device)
        segment = run_segment(self.model, carry, minimum, self.params.T_train)
        losses, self.carries[rows] = segment_losses(segment, self.model.params.probabilities), segment.carry
        watched = {
            "cell_loss": losses.cells,
            "halting_loss": losses.halt + losses.continuing,
            "board": right(segment).sum(),
            "segments": segment.carry.steps.sum(),
            "halted": segment.carry.halted.sum(),
        }
        means = {name: value.item() / puzzles for name, value in watched.items()}
        return Minimised(losses.total / puzzles, means)

    def _carry(self, rows: range) -> Carry | None:
        """These rows between two segments; None before the first update."""
        if rows in self.carries or self.restored is None:
            return self.carries.get(rows)
        return Carry(*(of_all[rows.start : rows.stop].to(self.device) for of_all in self.restored))

    def cell_losses(
        self, logits: Float[Tensor, "puzzles cells classes"], targets: Int[Tensor, "puzzles cells"]
    ) -> Float[Tensor, "puzzles cells"]:
        """The cross-entropy of each cell, by the probabilities of the training."""
        return cell_losses(logits, targets, self.model.params.probabilities)

    def _minimum(self, puzzles: int, update: int) -> Int[Tensor, "puzzles"]:
        """The segments that rows have to make before they may halt, in this update."""
        rng, maximum = generator("act", self.seed, counter=update), self.params.T_train
        uniform = torch.from_numpy(rng.random(puzzles))
        drawn = torch.from_numpy(rng.integers(2, max(maximum, 2) + 1, puzzles))
        return minimum_steps(self.segments.act, maximum, self.segments.exploration, uniform, drawn)

    def state(self) -> dict[str, Tensor]:
        """The rows between two segments."""
        in_order = [self.carries[rows] for rows in sorted(self.carries, key=lambda rows: rows.start)]
        return {name: torch.cat([getattr(carry, name) for carry in in_order]) for name in Carry._fields if in_order}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go on with these rows."""
        self.carries, self.restored = {}, Carry(**{name: state[name] for name in Carry._fields}) if state else None
