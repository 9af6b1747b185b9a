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
from cvoting.models.kuramoto import KuramotoLayer, Oscillators
from cvoting.models.layers import GeometricAttention, Linear, to_candidates, to_rows
from cvoting.params.akorn import AkornParams
from cvoting.tasks.base import Task


class Clues(NamedTuple):
    """What a rollout is told of its puzzle, and which cells start at that."""

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
        vocabulary: tokens of a question.
        classes: classes of a cell's answer.
        blank: the token of a cell that the question leaves open; 0 in Sudoku.
    """

    Params = AkornParams
    step_modules = (GeometricAttention, Oscillators)

    def __init__(self, params: AkornParams, grid: tuple[int, int], vocabulary: int, classes: int, blank: int = 0):
        super().__init__()
        self.params, self.blank = params, blank
        self.noise_shape = (grid[0] * grid[1], params.channels)
        self.embedding = nn.Parameter(torch.empty(vocabulary, params.channels))
        self.step_size = nn.Parameter(torch.empty(1))
        layers = nn.ModuleList(KuramotoLayer(params, grid) for _ in range(params.layers))
        self.layers = cast(Sequence[KuramotoLayer], layers)
        self.classifier = Linear(params.channels, classes)

    @classmethod
    def for_task(cls, params: AkornParams, task: Task) -> "AKOrN":
        """The model of a task, which also needs to know the task's blank."""
        return cls(params, task.grid, task.vocabulary, task.classes, task.blank)

    def initialise(self, rng: torch.Generator) -> None:
        """As released: embedding from N(0, 1), gamma, then the layers."""
        with torch.no_grad():
            self.embedding.copy_(torch.empty(self.embedding.shape, device=rng.device).normal_(generator=rng))
        nn.init.constant_(self.step_size, self.params.step_size)
        for layer in self.layers:
            layer.initialise(rng)
        self.classifier.initialise(rng)

    def embed(self, questions: Int[Tensor, "puzzles cells"]) -> Clues:
        """The embedding of every cell, not normalised, and whether the cell is given and starts at it."""
        tokens = questions.long().unsqueeze(1)
        given = (
            tokens != self.blank if self.params.random_cells == "free" else torch.zeros_like(tokens, dtype=torch.bool)
        )
        return Clues(nn.functional.embedding(tokens, self.embedding), given)

    def initial_state(self, condition: Clues, noise: Float[Tensor, "puzzles candidates cells channels"]) -> State:
        """Given cells start at their embedding, the others at the noise; then every oscillator is normalised."""
        start = torch.where(condition.given.unsqueeze(-1), condition.embedding, noise)
        return State(to_candidates(self.layers[0].oscillators.normalise(to_rows(start)), len(noise)))

    def trajectory(self, condition: Clues, state: State, steps: int) -> Iterator[State]:
        """The states of the last layer after step t = 1..steps, each with the energy of the state before it."""
        x, drive = to_rows(state.latent), to_rows(condition.embedding.expand_as(state.latent))
        for layer in self.layers[:-1]:
            silent = layer.steps(x, drive, self.step_size, steps)
            for x, _ in silent:  # noqa: B007 - the last one is read out
                pass
            drive = layer.readout(x)
        puzzles = len(state.latent)
        for after, energy in self.layers[-1].steps(x, drive, self.step_size, steps):
            yield State(to_candidates(after, puzzles), energy.unflatten(0, (puzzles, -1)))

    def readout(self, state: State) -> Float[Tensor, "puzzles candidates cells classes"]:
        """Logits: the last layer's readout, ReLU, linear."""
        features = self.layers[-1].readout(to_rows(state.latent))
        return to_candidates(self.classifier(features.relu()), len(state.latent))

    def undecayed(self) -> list[nn.Parameter]:
        """Frequencies too, which have two axes where every pair has its own."""
        frequencies = [layer.omega for layer in self.layers if layer.omega is not None and layer.omega.ndim == 2]
        return [*super().undecayed(), *frequencies]
