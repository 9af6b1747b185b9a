"""Exponential moving average of the weights, as ema-pytorch (the library of the released AKOrN) computes it."""

import torch
from torch import nn

from cvoting.params.training import EmaParams


def decay_at(update: int, params: EmaParams) -> float | None:
    """The share of the average that is kept at the end of an update; None: the average is left as it is.

    Calls act only at multiples of `every`.  Up to `after` the weights are copied; then, with s = update - after, the
    decay is min(decay, 1 - (1 + s)^(-2/3)): an average of short runs forgets faster than `decay` says.

    Args:
        update: index of the optimiser update just made, from 0.
        params: decay, after, every.
    """
    if update % params.every:
        return None
    return min(params.decay, 1 - (1 + max(update - params.after, 0)) ** (-2 / 3))


@torch.no_grad()
def update_average(average: nn.Module, model: nn.Module, update: int, params: EmaParams) -> None:
    """Move the weights of `average` towards those of `model`: average <- decay average + (1 - decay) model."""
    decay = decay_at(update, params)
    if decay is None:
        return
    for mean, weight in zip(average.parameters(), model.parameters(), strict=True):
        mean.lerp_(weight, 1 - decay)
