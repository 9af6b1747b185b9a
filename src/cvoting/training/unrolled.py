"""Training on the answers after T_train steps, by backpropagation through those after the detach step."""

import torch
from jaxtyping import Float, Int
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

    def minimised(self, batch: Batch, update: int) -> Minimised:
        """The mean over the cells in the loss."""
        positions = batch.to_predict if self.params.loss_positions == "predict" else torch.ones_like(batch.to_predict)
        logits = self.model(batch.questions, batch.noise, self.params.T_train, self.params.detach_step)[:, 0]
        return Minimised(masked_cross_entropy(logits, batch.targets, positions), {})

    def cell_losses(
        self, logits: Float[Tensor, "puzzles cells classes"], targets: Int[Tensor, "puzzles cells"]
    ) -> Float[Tensor, "puzzles cells"]:
        """The cross-entropy of each cell."""
        return cell_cross_entropy(logits, targets)
