"""AKOrN, artificial Kuramoto oscillatory neurons, as released (Miyato et al., 2025; Table 3 of the paper).

The latent state of a cell is C channels in oscillators of n consecutive channels, each a point on the unit sphere.  A
step turns them towards what attention and the input say, and by their natural frequency:

    y = Attention(x) + c,   x <- normalise(x + gamma (Omega x + y - <x, y> x)),   E(x) = - sum_{cells, channels} x y.

Inside, activations are [cells, rows, channels] with rows = puzzles * candidates (see `layers`), and the latents that go
out are views of them.  Sums over the n channels of an oscillator are products with a small block of ones, a matrix
product being the fastest sum of few neighbours.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor, nn

from cvoting.models.base import RecurrentModel, State
from cvoting.models.layers import GeometricAttention, Linear, Projection, Rows, as_channels, as_pairs, linear
from cvoting.params.akorn import AkornParams

#: The token of a cell that is not given.
BLANK = 0
#: Released name of each parameter of a layer.
RELEASED_LAYER_NAMES = {
    "omega": "0.omg.omg_param",
    **{f"attention.mat_{x}": f"0.connectivity.mat_{x}" for x in "qkvo"},
    "attention.qkv": "0.connectivity.W_qkv",
    "attention.out": "0.connectivity.W_o",
    "readout.bias": "1.0.bias",
    "readout.components": "1.0.invconv",
    "readout.hidden": "1.1.fn.fn.0.fn.2",
    "readout.residual": "1.1.fn.fn.1.fn.2",
    "readout.out": "1.2.fn.2",
}


class Clues(NamedTuple):
    """What a rollout knows of its puzzle."""

    embedding: Float[Tensor, "puzzles 1 cells channels"]
    given: Bool[Tensor, "puzzles 1 cells"]


class Oscillators(nn.Module):
    """Channels in groups of n consecutive ones.

    Args:
        channels: C.
        size: n, divides C.
    """

    ones: Float[Tensor, "block block"]

    def __init__(self, channels: int, size: int):
        super().__init__()
        # Sixteen channels fill a vector register; more would only multiply more zeros.
        block = max((b for b in range(size, 17, size) if channels % b == 0), default=size)
        same = torch.arange(block) // size
        self.register_buffer("ones", (same[:, None] == same).float(), persistent=False)

    def sums(self, x: Rows) -> Rows:
        """At every channel the sum over its oscillator."""
        return linear(x.unflatten(-1, (-1, self.ones.shape[0])).flatten(1, 2), self.ones).view(x.shape)

    def normalise(self, x: Rows) -> Rows:
        """Every oscillator on the unit sphere; one that is zero stays zero."""
        return x * self.sums(x * x).clamp_min(1e-24).rsqrt()


class Readout(nn.Module):
    """From oscillators to features that do not depend on a common rotation, then a residual feed-forward block.

    u_j = |W_j x + b_j| + bias_j with W_j x in R^n; u <- u + residual(relu(hidden(relu(u)))); out(relu(u)).
    Source: released AKOrN.
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
        """Default linear maps, no bias behind the norm."""
        nn.init.zeros_(self.bias)
        for module in (self.components, self.hidden, self.residual, self.out):
            module.initialise(rng)

    def forward(self, x: Rows) -> Rows:
        """Features of every cell."""
        # Component by component instead of n numbers in a row: the sum of squares then runs over long vectors.
        weight = self.components.weight.unflatten(0, (-1, self.size)).transpose(0, 1).flatten(0, 1)
        bias = self.components.bias.unflatten(0, (-1, self.size)).t().flatten()
        components = linear(x, weight, bias).unflatten(-1, (self.size, -1))
        u = components.square().sum(-2).sqrt() + self.bias
        u = u + self.residual(self.hidden(u.relu()).relu())
        return self.out(u.relu())


