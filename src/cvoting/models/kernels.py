"""The products at the heart of attention and of the matrices that tell it where cells lie.

On the CPU derivatives are by hand: autograd would get the same numbers, but keep more tensors and write gradients in an
order that is slow to read.  What `torch.compile` compiles is written without complex numbers, which it does not know.
Activations are [cells, rows, channels], see `layers`.
"""

import math
from typing import Any

import torch
from jaxtyping import Complex, Float
from torch import Tensor
from torch.amp import custom_bwd, custom_fwd
from torch.autograd.function import Function, once_differentiable
from torch.nn import functional

from cvoting.precision import widened

LOG2_E = math.log2(math.e)

Numbers = Complex[Tensor, "cells 1 pairs"]
Rows = Float[Tensor, "cells rows channels"]
#: A complex number per cell and pair of channels, as its real and its imaginary part.
Table = Float[Tensor, "cells 1 pairs 2"]


def as_pairs(x: Float[Tensor, "*batch channels"]) -> Complex[Tensor, "*batch pairs"]:
    """Two consecutive channels as one complex number; a view, but of bfloat16."""
    return torch.view_as_complex(widened(x).unflatten(-1, (-1, 2)))


def as_channels(z: Complex[Tensor, "*batch pairs"]) -> Float[Tensor, "*batch channels"]:
    """The inverse of `as_pairs`."""
    return torch.view_as_real(z).flatten(-2)


def multiply_pairs(x: Rows, a: Table, b: Table) -> Rows:
    """a z + b conj(z) for every pair z of consecutive channels: a real 2x2 matrix per cell and pair.

    Args:
        x: activations, two channels per pair.
        a: the part of the matrices that commutes with multiplication by i.
        b: the part that anticommutes.
    """
    if torch.compiler.is_compiling():
        (a_re, a_im), (b_re, b_im) = (table.unbind(-1) for table in (a, b))
        re, im = widened(x).unflatten(-1, (-1, 2)).unbind(-1)
        turned = (a_re + b_re) * re + (b_im - a_im) * im, (a_im + b_im) * re + (a_re - b_re) * im
        return torch.stack(turned, -1).flatten(-2)
    return _MultiplyPairs.apply(x, torch.view_as_complex(a), torch.view_as_complex(b))


def turn_pairs(x: Rows, turns: Table) -> Rows:
    """turns z for every pair z of consecutive channels: a rotation per cell and pair."""
    if torch.compiler.is_compiling():
        return multiply_pairs(x, turns, torch.zeros_like(turns))
    return as_channels(as_pairs(x) * torch.view_as_complex(turns))


def attend(q: Rows, k: Rows, v: Rows, heads: int) -> Rows:
    """2^(q k^T) v / sum 2^(q k^T), for every row and head; powers of 2, because exp2 is faster than exp.

    On the CPU by hand, the fastest there.  Elsewhere by PyTorch's fused attention, which keeps no [cells, cells] array:
    on mazes of 900 cells those of a batch would fill the memory.

    Args:
        q: queries, scaled by log2(e) (and by what the scores are to be scaled by).
        k: keys.
        v: values; channels are ordered head by head.
        heads: divides the channels.
    """
    by_hand = q.device.type == "cpu" and not torch.compiler.is_compiling()
    return _Attend.apply(q, k, v, heads) if by_hand else fused_attention(q, k, v, heads)


def fused_attention(q: Rows, k: Rows, v: Rows, heads: int) -> Rows:
    """`attend` by PyTorch's fused attention."""
    q, k, v = (t.unflatten(-1, (heads, -1)).permute(1, 2, 0, 3) for t in (q, k, v))
    out = functional.scaled_dot_product_attention(q, k, v, scale=1 / LOG2_E)
    return out.permute(2, 0, 1, 3).flatten(-2)


class _MultiplyPairs(Function):
    @staticmethod
    def forward(ctx: Any, x: Rows, a: Numbers, b: Numbers) -> Rows:
        ctx.save_for_backward(x, a, b)
        z = as_pairs(x)
        return as_channels(z.conj_physical().mul_(b).addcmul_(a, z))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Rows) -> tuple[Rows, Numbers, Numbers]:
        x, a, b = ctx.saved_tensors
        z, g = as_pairs(x), as_pairs(gradient)
        conjugate = g.conj_physical()
        grad_a = (conjugate * z).sum(1, keepdim=True).conj_physical_()
        grad_b = (g * z).sum(1, keepdim=True)
        return as_channels(conjugate.mul_(b).addcmul_(a.conj_physical(), g)), grad_a, grad_b


class _Attend(Function):
    """Capital T marks matrices [rows * heads, head_dim, cells]: products of short heads are fast when written so.

    Always in float32 or float64, on the CPU: bfloat16 is for linear maps there.
    """

    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx: Any, q: Rows, k: Rows, v: Rows, heads: int) -> Rows:
        qT, kT, vT = (_split_heads(t, heads) for t in (q, k, v))
        powers = torch.bmm(qT.mT, kT).exp2_()
        total = powers.sum(-1, keepdim=True)
        # Finding the largest score of every cell takes most of the time of a softmax.  Subtracting it changes nothing
        # but the range of the numbers: it is done where a total leaves half the exponents (2^-64 to 2^64 in float32),
        # so that gradients can be divided by it, or three quarters of them where there are no gradients.
        limit = torch.finfo(q.dtype).max ** (0.5 if any(ctx.needs_input_grad) else 0.75)
        smallest, largest = total.aminmax()
        if not (smallest >= 1 / limit and largest <= limit):
            scores = torch.bmm(qT.mT, kT)
            powers = scores.sub_(scores.amax(-1, keepdim=True)).exp2_()
            total = powers.sum(-1, keepdim=True)
        outT = torch.bmm(vT, powers.mT).div_(total.mT)
        ctx.save_for_backward(q, k, v, powers, total, outT)
        ctx.heads = heads
        return _join_heads(outT, q)

    @staticmethod
    @custom_bwd(device_type="cpu")
    @once_differentiable
    def backward(ctx: Any, gradient: Rows) -> tuple[Rows, Rows, Rows, None]:
        q, k, v, powers, total, outT = ctx.saved_tensors
        qT, kT, vT = (_split_heads(t, ctx.heads) for t in (q, k, v))
        gT = gradient.flatten(1).t().contiguous().view(outT.shape).div_(total.mT)
        grad_v = torch.bmm(gT, powers)
        through_total = (gT * outT).sum(1).unsqueeze(-1)
        grad_scores = torch.baddbmm(through_total, gT.mT, vT, beta=-math.log(2), alpha=math.log(2)).mul_(powers)
        grad_q, grad_k = torch.bmm(kT, grad_scores.mT), torch.bmm(qT, grad_scores)
        return _join_heads(grad_q, q), _join_heads(grad_k, q), _join_heads(grad_v, q), None


def _split_heads(x: Rows, heads: int) -> Float[Tensor, "matrices head_dim cells"]:
    """The matrix of every row and head; a view."""
    return x.unflatten(-1, (heads, -1)).flatten(1, 2).permute(1, 2, 0)


def _join_heads(matrices: Float[Tensor, "matrices head_dim cells"], like: Rows) -> Rows:
    """The inverse of `_split_heads`, by the transposition of one large matrix, which PyTorch does in blocks."""
    return matrices.flatten(0, 1).t().contiguous().view(like.shape)
