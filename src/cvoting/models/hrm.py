"""The Hierarchical Reasoning Model (HRM; Wang et al., 2025), as released, with the paper's random initial states.

Here rollouts [puzzles, candidates, tokens, channels] become rows [tokens, puzzles * candidates, channels] and back, as
in AKOrN; `layers` tells why.  Tokens are the cells, behind the prefix where there is one.
"""

import math
from collections.abc import Iterator
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from cvoting.models.base import RecurrentModel, State
from cvoting.models.hrm_level import Level
from cvoting.models.kernels import Rows
from cvoting.models.layers import Linear, to_candidates, to_rows
from cvoting.params.hrm import HrmParams
from cvoting.tasks.base import Task

Tokens = Float[Tensor, "puzzles candidates tokens channels"]
#: x, the embedded input.
Embedded = Float[Tensor, "puzzles 1 tokens channels"]
#: Standard deviation of N(0, 1) cut off at -2 and 2.
CUT_NORMAL = math.sqrt(1 - 4 * math.exp(-2) / (math.sqrt(2 * math.pi) * math.erf(math.sqrt(2))))
#: The bias of both halting logits at first.
HALTING_BIAS = -5.0


class HRM(RecurrentModel[Embedded]):
    """Two modules that update each other's input; T counts segments.

        x      = sqrt(C) [prefix, Embedding(question)]                       (with learned positions: see `embed`)
        z_L   <- L(z_L, z_H + x)      L_cycles times,
        z_H   <- H(z_H, z_L)          once; all that H_cycles times
        logits = W_O z_H at the cells;  halting logits (halt, continue) = W_Q z_H + b at the first token

    Only the last update of L and the last one of H carry a gradient (one-step gradient), so a segment starts from
    constants.  Classes are tokens, not only those of answers: what is no answer counts as wrong.  Tokens and classes
    are the task's, and behind them one for padding, which no board of one size needs.
    Differs from released HRM: padding is token 0 there, before the task's.
    Source: released code; Table 2 of the paper.

    Args:
        params: sizes and switches.
        grid: rows and columns of the board.
        vocabulary: tokens of a question.
        classes: classes of a cell's answer.
    """

    Params = HrmParams
    step_modules = (Level,)
    stablemax = True
    evaluation_factor = 1

    def __init__(self, params: HrmParams, grid: tuple[int, int], vocabulary: int, classes: int):
        super().__init__()
        self.params, channels = params, params.channels
        cells, self.skipped = grid[0] * grid[1], int(params.prefix)
        self.tokens = cells + self.skipped
        self._start_at(params.initial_state)
        self.embedding = nn.Parameter(torch.empty(vocabulary, channels))
        self.prefix = nn.Parameter(torch.empty(channels)) if params.prefix else None
        learned = params.positions == "learned"
        self.positions = nn.Parameter(torch.empty(self.tokens, channels)) if learned else None
        # Weights of another kind of start fit too: a checkpoint can be rolled out from another one than its own.
        self.register_buffer("start_H", torch.empty(channels))
        self.register_buffer("start_L", torch.empty(channels))
        self.H, self.L = Level(params, params.H_layers), Level(params, params.L_layers)
        self.classifier = Linear(channels, classes, bias=False)
        self.halting = Linear(channels, 2)

    start_H: Float[Tensor, "channels"]
    start_L: Float[Tensor, "channels"]

    @classmethod
    def for_task(cls, params: HrmParams, task: Task) -> "HRM":
        """The model of a task: a class for every token of questions and answers, and one for padding."""
        tokens = max(task.vocabulary, task.first_answer_token + task.classes) + params.padding
        return cls(params, task.grid, tokens, tokens)

    @classmethod
    def first_token(cls, task: Task) -> int:
        """Classes are tokens."""
        return 0

    def initialise(self, rng: torch.Generator) -> None:
        """As released: normal distributions cut off at two standard deviations; the prefix and W_Q are 0, b is -5.

        Standard deviations: 1 / sqrt(C) for embedding and positions, 1 / sqrt(inputs) for linear maps, 1 for starts.
        """
        for part in self.modules():
            if isinstance(part, nn.Linear):
                _draw(part.weight, part.in_features**-0.5, rng)
        for table in (self.embedding, self.positions):
            if table is not None:
                _draw(table, self.params.channels**-0.5, rng)
        for start in (self.start_H, self.start_L):
            _draw(start, 1.0, rng)
        if self.prefix is not None:
            nn.init.zeros_(self.prefix)
        nn.init.zeros_(self.halting.weight)
        nn.init.constant_(self.halting.bias, HALTING_BIAS)

    def start_at_random(self) -> None:
        """A model of fixed starts has N(0, 1) at every token of both modules from now on; its vectors are not read."""
        if self.initial_state_kind == "fixed":
            self._start_at("per_token")

    def _start_at(self, start: str) -> None:
        """Start as `HrmParams.initial_state` says."""
        channels = self.params.channels
        shapes = {"fixed": (0,), "per_row": (2, 1, channels), "per_token": (2, self.tokens, channels)}
        self.noise_shape = shapes[start]
        self.initial_state_kind = "fixed" if start == "fixed" else "random"

    def embed(self, questions: Int[Tensor, "puzzles cells"]) -> Embedded:
        """x; with learned positions sqrt(C) ([prefix, Embedding(question)] + positions) / sqrt(2)."""
        x = nn.functional.embedding(questions.long(), self.embedding)
        if self.prefix is not None:
            x = torch.cat([self.prefix.expand(len(x), 1, -1), x], dim=1)
        if self.positions is not None:
            x = (x + self.positions) / math.sqrt(2)
        return (math.sqrt(self.params.channels) * x).unsqueeze(1)

    def state(self, z_H: Tokens, z_L: Tokens, halting: Float[Tensor, "puzzles candidates 2"] | None = None) -> State:
        """The state of two modules: its latent is that of H at the cells."""
        return State(z_H[:, :, self.skipped :], halting=halting, hidden=(z_H, z_L))

    def initial_state(self, condition: Embedded, noise: Float[Tensor, "puzzles candidates ..."]) -> State:
        """The fixed vectors, or the noise: of H, then of L."""
        if self.initial_state_kind == "fixed":
            noise = torch.stack([self.start_H, self.start_L]).unsqueeze(1).expand(*noise.shape[:2], -1, -1, -1)
        return self.state(*noise.expand(-1, -1, -1, self.tokens, -1).unbind(2))

    def trajectory(self, condition: Embedded, state: State, steps: int) -> Iterator[State]:
        """The state after each segment, with its halting logits."""
        puzzles, candidates = state.latent.shape[:2]
        x = to_rows(condition.expand(-1, candidates, -1, -1))
        z_H, z_L = map(to_rows, state.hidden)
        turns = self.L.blocks[0].attention.turns(x) if self.L.rotary else None
        H, L = (partial(level, projections=level.projections(), turns=turns) for level in (self.H, self.L))
        for _ in range(steps):
            z_H, z_L = z_H.detach(), z_L.detach()
            with torch.no_grad():
                for update in range(1, self.params.H_cycles * self.params.L_cycles):
                    z_L = L(z_L, z_H + x)
                    if update % self.params.L_cycles == 0:
                        z_H = H(z_H, z_L)
            z_L = L(z_L, z_H + x)
            z_H = H(z_H, z_L)
            yield self.state(to_candidates(z_H, puzzles), to_candidates(z_L, puzzles), self._halting(z_H, puzzles))

    def _halting(self, z_H: Rows, puzzles: int) -> Float[Tensor, "puzzles candidates 2"]:
        return to_candidates(self.halting(z_H[:1]), puzzles).squeeze(2)

    def readout(self, state: State) -> Float[Tensor, "puzzles candidates cells classes"]:
        """Logits: a linear map."""
        return to_candidates(self.classifier(to_rows(state.latent)), len(state.latent))


@torch.no_grad()
def _draw(tensor: Tensor, std: float, rng: torch.Generator) -> None:
    """Numbers of this standard deviation from a normal distribution that is cut off at two of its own."""
    scale = std / CUT_NORMAL
    values = torch.empty(tensor.shape, device=rng.device)
    tensor.copy_(nn.init.trunc_normal_(values, std=scale, a=-2 * scale, b=2 * scale, generator=rng))
