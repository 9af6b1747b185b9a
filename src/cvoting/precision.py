"""The numbers that torch computes with: float32, or bfloat16 for the factors of products, sums staying in float32."""

from contextlib import AbstractContextManager

import torch
from torch import Tensor

from cvoting.params.precision import Precision


def computing(device: torch.device, precision: Precision) -> AbstractContextManager[object]:
    """What a block computes its linear maps and (on a GPU) its attention in: weights and states stay in float32.

    Args:
        device: where the block computes.
        precision: bfloat16 has the range of float32 and 8 bits of precision.
    """
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16")


def widened(x: Tensor) -> Tensor:
    """bfloat16 as float32, for what 8 bits are too few (sums, logarithms) or which it has not (complex numbers)."""
    return x.float() if x.dtype == torch.bfloat16 else x


def precise(x: Tensor) -> Tensor:
    """float64, or float32 on a device that has no such numbers (MPS)."""
    return x.float() if x.device.type == "mps" else x.double()
