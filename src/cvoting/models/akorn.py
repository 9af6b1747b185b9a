"""AKOrN, artificial Kuramoto oscillatory neurons (Miyato et al., 2025), as released.

Here rollouts [puzzles, candidates, cells, channels] become rows [cells, puzzles * candidates, channels] and back; the
latents that go out are views of rows, so going on from them costs nothing.  What makes the model fast is told where it
happens: `layers` (the layout), `kernels` (attention), `kuramoto` (the update).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from cvoting.models.base import RecurrentModel, State
from cvoting.models.kernels import Rows
from cvoting.models.kuramoto import KuramotoLayer
from cvoting.models.layers import Linear
from cvoting.params.akorn import AkornParams

#: The token of a cell that is not given.
BLANK = 0


class Clues(NamedTuple):
    """What a rollout is told of its puzzle."""

    embedding: Float[Tensor, "puzzles 1 cells channels"]
    given: Bool[Tensor, "puzzles 1 cells"]


class AKOrN(RecurrentModel[Clues]):
    """L layers of Kuramoto oscillators; the readout of each is the input of the next, the state carries over.

    States, energies and logits are those of the last layer: with L > 1, a trajectory of T steps is T silent steps of
    each layer before it and then T steps of the last one.
    Source: released code; Table 3 of the paper.

    Args:
        params: sizes and switches.
        grid: rows and columns of the board.
        vocabulary: tokens of a question; 0 is the blank.
        classes: classes of a cell's answer.
    """

    Params = AkornParams

    def __init__(self, params: AkornParams, grid: tuple[int, int], vocabulary: int, classes: int):
        super().__init__()
        self.params = params
        self.noise_shape = (grid[0] * grid[1], params.channels)
        self.embedding = nn.Parameter(torch.empty(vocabulary, params.channels))
        self.step_size = nn.Parameter(torch.empty(1))
        layers = nn.ModuleList(KuramotoLayer(params, grid) for _ in range(params.layers))
        self.layers = cast(Sequence[KuramotoLayer], layers)
        self.classifier = Linear(params.channels, classes)

    def initialise(self, rng: torch.Generator) -> None:
        """As released: embedding from N(0, 1), gamma, then the layers."""
        with torch.no_grad():
            self.embedding.copy_(torch.empty(self.embedding.shape, device=rng.device).normal_(generator=rng))
        nn.init.constant_(self.step_size, self.params.step_size)
        for layer in self.layers:
            layer.initialise(rng)
        self.classifier.initialise(rng)

    def embed(self, questions: Int[Tensor, "puzzles cells"]) -> Clues:
        """The embedding of every cell, not normalised, and whether the cell is given."""
        tokens = questions.long().unsqueeze(1)
        return Clues(nn.functional.embedding(tokens, self.embedding), tokens != BLANK)

    def initial_state(self, condition: Clues, noise: Float[Tensor, "puzzles candidates cells channels"]) -> State:
        """Given cells start at their embedding, blanks at the noise; then every oscillator is normalised."""
        start = torch.where(condition.given.unsqueeze(-1), condition.embedding, noise)
        return State(_to_candidates(self.layers[0].oscillators.normalise(_to_rows(start)), len(noise)))

    def trajectory(self, condition: Clues, state: State, steps: int) -> Iterator[State]:
        """The states of the last layer after step t = 1..steps, each with the energy of the state before it."""
        x, drive = _to_rows(state.latent), _to_rows(condition.embedding.expand_as(state.latent))
        for layer in self.layers[:-1]:
            silent = layer.steps(x, drive, self.step_size, steps)
            for x, _ in silent:  # noqa: B007 - the last one is read out
                pass
            drive = layer.readout(x)
        puzzles = len(state.latent)
        for after, energy in self.layers[-1].steps(x, drive, self.step_size, steps):
            yield State(_to_candidates(after, puzzles), energy.unflatten(0, (puzzles, -1)))

    def readout(self, state: State) -> Float[Tensor, "puzzles candidates cells classes"]:
        """Logits: the last layer's readout, ReLU, linear."""
        features = self.layers[-1].readout(_to_rows(state.latent))
        return _to_candidates(self.classifier(features.relu()), len(state.latent))

    def flops(self, steps: int) -> int:
        """Floating point operations of one rollout of `steps` steps and its readout.

        2 per multiply-add of linear maps and of attention (scores, and weights times values); nothing else counts.
        """
        cells, channels = self.noise_shape
        step = cells * (2 * 4 * channels**2 + 2 * 2 * cells * channels)
        readout = cells * 2 * (self.params.oscillator_dim + 3) * channels**2
        classifier = cells * 2 * channels * self.classifier.out_features
        return len(self.layers) * (steps * step + readout) + classifier


def _to_rows(x: Float[Tensor, "puzzles candidates cells channels"]) -> Rows:
    """One row per candidate, cells first; no copy of what comes from `_to_candidates`."""
    return x.permute(2, 0, 1, 3).flatten(1, 2).contiguous()


def _to_candidates(x: Rows, puzzles: int) -> Float[Tensor, "puzzles candidates cells channels"]:
    """The axes that the rest of the project uses; a view."""
    return x.unflatten(1, (puzzles, -1)).permute(1, 2, 0, 3)
