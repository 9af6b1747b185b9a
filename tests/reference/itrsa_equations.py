"""ItrSA++ a second time: Section 4 of the paper, equation by equation and cell by cell, with no thought for speed.

One puzzle, one candidate; a state is a list of vectors, one per cell.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

Cells = list[Tensor]


def rotation(columns: int, pairs: int, cell: int, pair: int) -> list[list[float]]:
    """GTA's first matrix for queries, keys and values: even pairs turn by the row, odd ones by the column."""
    coordinate = divmod(cell, columns)[pair % 2]
    angle = coordinate * 10000 ** (-(pair // 2) / math.ceil(pairs / 2))
    return [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]


@dataclass
class Equations:
    """The equations for some weights, by the names of `ItrSA`.

    Attributes:
        weights: the parameters, and GTA's matrices where they are fixed.
        heads: attention heads.
        self_attentions: S.
        eps: of RMSNorm.
        residual: whether the linear mix of the ablation is added to the state.
        activation: of the network that takes SwiGLU's place in the ablation.
    """

    weights: Mapping[str, Tensor]
    heads: int
    self_attentions: int
    eps: float
    residual: bool
    activation: str

    def norm(self, name: str, x: Tensor) -> Tensor:
        """RMSNorm: x / sqrt(mean(x^2) + eps), times the gain where there is one."""
        scaled = x / torch.sqrt((x * x).sum() / len(x) + self.eps)
        gain = self.weights.get(f"norm_{name}.weight")
        return scaled if gain is None else gain * scaled

    def turn(self, name: str, which: str, cell: int, x: Tensor) -> Tensor:
        """GTA: the 2x2 matrices of a cell on the pairs of consecutive channels of a head."""
        matrices = self.weights[f"{name}.geometry.{which}"][cell]
        return torch.cat([matrix @ x[2 * i : 2 * i + 2] for i, matrix in enumerate(matrices)])

    def attention(self, name: str, queries: Cells, sources: Cells) -> Cells:
        """softmax(<M q_i, M k_j> / sqrt(d)) M v_j per head, M once more, and the output's map."""
        channels = len(queries[0])
        d = channels // self.heads
        outputs: list[list[Tensor]] = [[] for _ in queries]
        for head in range(self.heads):
            rows = slice(head * d, (head + 1) * d)
            w = {part: self.weights[f"{name}.{part}.weight"][rows] for part in ("query", "key", "value")}
            keys = [self.turn(name, "key", j, w["key"] @ x) for j, x in enumerate(sources)]
            values = [self.turn(name, "value", j, w["value"] @ x) for j, x in enumerate(sources)]
            for i, query in enumerate(queries):
                q = self.turn(name, "query", i, w["query"] @ query)
                weights = torch.softmax(torch.stack([q @ k / d**0.5 for k in keys]), dim=0)
                mixed = sum(weight * v for weight, v in zip(weights, values, strict=True))
                outputs[i].append(self.turn(name, "out", i, mixed))
        return [self.weights[f"{name}.out.weight"] @ torch.cat(heads) for heads in outputs]

    def mix(self, z: Cells, x: Cells) -> Cells:
        """Equation `cross`, or the linear mix of the ablation."""
        if "input_mixing.map.weight" in self.weights:
            mixed = [self.weights["input_mixing.map.weight"] @ torch.cat([b, a]) for a, b in zip(z, x, strict=True)]
            return [a + m for a, m in zip(z, mixed, strict=True)] if self.residual else mixed
        return [a + b for a, b in zip(z, self.attention("input_mixing.attention", z, x), strict=True)]

    def network(self, z: Tensor) -> Tensor:
        """SwiGLU of Equation `mlp`, or the plain network of the ablation."""
        up, down = (self.weights[f"feed_forward.{part}.weight"] for part in ("up", "down"))
        if "feed_forward.gate.weight" in self.weights:
            gate = self.weights["feed_forward.gate.weight"] @ z
            return down @ (gate * torch.sigmoid(gate) * (up @ z))
        activation = {"relu": torch.relu, "gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu}
        return down @ activation[self.activation](up @ z)

    def block(self, z: Cells, x: Cells) -> Cells:
        """z_t to z_{t+1}: Equations `cross`, `self`, `mlp`."""
        z = self.mix([self.norm("attn", a) for a in z], x)
        for _ in range(self.self_attentions):
            z = [self.norm("attn", a) for a in z]
            z = [a + b for a, b in zip(z, self.attention("self_attention", z, z), strict=True)]
        z = [self.norm("mlp", a) for a in z]
        return [a + self.network(a) for a in z]

    def rollout(self, question: list[int], noise: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """State and logits [cells, ...] after `steps` blocks from the noise [cells, channels]."""
        x = [self.norm("attn", self.weights["embedding"][token]) for token in question]
        z = list(noise)
        for _ in range(steps):
            z = self.block(z, x)
        logits = [self.weights["classifier.weight"] @ self.norm("out", a) for a in z]
        return torch.stack(z), torch.stack(logits)