class KuramotoLayer(nn.Module):
    """One layer: its attention, its natural frequencies and its readout."""

    def __init__(self, params: AkornParams, grid: tuple[int, int]):
        super().__init__()
        self.params = params
        self.oscillators = Oscillators(params.channels, params.oscillator_dim)
        self.attention = GeometricAttention(params.channels, params.heads, grid)
        self.readout = Readout(params.channels, params.oscillator_dim)
        if params.omega != "none":
            shape = (2,) if params.omega == "global" else (params.channels // 2, 2)
            self.omega = nn.Parameter(torch.empty(shape), requires_grad=params.omega_learnable)

    def initialise(self, rng: torch.Generator) -> None:
        """Default weights; all frequencies are `omega_initial`."""
        self.attention.initialise(rng)
        self.readout.initialise(rng)
        if self.params.omega != "none":
            nn.init.constant_(self.omega, self.params.omega_initial / 2**0.5)

    def steps(
        self, x: Rows, drive: Rows, step_size: Float[Tensor, "1"], count: int
    ) -> Iterator[tuple[Rows, Float[Tensor, "rows"]]]:
        """`count` times: the next state, and the energy of the state before it."""
        projections, rotation = self.attention.projections(), self._rotation()
        for _ in range(count):
            x, energy = self._step(x, drive, step_size, projections, rotation)
            yield x, energy

    def _rotation(self) -> Complex[Tensor, "..."] | None:
        """Omega as a factor of pairs: (a, b) -> (w b, -w a) is a + ib -> -iw (a + ib), with w the norm of a 2-vector."""
        if self.params.omega == "none":
            return None
        frequency = torch.linalg.vector_norm(self.omega, dim=-1)
        return torch.complex(torch.zeros_like(frequency), -frequency)

    def _step(
        self,
        x: Rows,
        drive: Rows,
        step_size: Float[Tensor, "1"],
        projections: list[Projection],
        rotation: Complex[Tensor, "..."] | None,
    ) -> tuple[Rows, Float[Tensor, "rows"]]:
        y = self.attention(x, projections) + drive
        overlap = x * y
        motion = torch.addcmul(y, x, self.oscillators.sums(overlap), value=-1)
        if rotation is None:
            # Differs from the equation: without Omega the released code adds x itself, not 0.
            motion = motion + x
        else:
            motion = as_channels(torch.addcmul(as_pairs(motion), as_pairs(x), rotation))
        return self.oscillators.normalise(torch.addcmul(x, motion, step_size)), -overlap.sum((0, 2))


class AKOrN(RecurrentModel[Clues]):
    """AKOrN: L Kuramoto layers, the readout of each being the input of the next.

    Source: released code, Table 3 of the paper.

    Args:
        params: sizes and switches.
        grid: rows and columns of the board.
        vocabulary: tokens of a question; token 0 is the blank.
        classes: classes of a cell's answer.
    """

    Params = AkornParams

    def __init__(self, params: AkornParams, grid: tuple[int, int], vocabulary: int, classes: int):
        super().__init__()
        self.params = params
        self.noise_shape = (grid[0] * grid[1], params.channels)
        self.embedding = nn.Parameter(torch.empty(vocabulary, params.channels))
        self.step_size = nn.Parameter(torch.empty(1))
        self.layers = nn.ModuleList(KuramotoLayer(params, grid) for _ in range(params.layers))
        self.classifier = Linear(params.channels, classes)

    def initialise(self, rng: torch.Generator) -> None:
        """As released: N(0, 1) embedding, gamma, layers."""
        nn.init.normal_(self.embedding, generator=rng)
        nn.init.constant_(self.step_size, self.params.step_size)
        for module in (*self.layers, self.classifier):
            module.initialise(rng)

    def embed(self, questions: Int[Tensor, "puzzles cells"]) -> Clues:
        """The embedded question, not normalised, and which cells are given."""
        tokens = questions.long().unsqueeze(1)
        return Clues(nn.functional.embedding(tokens, self.embedding), tokens != BLANK)

    def initial_state(self, condition: Clues, noise: Float[Tensor, "puzzles candidates cells channels"]) -> State:
        """Given cells start at their embedding, blanks at the noise; then every oscillator is normalised."""
        start = torch.where(condition.given.unsqueeze(-1), condition.embedding, noise)
        return State(_to_candidates(self.layers[0].oscillators.normalise(_to_rows(start)), len(noise)))

    def trajectory(self, condition: Clues, state: State, steps: int) -> Iterator[State]:
        """The states of the last layer with E(x_{t-1}); each layer before it takes `steps` steps first."""
        puzzles = len(state.latent)
        x = _to_rows(state.latent)
        drive = _to_rows(condition.embedding.expand_as(state.latent))
        for layer in self.layers[:-1]:
            for x, _ in layer.steps(x, drive, self.step_size, steps):  # noqa: B007 - the last one is read out
                pass
            drive = layer.readout(x)
        for x, energy in self.layers[-1].steps(x, drive, self.step_size, steps):
            yield State(_to_candidates(x, puzzles), energy.unflatten(0, (puzzles, -1)))

    def readout(self, state: State) -> Float[Tensor, "puzzles candidates cells classes"]:
        """Logits: the last layer's readout, ReLU, linear."""
        logits = self.classifier(self.layers[-1].readout(_to_rows(state.latent)).relu())
        return _to_candidates(logits, len(state.latent))

    def flops(self, steps: int) -> int:
        """Floating point operations of one candidate's rollout and readout.

        2 per multiply-add of the linear maps and of attention (Q K^T and P V); nothing else is counted.
        """
        cells, channels = self.noise_shape
        step = cells * (2 * 4 * channels**2 + 4 * cells * channels)
        readout = cells * 2 * (self.params.oscillator_dim + 3) * channels**2
        classifier = cells * 2 * channels * self.classifier.out_features
        return self.params.layers * (steps * step + readout) + classifier

    def load_released(self, weights: Mapping[str, Tensor]) -> None:
        """Take the weights of a released state dict: a renaming, and 1x1 convolutions lose their last two axes.

        Args:
            weights: by released name; `x0`, which no released forward pass reads, is ignored.

        Raises:
            ValueError: with the names that are missing or unexpected, or the shapes that differ.
        """
        own = self.state_dict()
        names = {self.released_name(name): name for name in own}
        given = {name: tensor for name, tensor in weights.items() if name != "x0"}
        if given.keys() != names.keys():
            missing, unexpected = sorted(names.keys() - given.keys()), sorted(given.keys() - names.keys())
            raise ValueError(
                f"not the weights of this AKOrN: missing {missing}, unexpected {unexpected}; "
                f"compare layers, omega and heads with the configuration the weights were trained with"
            )
        squeezed = {names[name]: t.squeeze((-1, -2)) if t.shape[-2:] == (1, 1) else t for name, t in given.items()}
        differing = [
            f"{self.released_name(name)} {tuple(t.shape)}, expected {tuple(own[name].shape)}"
            for name, t in squeezed.items()
            if t.shape != own[name].shape
        ]
        if differing:
            raise ValueError(
                f"not the weights of this AKOrN: {'; '.join(differing)}; compare channels, n, heads and grid"
            )
        self.load_state_dict(squeezed)

    @staticmethod
    def released_name(name: str) -> str:
        """The name of a parameter in released state dicts."""
        renamed = {"embedding": "embedding.weight", "step_size": "gamma"}.get(name)
        if renamed:
            return renamed
        if name.startswith("classifier."):
            return name.replace("classifier", "out.1")
        layers, index, rest = name.split(".", 2)
        own = next(own for own in RELEASED_LAYER_NAMES if rest == own or rest.startswith(f"{own}."))
        return f"{layers}.{index}.{RELEASED_LAYER_NAMES[own]}{rest.removeprefix(own)}"


def _to_rows(x: Float[Tensor, "puzzles candidates cells channels"]) -> Rows:
    """One row per candidate, cells first; no copy if it comes from `_to_candidates`."""
    return x.permute(2, 0, 1, 3).flatten(1, 2).contiguous()


def _to_candidates(x: Rows, puzzles: int) -> Float[Tensor, "puzzles candidates cells channels"]:
    """The axes that the rest of the project uses; a view."""
    return x.unflatten(1, (puzzles, -1)).permute(1, 2, 0, 3)
