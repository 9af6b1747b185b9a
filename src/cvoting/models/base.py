"""What training and rollouts ask of a model."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

Condition = TypeVar("Condition")


class State(NamedTuple):
    """The latent state of some rollouts after a step, and what the step tells about it."""

    latent: Float[Tensor, "puzzles candidates cells channels"]
    #: E_t, recorded with the step that made the state; None for a model without an energy.
    energy: Float[Tensor, "puzzles candidates"] | None = None


class RecurrentModel(nn.Module, ABC, Generic[Condition]):
    """A model z_{t+1} = f(z_t, x) that starts from random states (Section 2.1 of the paper).

    Every array of rollouts has the axes [puzzles, candidates, ...].  What depends only on the input has one candidate
    and broadcasts: it is computed once per puzzle.  Randomness enters as the argument `noise`; no method draws any.
    """

    #: The parameter class of the network.
    Params: ClassVar[type]
    #: Shape of the standard normal noise that one candidate starts from, e.g. (cells, channels).
    noise_shape: tuple[int, ...]
    #: How rollouts start, recorded in checkpoints: "random" means a different state for every candidate.
    initial_state_kind: ClassVar[str] = "random"

    @abstractmethod
    def initialise(self, rng: torch.Generator) -> None:
        """Draw all weights afresh."""

    @abstractmethod
    def embed(self, questions: Int[Tensor, "puzzles cells"]) -> Condition:
        """Everything that depends on the input alone."""

    @abstractmethod
    def initial_state(self, condition: Condition, noise: Float[Tensor, "puzzles candidates ..."]) -> State:
        """z_0 of each candidate from its noise."""

    @abstractmethod
    def trajectory(self, condition: Condition, state: State, steps: int) -> Iterator[State]:
        """The states after step 1..steps; each may be read out."""

    @abstractmethod
    def readout(self, state: State) -> Float[Tensor, "puzzles candidates cells classes"]:
        """Logits of each cell's class."""

    def forward(self, questions: Int[Tensor, "puzzles cells"], noise: Any, steps: int) -> Float[Tensor, "..."]:
        """Logits after `steps` steps: what a training step differentiates."""
        condition = self.embed(questions)
        start = self.initial_state(condition, noise)
        for state in self.trajectory(condition, start, steps):  # noqa: B007 - the last one is read out
            pass
        return self.readout(state)
