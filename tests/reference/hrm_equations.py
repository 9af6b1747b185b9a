"""HRM a second time: one puzzle, one token, one head after another, in the released names and order.

Nothing here is written for speed, and nothing is shared with the package.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Network:
    """Weights by released name, and the sizes that their shapes do not tell."""

    weights: Mapping[str, Tensor]
    heads: int
    H_cycles: int
    L_cycles: int
    H_layers: int
    L_layers: int
    eps: float
    rope: bool

    def weight(self, name: str) -> Tensor:
        """One of the weights."""
        return self.weights[f"inner.{name}"]

    def norm(self, x: Tensor) -> Tensor:
        """x / sqrt(mean x^2 + eps), of one token."""
        return x / torch.sqrt((x * x).sum() / len(x) + self.eps)

    def turn(self, x: Tensor, position: int) -> Tensor:
        """RoPE of one head of one token: x cos + rotate_half(x) sin, rotate_half(x1, x2) = (-x2, x1)."""
        if not self.rope:
            return x
        half = len(x) // 2
        angles = [position / 10000 ** (2 * j / len(x)) for j in range(half)] * 2
        cos, sin = (x.new_tensor([f(a) for a in angles]) for f in (math.cos, math.sin))
        return x * cos + torch.cat([-x[half:], x[:half]]) * sin

    def attention(self, layer: str, x: list[Tensor]) -> list[Tensor]:
        """Softmax attention of every token to every token, head by head."""
        channels = len(x[0])
        size = channels // self.heads
        qkv = [self.weight(f"{layer}.self_attn.qkv_proj.weight") @ token for token in x]
        mixed: list[list[Tensor]] = [[] for _ in x]
        for head in range(self.heads):
            at = [slice(part * channels + head * size, part * channels + (head + 1) * size) for part in range(3)]
            q, k = ([self.turn(row[at[part]], i) for i, row in enumerate(qkv)] for part in range(2))
            for i in range(len(x)):
                exponentials = [torch.exp(q[i] @ key / math.sqrt(size)) for key in k]
                total = sum(exponentials)
                mixed[i].append(sum(e / total * row[at[2]] for e, row in zip(exponentials, qkv, strict=True)))
        return [self.weight(f"{layer}.self_attn.o_proj.weight") @ torch.cat(parts) for parts in mixed]

    def feed_forward(self, layer: str, x: Tensor) -> Tensor:
        """W_down (SiLU(gate) * up), of one token."""
        both = self.weight(f"{layer}.mlp.gate_up_proj.weight") @ x
        gate, up = both[: len(both) // 2], both[len(both) // 2 :]
        return self.weight(f"{layer}.mlp.down_proj.weight") @ (gate / (1 + torch.exp(-gate)) * up)

    def level(self, name: str, layers: int, state: list[Tensor], given: list[Tensor]) -> list[Tensor]:
        """The next state of a module."""
        x = [s + g for s, g in zip(state, given, strict=True)]
        for i in range(layers):
            layer = f"{name}_level.layers.{i}"
            x = [self.norm(token + out) for token, out in zip(x, self.attention(layer, x), strict=True)]
            x = [self.norm(token + self.feed_forward(layer, token)) for token in x]
        return x

    def input(self, puzzle: list[int]) -> list[Tensor]:
        """The embedded input of a puzzle in released tokens."""
        x = [self.weight("embed_tokens.embedding_weight")[token] for token in puzzle]
        if "inner.puzzle_emb.weights" in self.weights:
            x = [self.weight("puzzle_emb.weights")[0], *x]
        if not self.rope:
            places = self.weight("embed_pos.embedding_weight")
            x = [(token + place) / math.sqrt(2) for token, place in zip(x, places, strict=True)]
        return [math.sqrt(len(token)) * token for token in x]

    def segment(
        self, puzzle: list[int], z_H: list[Tensor], z_L: list[Tensor]
    ) -> tuple[list[Tensor], list[Tensor], Tensor, Tensor]:
        """One segment: the states of both modules, the logits of the cells, and (halt, continue)."""
        x = self.input(puzzle)
        z_H, z_L = ([token.detach() for token in z] for z in (z_H, z_L))
        for h in range(1, self.H_cycles + 1):
            for cycle in range(1, self.L_cycles + 1):
                with torch.set_grad_enabled(h == self.H_cycles and cycle == self.L_cycles):
                    z_L = self.level("L", self.L_layers, z_L, [a + b for a, b in zip(z_H, x, strict=True)])
            with torch.set_grad_enabled(h == self.H_cycles):
                z_H = self.level("H", self.H_layers, z_H, z_L)
        cells = z_H[len(x) - len(puzzle) :]
        logits = torch.stack([self.weight("lm_head.weight") @ token for token in cells])
        return z_H, z_L, logits, self.weight("q_head.weight") @ z_H[0] + self.weight("q_head.bias")


def cross_entropy(logits: Tensor, labels: list[int]) -> Tensor:
    """Mean stablemax cross-entropy of the labelled cells of one row."""
    losses = []
    for row, label in zip(logits, labels, strict=True):
        if label >= 0:
            s = [value + 1 if value >= 0 else 1 / (1 - value) for value in row]
            losses.append(-torch.log(s[label] / sum(s)))
    return sum(losses) / max(len(losses), 1)


def binary_cross_entropy(logit: Tensor, target: float) -> Tensor:
    """-target log p - (1 - target) log (1 - p), p the logistic function of the logit."""
    p = 1 / (1 + torch.exp(-logit))
    return -target * torch.log(p) - (1 - target) * torch.log(1 - p)


@dataclass
class Row:
    """One place in the batch of a training with ACT; it holds nothing before its first segment."""

    network: Network
    maximum: int
    halted: bool = True
    steps: int = 0

    def call(self, offered: tuple[list[int], list[int], list[Tensor], list[Tensor]], minimum: int) -> dict:
        """One segment: what it records, and the losses of the row.

        Args:
            offered: puzzle, labels and initial states of this row in the batch offered.
            minimum: steps before which the row may not halt by itself.
        """
        if self.halted:
            (self.puzzle, self.labels, self.z_H, self.z_L), self.steps = offered, 0
        self.z_H, self.z_L, logits, (halt, continuing) = self.network.segment(self.puzzle, self.z_H, self.z_L)
        self.steps += 1
        last = self.steps == self.maximum
        self.halted = last or (bool(halt > continuing) and self.steps >= minimum)
        *_, following = self.network.segment(self.puzzle, self.z_H, self.z_L)
        following = following.tolist()
        target = 1 / (1 + math.exp(-(following[0] if last else max(following))))
        pairs = zip(logits.argmax(-1).tolist(), self.labels, strict=True)
        right = all(answer == label for answer, label in pairs if label >= 0)
        return {
            "puzzle": torch.tensor(self.puzzle),
            "steps": torch.tensor(self.steps),
            "halted": torch.tensor(self.halted),
            "target": torch.tensor(target, dtype=torch.float64),
            "cells": cross_entropy(logits, self.labels),
            "halt": binary_cross_entropy(halt, float(right)),
            "continuing": binary_cross_entropy(continuing, target),
        }
