"""Networks that act on each cell alone.  Activations are [cells, rows, channels], see `layers`."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from cvoting.models.kernels import Rows
from cvoting.models.layers import Linear

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "silu": functional.silu,
}


class SwiGLU(nn.Module):
    """W_down (SiLU(W_gate x) * W_up x), without biases.

    Source: Shazeer (2020); Equation `mlp` of the paper.

    Args:
        channels: C.
        hidden: rows of W_gate and W_up.
    """

    def __init__(self, channels: int, hidden: int):
        super().__init__()
        self.gate, self.up = (Linear(channels, hidden, bias=False) for _ in range(2))
        self.down = Linear(hidden, channels, bias=False)

    def initialise(self, rng: torch.Generator) -> None:
        """Default linear maps."""
        for module in (self.gate, self.up, self.down):
            module.initialise(rng)

    def forward(self, x: Rows) -> Rows:
        """The same for every cell."""
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class FeedForward(nn.Module):
    """W_down activation(W_up x).

    Args:
        channels: C.
        hidden: rows of W_up.
        activation: a key of `ACTIVATIONS`.
        bias: whether the linear maps have one.
    """

    def __init__(self, channels: int, hidden: int, activation: str, bias: bool):
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.up, self.down = Linear(channels, hidden, bias=bias), Linear(hidden, channels, bias=bias)

    def initialise(self, rng: torch.Generator) -> None:
        """Default linear maps."""
        self.up.initialise(rng)
        self.down.initialise(rng)

    def forward(self, x: Rows) -> Rows:
        """The same for every cell."""
        return self.down(self.activation(self.up(x)))
