"""Linear maps and multi-head self-attention with geometry-aware 2x2 matrices (GTA), laid out for speed.

Layout.  Activations are [cells, rows, channels], a row being one candidate of one puzzle: cells come first.  Then the
cells of one (row, head) are a matrix whose batch index (row, head) has a single stride, so that the batched products of
attention read queries, keys and values where the linear maps wrote them; and what depends on cell and channel, as the
matrices of GTA do, broadcasts over rows.  The linear maps write their channels head by head: once per forward pass the
rows of their weights are permuted, instead of the activations in every step.

Geometry.  Two consecutive channels of a head are a complex number z.  Any real 2x2 matrix acts on it as
M z = a z + b conj(z): two multiplications by a table of complex numbers (see `kernels`).
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from cvoting.models.kernels import LOG2_E, Rows, Table, attend, multiply_pairs


def to_rows(x: Float[Tensor, "puzzles candidates cells channels"]) -> Rows:
    """One row per candidate, cells first; no copy of what comes from `to_candidates`."""
    return x.permute(2, 0, 1, 3).flatten(1, 2).contiguous()


def to_candidates(x: Rows, puzzles: int) -> Float[Tensor, "puzzles candidates cells channels"]:
    """The axes that the rest of the project uses; a view."""
    return x.unflatten(1, (puzzles, -1)).permute(1, 2, 0, 3)


def linear(
    x: Float[Tensor, "cells rows inputs"],
    weight: Float[Tensor, "outputs inputs"],
    bias: Float[Tensor, "outputs"] | None = None,
) -> Float[Tensor, "cells rows outputs"]:
    """weight x + bias.

    On the CPU as a 1x1 convolution: the same product, but PyTorch computes convolutions with oneDNN, which uses AVX-512
    on processors where the matrix products of MKL do not, and is twice as fast there.
    """
    if x.device.type != "cpu":
        return functional.linear(x, weight, bias)
    images = x.unsqueeze(1).permute(0, 3, 1, 2)  # [cells, inputs, 1, rows], channels last in memory
    return functional.conv2d(images, weight[:, :, None, None], bias).permute(0, 2, 3, 1).squeeze(1)


class Linear(nn.Linear):
    """A linear map that draws nothing when it is made."""

    def reset_parameters(self) -> None:
        """Leave the weights undefined: `initialise` draws them."""

    def initialise(self, rng: torch.Generator) -> None:
        """PyTorch's default for linear maps and convolutions, U(-1/sqrt(inputs), 1/sqrt(inputs))."""
        bound = self.in_features**-0.5
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.empty(parameter.shape, device=rng.device).uniform_(-bound, bound, generator=rng))

    def forward(self, input: Float[Tensor, "cells rows inputs"]) -> Float[Tensor, "cells rows outputs"]:
        """See `linear`."""
        return linear(input, self.weight, self.bias)


class LinearMap(Linear):
    """W [x; z] + b, a linear map of input and state side by side, in two parts: W = [W_x, W_z].

    Args:
        channels: C, of x, of z, and of the result.
        bias: whether there is a b.
    """

    def __init__(self, channels: int, bias: bool):
        super().__init__(2 * channels, channels, bias)

    def of_input(self, x: Rows) -> Rows:
        """W_x x + b."""
        return linear(x, self.weight[:, : self.out_features], self.bias)

    def of_state(self, z: Rows) -> Rows:
        """W_z z."""
        return linear(z, self.weight[:, self.out_features :])


def rotations(grid: tuple[int, int], pairs: int) -> Float[Tensor, "cells pairs 2 2"]:
    """The initial matrices of GTA: rotations by a coordinate of the cell times a frequency.

    Pair 2i turns by the row and pair 2i + 1 by the column, times 10000^(-i/F), F = ceil(pairs / 2).
    Source: released AKOrN, where the matrices are free parameters that start here.
    """
    count = -(-pairs // 2)
    frequencies = 10000.0 ** (-torch.arange(count) / count)
    coordinates = torch.cartesian_prod(*(torch.arange(float(size)) for size in grid))
    angle = (frequencies[:, None] * coordinates[:, None, :]).flatten(1)[:, :pairs]
    return torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], -1).unflatten(-1, (2, 2))


