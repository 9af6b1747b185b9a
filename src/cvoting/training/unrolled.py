"""Training on the answers after T_train steps, by backpropagation through those after the detach step."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from cvoting.training.batches import Batch
from cvoting.training.losses import cell_cross_entropy, masked_cross_entropy
from cvoting.training.objective import Minimised, Objective
from cvoting.training.optimizers import make_adam


class Unrolled(Objective):
    """The cross-entropy of the logits after T_train steps, each puzzle rolled out anew."""

    def make_optimizer(self) -> torch.optim.Optimizer:
        """Adam or AdamW."""
        return make_adam(self.model, self.params.optimizer)

    def minimised(self, batch: Batch, rows: range, update: int) -> Minimised:
        """The mean over the cells in the loss."""
        part = batch.part(rows, self.device)
        positions = self._positions(part)
        logits = self.model(part.questions, part.noise, self.params.T_train, self.params.detach_step)[:, 0]
        count = int(self._positions(batch).sum())
        return Minimised(masked_cross_entropy(logits, part.targets, positions, count), {})

    def _positions(self, batch: Batch) -> Bool[Tensor, "puzzles cells"]:
        """The cells in the loss."""
        return batch.to_predict if self.params.loss_positions == "predict" else torch.ones_like(batch.to_predict)

    def cell_losses(
        self, logits: Float[Tensor, "puzzles cells classes"], targets: Int[Tensor, "puzzles cells"]
    ) -> Float[Tensor, "puzzles cells"]:
        """The cross-entropy of each cell."""
        return cell_cross_entropy(logits, targets)
