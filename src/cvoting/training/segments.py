"""Training of HRM: an update per segment, each row of the batch with the state that its last segment left."""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from cvoting.models.hrm import HRM
from cvoting.params.training import SegmentsParams
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
    #: None before the first update.
    carry: Carry | None = None

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

    def minimised(self, batch: Batch, update: int) -> Minimised:
        """Rows that have halted take the puzzle of their place in this batch; then every row makes a segment."""
        labels = batch.targets
        if self.params.loss_positions == "predict":
            labels = torch.where(batch.to_predict, labels, IGNORED)
        offered = offer(self.model, batch.questions, labels, batch.noise)
        carry = replace_halted(offered if self.carry is None else self.carry, offered)
        segment = run_segment(self.model, carry, self._minimum(batch, update), self.params.T_train)
        losses, self.carry = segment_losses(segment, self.model.params.probabilities), segment.carry
        rows = len(labels)
        watched = {
            "cell_loss": losses.cells.item() / rows,
            "halting_loss": (losses.halt + losses.continuing).item() / rows,
            "board": right(segment).double().mean().item(),
            "segments": carry.steps.double().mean().item() + 1,
            "halted": segment.carry.halted.double().mean().item(),
        }
        return Minimised(losses.total / rows, watched)

    def cell_losses(
        self, logits: Float[Tensor, "puzzles cells classes"], targets: Int[Tensor, "puzzles cells"]
    ) -> Float[Tensor, "puzzles cells"]:
        """The cross-entropy of each cell, by the probabilities of the training."""
        return cell_losses(logits, targets, self.model.params.probabilities)

    def _minimum(self, batch: Batch, update: int) -> Int[Tensor, "puzzles"]:
        """The segments that rows have to make before they may halt, in this update."""
        rng, maximum = generator("act", self.seed, counter=update), self.params.T_train
        uniform = torch.from_numpy(rng.random(len(batch.questions)))
        drawn = torch.from_numpy(rng.integers(2, max(maximum, 2) + 1, len(batch.questions)))
        device, probability = batch.questions.device, self.segments.exploration
        return minimum_steps(self.segments.act, maximum, probability, uniform, drawn).to(device)

    def state(self) -> dict[str, Tensor]:
        """The rows between two segments."""
        return {} if self.carry is None else self.carry._asdict()

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go on with these rows."""
        device = self.model.start_H.device
        self.carry = Carry(*(state[name].to(device) for name in Carry._fields)) if state else None
