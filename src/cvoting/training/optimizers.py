"""Optimisers of the family of Adam, and the learning rate of any."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from cvoting.models.base import RecurrentModel
from cvoting.params.training import OptimizerParams

ADAMS: dict[str, type[torch.optim.Adam]] = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def make_adam(model: RecurrentModel, params: OptimizerParams) -> torch.optim.Optimizer:
    """Adam or AdamW; the learning rate is set by `set_learning_rate` before each update."""
    return ADAMS[params.name](parameter_groups(model, params), lr=params.lr, betas=params.betas)


def parameter_groups(
    model: RecurrentModel, params: OptimizerParams, without: Iterable[nn.Parameter] = ()
) -> list[dict[str, Any]]:
    """The parameters of a model with weight decay and without, each group with its learning rate as `peak_lr`.

    Args:
        model: says which parameters decay would spoil.
        params: learning rate and decay.
        without: parameters that are in neither group.
    """
    spared = [p for p in model.undecayed() if p not in set(without)]
    others = [p for p in model.parameters() if p not in {*spared, *without}]
    decay = params.weight_decay if params.decayed == "all" else 0.0
    groups = [(others, params.weight_decay), (spared, decay)]
    return [{"params": group, "weight_decay": decay, "peak_lr": params.lr} for group, decay in groups]


def warm_up(update: int, params: OptimizerParams) -> float:
    """min(1, (update + 1) / warmup_updates): a linear rise, then constant."""
    return min(1.0, (update + 1) / max(params.warmup_updates, 1))


def set_learning_rate(optimizer: torch.optim.Optimizer, share: float) -> None:
    """Use this share of every group's `peak_lr` for the next update."""
    for group in optimizer.param_groups:
        group["lr"] = share * group["peak_lr"]