def tables(matrices: Float[Tensor, "cells head_pairs 2 2"], heads: int) -> tuple[Table, Table]:
    """The a and b of M z = a z + b conj(z), the same for every head: what `multiply_pairs` takes."""
    (m00, m01), (m10, m11) = (row.unbind(-1) for row in matrices.unbind(-2))
    a = torch.complex(m00 + m11, m10 - m01) / 2
    b = torch.complex(m00 - m11, m10 + m01) / 2
    a_of_heads, b_of_heads = (torch.view_as_real(table.repeat(1, heads).unsqueeze(1)) for table in (a, b))
    return a_of_heads, b_of_heads


class Projection(NamedTuple):
    """A linear map of attention with the 2x2 matrices that act behind it (or, for the output, before it)."""

    weight: Float[Tensor, "channels channels"]
    bias: Float[Tensor, "channels"]
    a: Table
    b: Table


class GeometricAttention(nn.Module):
    """Self-attention whose queries, keys, values and outputs are multiplied by a 2x2 matrix per cell and pair.

    o_i = M^o_i sum_j softmax_j((M^q_i q_i)^T (M^k_j k_j) / sqrt(head_dim)) M^v_j v_j, the same matrices for every head,
    and a linear map of o.  Parameters are in the released order: channel = head_channel * heads + head; a pair is two
    consecutive head channels; `mat_o` is stored as it acts (it starts as the transpose of the others).
    Source: released AKOrN; Miyato et al. (2024), GTA.

    Args:
        channels: C.
        heads: divides C; channels / heads is even.
        grid: rows and columns of the board.
    """

    def __init__(self, channels: int, heads: int, grid: tuple[int, int]):
        super().__init__()
        self.heads, self.grid = heads, grid
        self.qkv = Linear(channels, 3 * channels)
        self.out = Linear(channels, channels)
        shape = (grid[0] * grid[1], channels // heads // 2, 2, 2)
        self.mat_q, self.mat_k, self.mat_v, self.mat_o = (nn.Parameter(torch.empty(shape)) for _ in range(4))

    def initialise(self, rng: torch.Generator) -> None:
        """Default linear maps; the matrices start as rotations."""
        self.qkv.initialise(rng)
        self.out.initialise(rng)
        matrices = rotations(self.grid, self.mat_q.shape[1])
        with torch.no_grad():
            for parameter in (self.mat_q, self.mat_k, self.mat_v):
                parameter.copy_(matrices)
            self.mat_o.copy_(matrices.mT)

    def projections(self) -> list[Projection]:
        """Query, key, value and output in the layout of the computation, to be derived once per forward pass."""
        by_head = (self.out.in_features // self.heads, self.heads)
        weights = self.qkv.weight.unflatten(0, (3, *by_head)).transpose(1, 2).flatten(1, 2)
        biases = self.qkv.bias.unflatten(0, (3, *by_head)).transpose(1, 2).flatten(1, 2)
        out = self.out.weight.unflatten(1, by_head).transpose(1, 2).flatten(1, 2)
        scale = LOG2_E / math.sqrt(by_head[0])
        matrices = (self.mat_q * scale, self.mat_k, self.mat_v, self.mat_o)
        every = zip([*weights, out], [*biases, self.out.bias], matrices, strict=True)
        return [Projection(weight, bias, *tables(m, self.heads)) for weight, bias, m in every]

    def forward(self, x: Rows, projections: list[Projection]) -> Rows:
        """Attention among the cells of each row.

        Args:
            x: activations.
            projections: what the method of this name derived.
        """
        *inputs, out = projections
        q, k, v = (multiply_pairs(linear(x, p.weight, p.bias), p.a, p.b) for p in inputs)
        return linear(multiply_pairs(attend(q, k, v, self.heads), out.a, out.b), out.weight, out.bias)
