"""What the training loop asks of an objective."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from cvoting.models.base import RecurrentModel
from cvoting.params.training import TrainingParams
from cvoting.training.batches import Batch


class Minimised(NamedTuple):
    """What some rows of a batch add to what an update minimises, and to what the log says of it besides."""

    loss: Float[Tensor, ""]
    watched: dict[str, float]


class Objective(ABC):
    """What the updates of a training minimise, and with which optimiser.

    Args:
        model: what is trained.
        params: objective, optimiser, length.
        seed: training seed.
    """

    def __init__(self, model: RecurrentModel, params: TrainingParams, seed: int):
        self.model, self.params, self.seed = model, params, seed

    @abstractmethod
    def make_optimizer(self) -> torch.optim.Optimizer:
        """The optimiser; each of its groups has the learning rate after the warm-up as `peak_lr`."""

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    @abstractmethod
    def minimised(self, batch: Batch, rows: range, update: int) -> Minimised:
        """What some rows add to what an update minimises on its batch: the sum over all rows is the loss.

        Args:
            batch: all of it, anywhere.
            rows: which of its puzzles.
            update: counted from 0.
        """

    @abstractmethod
    def cell_losses(
        self, logits: Float[Tensor, "puzzles cells classes"], targets: Int[Tensor, "puzzles cells"]
    ) -> Float[Tensor, "puzzles cells"]:
        """What a cell's answer costs in nats, as training has it: for the validation."""

    def state(self) -> dict[str, Tensor]:
        """What the next update needs that is neither a weight nor a moment of the optimiser.

        Of each tensor the rows that this process has computed.
        """
        return {}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state` gave, the rows of all processes together.

        Raises:
            ValueError: for the state of another objective.
        """
        if state:
            raise ValueError(f"unexpected state: {', '.join(state)}")
