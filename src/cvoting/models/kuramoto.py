"""Layers of Kuramoto oscillators: the update of AKOrN, its energy, and its readout.

Activations are [cells, rows, channels], see `layers`.  Sums over the n channels of an oscillator are products with a
small block of ones, the fastest way there is to add few neighbours; so channels keep their natural order everywhere.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn

from cvoting.models.kernels import Rows, as_channels, as_pairs
from cvoting.models.layers import GeometricAttention, Linear, Projection, linear
from cvoting.params.akorn import AkornParams
from cvoting.precision import widened

#: Channels summed by one product: a vector register; more would only add zeros.
BLOCK = 16


class Oscillators(nn.Module):
    """Channels in groups of n consecutive ones, each a vector.

    Args:
        channels: C.
        size: n, divides C.
    """

    ones: Float[Tensor, "block block"]
    tiny: Float[Tensor, "block"]

    def __init__(self, channels: int, size: int):
        super().__init__()
        block = max((b for b in range(size, BLOCK + 1, size) if channels % b == 0), default=size)
        oscillator = torch.arange(block) // size
        self.register_buffer("ones", (oscillator[:, None] == oscillator).float(), persistent=False)
        self.register_buffer("tiny", torch.full((block,), 1e-24), persistent=False)

    def sums(self, x: Rows, offset: Float[Tensor, "block"] | None = None) -> Rows:
        """At every channel the sum over its oscillator, plus an offset; never in bfloat16."""
        with torch.autocast(x.device.type, enabled=False):
            return linear(x.unflatten(-1, (-1, len(self.ones))).flatten(1, 2), self.ones, offset).view(x.shape)

    def normalise(self, x: Rows) -> Rows:
        """Every oscillator on the unit sphere; one that is zero stays zero."""
        return x * self.sums(x * x, self.tiny).rsqrt()


class Readout(nn.Module):
    """Features that do not depend on how an oscillator is turned, then a residual feed-forward block.

    u_j = |W_j x + b_j| + bias_j with W_j x in R^n; u <- u + residual(relu(hidden(relu(u)))); out(relu(u)).
    Source: released AKOrN.

    Args:
        channels: C.
        size: n.
    """

    def __init__(self, channels: int, size: int):
        super().__init__()
        self.size = size
        self.bias = nn.Parameter(torch.empty(channels))
        self.components = Linear(channels, channels * size)
        self.hidden = Linear(channels, channels)
        self.residual = Linear(channels, channels)
        self.out = Linear(channels, channels)

    def initialise(self, rng: torch.Generator) -> None:
        """Default linear maps; no bias behind the norm."""
        nn.init.zeros_(self.bias)
        for module in (self.components, self.hidden, self.residual, self.out):
            module.initialise(rng)

    def forward(self, x: Rows) -> Rows:
        """Features of every cell."""
        # Released rows count the n components of a feature in a row; the squares of the first components, of the
        # second ones, ... are faster to add as long vectors.
        weight = self.components.weight.unflatten(0, (-1, self.size)).transpose(0, 1).flatten(0, 1)
        bias = self.components.bias.unflatten(0, (-1, self.size)).t().flatten()
        components = widened(linear(x, weight, bias)).unflatten(-1, (self.size, -1))
        u = components.square().sum(-2).sqrt() + self.bias
        u = u + self.residual(self.hidden(u.relu()).relu())
        return self.out(u.relu())


class KuramotoLayer(nn.Module):
    """Oscillators that attention, an input and their natural frequency move; the parameters of one layer of AKOrN.

    Args:
        params: sizes and switches.
        grid: rows and columns of the board.
    """

    def __init__(self, params: AkornParams, grid: tuple[int, int]):
        super().__init__()
        self.omega_initial = params.omega_initial
        self.oscillators = Oscillators(params.channels, params.oscillator_dim)
        self.attention = GeometricAttention(params.channels, params.heads, grid)
        self.readout = Readout(params.channels, params.oscillator_dim)
        self.omega: nn.Parameter | None = None
        if params.omega != "none":
            shape = (2,) if params.omega == "global" else (params.channels // 2, 2)
            self.omega = nn.Parameter(torch.empty(shape), requires_grad=params.omega_learnable)

    def initialise(self, rng: torch.Generator) -> None:
        """Default weights; every frequency is `omega_initial`."""
        self.attention.initialise(rng)
        self.readout.initialise(rng)
        if self.omega is not None:
            nn.init.constant_(self.omega, self.omega_initial / 2**0.5)

    def steps(
        self, x: Rows, drive: Rows, step_size: Float[Tensor, "1"], count: int
    ) -> Iterator[tuple[Rows, Float[Tensor, "rows"]]]:
        """`count` times: the next state, and the energy E(x) of the state before.

        y = Attention(x) + c,  x <- normalise(x + gamma (Omega x + y - <x, y> x)),  E(x) = - sum_{cells, channels} x y.
        Source: released AKOrN.

        Args:
            x: the state, on the unit spheres.
            drive: c, the layer's input.
            step_size: gamma.
            count: steps.
        """
        projections, rotation = self.attention.projections(), self._rotation()
        for _ in range(count):
            x, energy = self._step(x, drive, step_size, projections, rotation)
            yield x, energy

    def _rotation(self) -> Complex[Tensor, "*pairs"]:
        """Omega (a, b) = (w b, -w a) for pairs of channels: -i w (a + i b), with w the norm of a 2-vector."""
        if self.omega is None:
            # Differs from the equation: without Omega the released code adds x itself, not 0.
            one = torch.ones_like(self.oscillators.tiny[0])
            return torch.complex(one, torch.zeros_like(one))
        frequency = torch.linalg.vector_norm(self.omega, dim=-1)
        return torch.complex(torch.zeros_like(frequency), -frequency)

    def _step(
        self,
        x: Rows,
        drive: Rows,
        step_size: Float[Tensor, "1"],
        projections: list[Projection],
        rotation: Complex[Tensor, "*pairs"],
    ) -> tuple[Rows, Float[Tensor, "rows"]]:
        y = self.attention(x, projections) + drive
        overlap = x * y
        tangent = torch.addcmul(y, x, self.oscillators.sums(overlap), value=-1)
        motion = as_channels(torch.addcmul(as_pairs(tangent), as_pairs(x), rotation))
        return self.oscillators.normalise(torch.addcmul(x, motion, step_size)), -overlap.sum((0, 2))
