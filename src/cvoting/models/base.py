"""What training and rollouts ask of a model."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from cvoting.params.core import ParameterError
from cvoting.params.network import NetworkParams
from cvoting.tasks.base import Task

Condition = TypeVar("Condition")


class State(NamedTuple):
    """The latent state of some rollouts after a step, and what the step tells about it."""

    latent: Float[Tensor, "puzzles candidates cells channels"]
    #: E_t, recorded with the step that made the state; None for a model without an energy.
    energy: Float[Tensor, "puzzles candidates"] | None = None
    #: Logits to halt and to continue after the step that made the state; None for a model that does not say.
    halting: Float[Tensor, "puzzles candidates 2"] | None = None
    #: What the next step needs besides, or instead; nothing of it is read out.
    hidden: tuple[Float[Tensor, "puzzles candidates ..."], ...] = ()

    def detach(self) -> "State":
        """What the next step goes on from, as a constant."""
        return State(self.latent.detach(), hidden=tuple(part.detach() for part in self.hidden))

    def first(self, candidates: int) -> "State":
        """The state of the first candidates alone."""
        energy, halting = (None if x is None else x[:, :candidates] for x in (self.energy, self.halting))
        return State(self.latent[:, :candidates], energy, halting, tuple(x[:, :candidates] for x in self.hidden))


class RecurrentModel(nn.Module, ABC, Generic[Condition]):
    """A model z_{t+1} = f(z_t, x) that starts from random states (Section 2.1 of the paper).

    Every array of rollouts has the axes [puzzles, candidates, ...].  What depends only on the input has one candidate
    and broadcasts: it is computed once per puzzle.  Randomness enters as the argument `noise`; no method draws any.
    """

    #: The parameter class of the network.
    Params: ClassVar[type]
    #: The network's parameters: what numbers of steps have a meaning, which scores and classes there are.
    params: Any = NetworkParams()
    #: Shape of the standard normal noise that one candidate starts from, e.g. (cells, channels).
    noise_shape: tuple[int, ...]
    #: How rollouts start, recorded in checkpoints: "random" means a different state for every candidate.
    initial_state_kind: str = "random"
    #: T_eval / T_train where nobody says otherwise.
    evaluation_factor: ClassVar[int] = 2
    #: Whether its candidates are also scored by the stablemax of their logits.
    stablemax: ClassVar[bool] = False
    #: The kinds of modules that do the work of a step: what `compile_steps` compiles.
    step_modules: ClassVar[tuple[type[nn.Module], ...]]

    @classmethod
    def for_task(cls, params: Any, task: Task) -> "RecurrentModel":
        """The model of a task, with weights yet to be drawn."""
        return cls(params, task.grid, task.vocabulary, task.classes)

    @classmethod
    def first_token(cls, task: Task) -> int:
        """The token of class 0: class = token - first_token.  Here a model has the classes of answers and no other."""
        return task.first_answer_token

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

    def forward(
        self, questions: Int[Tensor, "puzzles cells"], noise: Any, steps: int, detach_step: int | None = None
    ) -> Float[Tensor, "..."]:
        """Logits after `steps` steps: what a training step differentiates.

        With gradient truncation z_t at t = detach_step is a constant: no gradient flows through the steps before, and
        nothing of them is kept.  The input is embedded once, for all steps; its gradient is that of the steps after.
        Source: the paper's experimental details.

        Args:
            questions: tokens.
            noise: what `initial_state` takes.
            steps: T.
            detach_step: from 1 to steps - 1; None for no truncation.

        Raises:
            ParameterError: for steps that the model cannot make, or cannot be cut at.
        """
        if problems := self.params.step_problems(steps, detach_step):
            raise ParameterError(problems)
        condition = self.embed(questions)
        state = self.initial_state(condition, noise)
        if detach_step is not None:
            with torch.no_grad():
                state = _last(self.trajectory(condition, state, detach_step))
        return self.readout(_last(self.trajectory(condition, state, steps - (detach_step or 0))))

    def start_at_random(self) -> None:
        """From now on candidates start at their noise, though the model was trained from one fixed state.

        A model of fixed starts takes its noise as the initial state itself from then on; others do so anyway.

        Raises:
            ParameterError: for a model of fixed starts that cannot.
        """
        if self.initial_state_kind != "random":
            raise ParameterError([f"{type(self).__name__} always starts at its fixed state: expected candidates = 1"])

    def compile_steps(self) -> None:
        """Have `torch.compile` write the kernels of a step, at first use; the same numbers but for rounding."""
        for part in self.modules():
            if isinstance(part, self.step_modules):
                part.compile()

    def undecayed(self) -> list[nn.Parameter]:
        """Parameters that weight decay would spoil: all but the matrices of linear maps and embeddings.

        Those are the ones of two axes; norms and biases have one, the 2x2 matrices of GTA four.
        """
        return [p for p in self.parameters() if p.ndim != 2]


def _last(states: Iterator[State]) -> State:
    """The last of some states; the others are not kept."""
    (state,) = deque(states, maxlen=1)
    return state
