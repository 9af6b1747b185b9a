"""AKOrN a second time: equation by equation, in the released names and order, with no thought for speed."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor


class Record(NamedTuple):
    """What a rollout leaves; energies are those of the last layer, E(x_0) first."""

    logits: Tensor
    state: Tensor
    energies: Tensor


def normalise(x: Tensor, n: int) -> Tensor:
    """Each oscillator of n consecutive channels divided by its length."""
    oscillators = x.unflatten(-1, (-1, n))
    return (oscillators / torch.linalg.vector_norm(oscillators, dim=-1, keepdim=True)).flatten(-2)


def conv(weights: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    """A 1x1 convolution: a linear map of the last axis."""
    return x @ weights[f"{name}.weight"].flatten(1).T + weights[f"{name}.bias"]


def act(matrices: Tensor, x: Tensor) -> Tensor:
    """Each cell's matrices [cells, pairs, 2, 2] on the pairs of consecutive channels of [batch, heads, cells, d]."""
    return torch.einsum("cpij,bhcpj->bhcpi", matrices, x.unflatten(-1, (-1, 2))).flatten(-2)


def attention(weights: Mapping[str, Tensor], layer: str, heads: int, x: Tensor) -> Tensor:
    """softmax(q k / sqrt(d)) v with a matrix on each of q, k, v and the output; channel = d_index * heads + head."""
    name = f"{layer}.0.connectivity"
    q, k, v = (
        act(weights[f"{name}.mat_{letter}"], part.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2))
        for letter, part in zip("qkv", conv(weights, f"{name}.W_qkv", x).chunk(3, dim=-1), strict=True)
    )
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    mixed = act(weights[f"{name}.mat_o"], torch.softmax(scores, dim=-1) @ v)
    return conv(weights, f"{name}.W_o", mixed.permute(0, 2, 3, 1).flatten(-2))


def omega(weights: Mapping[str, Tensor], layer: str, x: Tensor) -> Tensor:
    """(a, b) -> (w b, -w a); without frequencies the released code returns x."""
    parameter = weights.get(f"{layer}.0.omg.omg_param")
    if parameter is None:
        return x
    frequency = torch.linalg.vector_norm(parameter, dim=-1)
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([frequency * b, -frequency * a], dim=-1).flatten(-2)


def step(weights: Mapping[str, Tensor], layer: str, n: int, heads: int, x: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """One Kuramoto step, and the energy before it."""
    y = attention(weights, layer, heads, x) + c
    energy = -(x * y).sum(dim=(-1, -2))
    y_n, x_n = y.unflatten(-1, (-1, n)), x.unflatten(-1, (-1, n))
    tangent = (y_n - (x_n * y_n).sum(-1, keepdim=True) * x_n).flatten(-2)
    return normalise(x + weights["gamma"] * (omega(weights, layer, x) + tangent), n), energy


def readout(weights: Mapping[str, Tensor], layer: str, n: int, x: Tensor) -> Tensor:
    """The length of n components per channel, a residual block, a linear map."""
    components = conv(weights, f"{layer}.1.0.invconv", x).unflatten(-1, (-1, n))
    u = torch.linalg.vector_norm(components, dim=-1) + weights[f"{layer}.1.0.bias"]
    hidden = conv(weights, f"{layer}.1.1.fn.fn.0.fn.2", u.relu())
    u = u + conv(weights, f"{layer}.1.1.fn.fn.1.fn.2", hidden.relu())
    return conv(weights, f"{layer}.1.2.fn.2", u.relu())


def rollout(
    weights: Mapping[str, Tensor], n: int, heads: int, layers: int, steps: int, puzzle: Tensor, noise: Tensor
) -> Record:
    """One rollout per puzzle from the noise [puzzles, cells, channels]."""
    c = weights["embedding.weight"][puzzle]
    x = normalise(torch.where((puzzle > 0)[..., None], c, noise), n)
    energies: list[Tensor] = []
    for layer in range(layers):
        energies = []
        for _ in range(steps):
            x, energy = step(weights, f"layers.{layer}", n, heads, x, c)
            energies.append(energy)
        c = readout(weights, f"layers.{layer}", n, x)
    return Record(conv(weights, "out.1", c.relu()), x, torch.stack(energies))
