"""What a training step minimises."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from cvoting.precision import widened


def cell_cross_entropy(
    logits: Float[Tensor, "puzzles cells classes"], targets: Int[Tensor, "puzzles cells"]
) -> Float[Tensor, "puzzles cells"]:
    """Cross-entropy of each cell, in nats.

    Args:
        logits: one score per class and cell.
        targets: the class of each cell.
    """
    return cross_entropy(widened(logits).flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)


def masked_cross_entropy(
    logits: Float[Tensor, "puzzles cells classes"],
    targets: Int[Tensor, "puzzles cells"],
    positions: Bool[Tensor, "puzzles cells"],
    count: int | None = None,
) -> Float[Tensor, ""]:
    """Mean cross-entropy over the chosen cells, in nats; of some puzzles of a batch, what they add to its mean.

    Args:
        logits: one score per class and cell.
        targets: the class of each cell.
        positions: the cells that count.
        count: how many there are in the whole batch; None: in these puzzles.
    """
    total = torch.where(positions, cell_cross_entropy(logits, targets), 0.0).sum()
    return total / (positions.sum() if count is None else count)
