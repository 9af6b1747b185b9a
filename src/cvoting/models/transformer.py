"""The Transformer baseline: as released with AKOrN, but for the random state that is mixed into its input."""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from cvoting.models.base import RecurrentModel, State
from cvoting.models.feed_forward import FeedForward
from cvoting.models.kernels import LOG2_E, Rows, attend
from cvoting.models.layers import Linear, LinearMap, to_candidates, to_rows
from cvoting.params.core import ParameterError
from cvoting.params.transformer import TransformerParams
from cvoting.precision import widened


def sinusoid(grid: tuple[int, int], channels: int) -> Float[Tensor, "cells channels"]:
    """Sines and cosines of the row in the first half of the channels, of the column in the second.

    Frequencies 10000^(-i/F), i = 0..F-1, F = channels / 4: a half is F sines, then F cosines.
    """
    frequencies = 10000.0 ** (-torch.arange(channels // 4) / (channels // 4))
    coordinates = torch.cartesian_prod(*(torch.arange(float(size)) for size in grid))
    angles = coordinates[..., None] * frequencies  # [cells, 2, F]
    return torch.cat([angles.sin(), angles.cos()], dim=-1).flatten(1)


class Block(nn.Module):
    """x <- x + Attn(LayerNorm(x)); x <- x + MLP(LayerNorm(x)), linear maps with biases, GELU in the MLP.

    Args:
        channels: C.
        heads: divides C.
        hidden: hidden channels of the MLP.
    """

    def __init__(self, channels: int, heads: int, hidden: int):
        super().__init__()
        self.heads = heads
        self.norm_attn, self.norm_mlp = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.query, self.value, self.out = (Linear(channels, channels) for _ in range(3))
        # A bias of the keys would add the same number to all scores of a query: it would change nothing.
        self.key = Linear(channels, channels, bias=False)
        self.mlp = FeedForward(channels, hidden, "gelu", bias=True)

    def initialise(self, rng: torch.Generator) -> None:
        """Default linear maps; norms without effect."""
        for norm in (self.norm_attn, self.norm_mlp):
            norm.reset_parameters()
        for module in (self.query, self.key, self.value, self.out, self.mlp):
            module.initialise(rng)

    def forward(self, x: Rows) -> Rows:
        """The next activations."""
        y = self.norm_attn(x)
        queries = self.query(y) * (LOG2_E * (x.shape[-1] // self.heads) ** -0.5)
        x = x + self.out(attend(queries, self.key(y), self.value(y), self.heads))
        return x + self.mlp(self.norm_mlp(x))


class Transformer(RecurrentModel[Float[Tensor, "puzzles 1 cells channels"]]):
    """One pass through pre-norm blocks from W [x; z_0] + b, x being the embedded input and z_0 noise; T = 1.

    x = Embedding(question) + positions; the state after the pass is read out by a LayerNorm and a linear map.
    Source: released AKOrN code; for the mix, the appendix `Transformer with C-voting`, which says that it is linear and
    no more.

    Args:
        params: sizes.
        grid: rows and columns of the board.
        vocabulary: tokens of a question.
        classes: classes of a cell's answer.
    """

    Params = TransformerParams
    step_modules = (Block,)
    evaluation_factor = 1

    def __init__(self, params: TransformerParams, grid: tuple[int, int], vocabulary: int, classes: int):
        super().__init__()
        self.params, self.grid = params, grid
        cells, channels = grid[0] * grid[1], params.channels
        self.noise_shape = (cells, channels)
        self.embedding = nn.Parameter(torch.empty(vocabulary, channels))
        self.positions = nn.Parameter(torch.empty(cells, channels))
        self.mixing = LinearMap(channels, bias=True)
        self.blocks = nn.Sequential(*(Block(channels, params.heads, params.hidden) for _ in range(params.blocks)))
        self.norm_out = nn.LayerNorm(channels)
        self.classifier = Linear(channels, classes)

    def initialise(self, rng: torch.Generator) -> None:
        """Embedding from N(0, 1), positions from sinusoids, default linear maps, norms without effect."""
        with torch.no_grad():
            self.embedding.copy_(torch.empty(self.embedding.shape, device=rng.device).normal_(generator=rng))
            self.positions.copy_(sinusoid(self.grid, self.params.channels))
        self.norm_out.reset_parameters()
        for module in (self.mixing, *self.blocks, self.classifier):
            module.initialise(rng)

    def embed(self, questions: Int[Tensor, "puzzles cells"]) -> Float[Tensor, "puzzles 1 cells channels"]:
        """The input's part of the mix."""
        x = nn.functional.embedding(questions.long().t(), self.embedding) + self.positions.unsqueeze(1)
        return to_candidates(self.mixing.of_input(x), len(questions))

    def initial_state(
        self,
        condition: Float[Tensor, "puzzles 1 cells channels"],
        noise: Float[Tensor, "puzzles candidates cells channels"],
    ) -> State:
        """The noise, at every cell."""
        return State(noise)

    def trajectory(
        self, condition: Float[Tensor, "puzzles 1 cells channels"], state: State, steps: int
    ) -> Iterator[State]:
        """The one state after all blocks.

        Raises:
            ParameterError: for more steps than one.
        """
        if problems := self.params.step_problems(steps):
            raise ParameterError(problems)
        mapped = to_rows(condition.expand(-1, state.latent.shape[1], -1, -1))
        x = self.blocks(widened(self.mixing.of_state(to_rows(state.latent)) + mapped))
        yield State(to_candidates(x, len(state.latent)))

    def readout(self, state: State) -> Float[Tensor, "puzzles candidates cells classes"]:
        """Logits: a norm and a linear map."""
        return to_candidates(self.classifier(self.norm_out(to_rows(state.latent))), len(state.latent))
