"""Optimisers and the learning rate."""

from collections.abc import Iterable

import torch
from torch import nn

from cvoting.params.training import OptimizerParams

OPTIMIZERS: dict[str, type[torch.optim.Adam]] = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def make_optimizer(parameters: Iterable[nn.Parameter], params: OptimizerParams) -> torch.optim.Optimizer:
    """The optimiser of a training run; its learning rate is set by `set_learning_rate` before each update."""
    kind = OPTIMIZERS[params.name]
    return kind(parameters, lr=params.lr, betas=params.betas, weight_decay=params.weight_decay)


def learning_rate(update: int, params: OptimizerParams) -> float:
    """lr min(1, (update + 1) / warmup_updates): a linear rise, then constant."""
    return params.lr * min(1.0, (update + 1) / max(params.warmup_updates, 1))


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Use `rate` for the next update."""
    for group in optimizer.param_groups:
        group["lr"] = rate
