"""Multi-head self-attention with geometry-aware 2x2 matrices (GTA), laid out for speed.

Layout.  Activations are [cells, rows, channels], a row being one candidate of one puzzle: cells come first.  Then the
cells of one (row, head) are a strided matrix whose batch index (row, head) has a single stride, so that the batched
products of attention read queries, keys and values where the linear maps wrote them; and multipliers that depend on the
cell and the channel broadcast over rows.  Linear maps are made to write their channels head by head by permuting the
rows of their weights, once per forward pass instead of the activations in every step.

Geometry.  Two consecutive channels of a head are one complex number z.  Any real 2x2 matrix acts on it as
M z = a z + b conj(z), which is two multiplications by tables of complex numbers.  They are differentiated by hand below,
as is attention: autograd would keep more tensors and write gradients in the slow order.
"""

import math
from typing import Any, NamedTuple

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn
from torch.autograd.function import Function, once_differentiable
from torch.nn import functional

Rows = Float[Tensor, "cells rows channels"]


def linear(
    x: Float[Tensor, "cells rows inputs"],
    weight: Float[Tensor, "outputs inputs"],
    bias: Float[Tensor, "outputs"] | None = None,
) -> Float[Tensor, "cells rows outputs"]:
    """x weight^T + bias.

    On the CPU as a 1x1 convolution: the same product, but PyTorch computes convolutions with oneDNN, which uses AVX-512
    on processors where the matrix products of MKL do not and is then twice as fast.
    """
    if x.device.type != "cpu":
        return functional.linear(x, weight, bias)
    images = x.unsqueeze(1).permute(0, 3, 1, 2)  # [cells, inputs, 1, rows], channels last in memory
    return functional.conv2d(images, weight[:, :, None, None], bias).permute(0, 2, 3, 1).squeeze(1)


class Linear(nn.Linear):
    """A linear map that draws nothing when it is made."""

    def reset_parameters(self) -> None:
        """Leave the weights as they are: `initialise` draws them."""

    def initialise(self, rng: torch.Generator) -> None:
        """PyTorch's default for linear maps and convolutions: U(-1/sqrt(inputs), 1/sqrt(inputs))."""
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(self.in_features**-0.5), self.in_features**-0.5, generator=rng)

    def forward(self, input: Float[Tensor, "cells rows inputs"]) -> Float[Tensor, "cells rows outputs"]:
        """See `linear`."""
        return linear(input, self.weight, self.bias)


def rotations(grid: tuple[int, int], pairs: int) -> Float[Tensor, "cells pairs 2 2"]:
    """The initial matrices of GTA: rotations by the position of a cell times a frequency.

    Pair 2i turns with the row and pair 2i + 1 with the column, by coordinate * 10000^(-i/F), F = ceil(pairs / 2).
    Source: released AKOrN (the matrices are free parameters that start here).
    """
    frequencies = 10000.0 ** (-torch.arange((pairs + 1) // 2) / ((pairs + 1) // 2))
    coordinates = torch.cartesian_prod(*(torch.arange(float(size)) for size in grid))
    angle = (frequencies[:, None] * coordinates[:, None, :]).flatten(1)[:, :pairs]
    return torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], -1).unflatten(-1, (2, 2))


class PairTables(NamedTuple):
    """2x2 matrices as complex multipliers, M z = a z + b conj(z); one pair per two channels."""

    a: Complex[Tensor, "cells 1 pairs"]
    b: Complex[Tensor, "cells 1 pairs"]


class Projection(NamedTuple):
    """One of query, key, value and output: a linear map and the matrices that act behind (output: before) it."""

    weight: Float[Tensor, "channels channels"]
    bias: Float[Tensor, "channels"]
    pairs: PairTables


