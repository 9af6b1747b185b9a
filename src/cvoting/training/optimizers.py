"""Optimisers and the learning rate."""

from typing import Any

import torch

from cvoting.models.base import RecurrentModel
from cvoting.params.training import OptimizerParams

OPTIMIZERS: dict[str, type[torch.optim.Adam]] = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def make_optimizer(model: RecurrentModel, params: OptimizerParams) -> torch.optim.Optimizer:
    """The optimiser of a training run; its learning rate is set by `set_learning_rate` before each update."""
    spared = model.undecayed()
    others = [p for p in model.parameters() if p not in set(spared)]
    decay = params.weight_decay if params.decayed == "all" else 0.0
    groups: list[dict[str, Any]] = [{"params": others}, {"params": spared, "weight_decay": decay}]
    kind = OPTIMIZERS[params.name]
    return kind(groups, lr=params.lr, betas=params.betas, weight_decay=params.weight_decay)


def learning_rate(update: int, params: OptimizerParams) -> float:
    """lr min(1, (update + 1) / warmup_updates): a linear rise, then constant."""
    return params.lr * min(1.0, (update + 1) / max(params.warmup_updates, 1))


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Use `rate` for the next update."""
    for group in optimizer.param_groups:
        group["lr"] = rate
