"""Stablemax: probabilities that grow linearly, not exponentially, with large logits."""

import torch
from jaxtyping import Float
from torch import Tensor


def log_stablemax(logits: Float[Tensor, "*batch classes"]) -> Float[Tensor, "*batch classes"]:
    """log p_j of p = s / sum s with s(x) = x + 1 for x >= 0 and 1 / (1 - x) below, in the type of the logits.

    log s(x) = sign(x) log(1 + |x|), so that stablemax is the softmax of that.
    Source: Prieto et al. (2025); the loss of released HRM.

    Args:
        logits: one per class.
    """
    # At 0, where the two halves meet with slope 1, `clamp` has the gradient of 1 and `relu` that of 0.
    log_s = torch.log1p(logits.clamp(min=0)) - torch.log1p(torch.relu(-logits))
    return torch.log_softmax(log_s, dim=-1)