class GeometricAttention(nn.Module):
    """Self-attention whose queries, keys, values and outputs are multiplied by a 2x2 matrix per cell and pair.

    o_i = M^o_i sum_j softmax_j((M^q_i q_i)^T M^k_j k_j / sqrt(head_dim)) M^v_j v_j, the same matrices for every head.
    Parameters are in the released order: channel = head_channel * heads + head, and a pair is two consecutive
    head channels.  `mat_o` is stored as it acts (it starts as the transpose of the others).
    Source: released AKOrN; GTA, Miyato et al. (2024).

    Args:
        channels: C.
        heads: divides C; the head dimension must be even.
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
        """Query, key, value and output in the layout of the computation; to be derived once per forward pass."""
        by_head = (self.out.in_features // self.heads, self.heads)
        # exp2 is faster than exp: the queries carry log2(e), and the 1 / sqrt(head_dim) of the scores.
        scale = math.log2(math.e) / math.sqrt(by_head[0])
        weights = self.qkv.weight.unflatten(0, (3, *by_head)).transpose(1, 2).flatten(1, 2)
        biases = self.qkv.bias.unflatten(0, (3, *by_head)).transpose(1, 2).flatten(1, 2)
        out = self.out.weight.unflatten(1, by_head).transpose(1, 2).flatten(1, 2)
        tables = (self._tables(m) for m in (self.mat_q * scale, self.mat_k, self.mat_v, self.mat_o))
        return [Projection(*p) for p in zip([*weights, out], [*biases, self.out.bias], tables, strict=True)]

    def _tables(self, matrices: Float[Tensor, "cells pairs 2 2"]) -> PairTables:
        (m00, m01), (m10, m11) = (row.unbind(-1) for row in matrices.unbind(-2))
        a = torch.complex(m00 + m11, m10 - m01) / 2
        b = torch.complex(m00 - m11, m10 + m01) / 2
        return PairTables(a.repeat(1, self.heads).unsqueeze(1), b.repeat(1, self.heads).unsqueeze(1))

    def forward(self, x: Rows, projections: list[Projection]) -> Rows:
        """Attention among the cells of each row, with the weights that `projections` derived."""
        *inputs, out = projections
        q, k, v = (_MultiplyPairs.apply(linear(x, p.weight, p.bias), *p.pairs) for p in inputs)
        mixed = _MultiplyPairs.apply(_Attend.apply(q, k, v, self.heads), *out.pairs)
        return linear(mixed, out.weight, out.bias)


class _MultiplyPairs(Function):
    """a z + b conj(z) for every pair z of consecutive channels."""

    @staticmethod
    def forward(ctx: Any, x: Rows, a: Complex[Tensor, "cells 1 pairs"], b: Complex[Tensor, "cells 1 pairs"]) -> Rows:
        ctx.save_for_backward(x, a, b)
        z = as_pairs(x)
        return as_channels(z.conj_physical().mul_(b).addcmul_(a, z))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Rows) -> tuple[Tensor, Tensor, Tensor]:
        x, a, b = ctx.saved_tensors
        z, g = as_pairs(x), as_pairs(gradient)
        conjugate = g.conj_physical()
        grad_a = (conjugate * z).sum(1, keepdim=True).conj_physical_()
        grad_b = (g * z).sum(1, keepdim=True)
        return as_channels(conjugate.mul_(b).addcmul_(a.conj_physical(), g)), grad_a, grad_b


class _Attend(Function):
    """softmax(ln(2) q k^T) v for every row and head; channels are ordered head by head.

    Matrices are named by their axes: `qT` is [rows * heads, head_dim, cells].
    """

    @staticmethod
    def forward(ctx: Any, q: Rows, k: Rows, v: Rows, heads: int) -> Rows:
        qT, kT, vT = (_split_heads(t, heads) for t in (q, k, v))
        powers = torch.bmm(qT.mT, kT).exp2_()
        total = powers.sum(-1, keepdim=True)
        # The maximum of every row is the slow part of a softmax, and subtracting it changes nothing unless a power
        # leaves the range in which sums and gradients are exact to rounding.
        eps = torch.finfo(q.dtype).eps
        smallest, largest = total.aminmax()
        if not (smallest >= eps**2 and largest <= eps**-2):
            scores = torch.bmm(qT.mT, kT)
            powers = scores.sub_(scores.amax(-1, keepdim=True)).exp2_()
            total = powers.sum(-1, keepdim=True)
        oT = torch.bmm(vT, powers.mT).div_(total.mT)
        ctx.save_for_backward(q, k, v, powers, total, oT)
        ctx.heads = heads
        return _join_heads(oT, q)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Rows) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, powers, total, oT = ctx.saved_tensors
        qT, kT, vT = (_split_heads(t, ctx.heads) for t in (q, k, v))
        gT = _split_heads(gradient, ctx.heads).contiguous().div_(total.mT)
        grad_v = torch.bmm(gT, powers)
        overlap = (gT * oT).sum(1).unsqueeze(-1)
        scores = torch.baddbmm(overlap, gT.mT, vT, beta=-math.log(2), alpha=math.log(2)).mul_(powers)
        grad_q = torch.bmm(kT, scores.mT)
        grad_k = torch.bmm(qT, scores)
        return _join_heads(grad_q, q), _join_heads(grad_k, q), _join_heads(grad_v, q), None


def as_pairs(x: Float[Tensor, "*batch channels"]) -> Complex[Tensor, "*batch pairs"]:
    """Two consecutive channels as one complex number; a view."""
    return torch.view_as_complex(x.unflatten(-1, (-1, 2)))


def as_channels(z: Complex[Tensor, "*batch pairs"]) -> Float[Tensor, "*batch channels"]:
    """The inverse of `as_pairs`."""
    return torch.view_as_real(z).flatten(-2)


def _split_heads(x: Rows, heads: int) -> Float[Tensor, "matrices head_dim cells"]:
    """The matrix of every row and head; a view."""
    return x.unflatten(-1, (heads, -1)).flatten(1, 2).permute(1, 2, 0)


def _join_heads(matrices: Float[Tensor, "matrices head_dim cells"], like: Rows) -> Rows:
    """The inverse of `_split_heads`; as a copy of a transposed matrix, which PyTorch does in blocks."""
    return matrices.flatten(0, 1).t().contiguous().view(like.shape)
