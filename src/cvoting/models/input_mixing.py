"""How a latent state takes in the embedded input.

What depends on the input alone, the memory, is computed once per puzzle.  Activations are [cells, rows, channels], see
`layers`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import nn

from cvoting.models.attention import Attention
from cvoting.models.kernels import Rows
from cvoting.models.layers import LinearMap
from cvoting.params.itrsa import CrossAttentionParams, ItrsaParams
from cvoting.precision import widened


class InputMixing(nn.Module, ABC):
    """z and x, both normalised, to what enters the self-attentions."""

    @abstractmethod
    def initialise(self, rng: torch.Generator) -> None:
        """Draw all weights afresh."""

    @abstractmethod
    def memory(self, x: Rows) -> tuple[Rows, ...]:
        """Everything that depends on the input alone; a row is a puzzle."""

    @abstractmethod
    def mixer(self, *memory: Rows) -> Callable[[Rows], Rows]:
        """The map of z for given memories, a row being a candidate."""


class CrossAttention(InputMixing):
    """z + CrossAttn(q = z, k = x, v = x).

    Source: Equation `cross` of the paper.

    Args:
        params: sizes and switches.
        grid: rows and columns of the board.
    """

    def __init__(self, params: ItrsaParams, grid: tuple[int, int]):
        super().__init__()
        self.attention = Attention(params.channels, params.heads, grid, params.gta == "learnable")

    def initialise(self, rng: torch.Generator) -> None:
        """See `Attention`."""
        self.attention.initialise(rng)

    def memory(self, x: Rows) -> tuple[Rows, ...]:
        """Keys and values."""
        return self.attention.keys_values(x, self.attention.tables())

    def mixer(self, *memory: Rows) -> Callable[[Rows], Rows]:
        """Attention to the keys and values of the memory."""
        keys, values = memory
        geometry = self.attention.tables()
        return lambda z: z + self.attention(z, keys, values, geometry)


class LinearMixing(InputMixing):
    """W [x; z], or z + W [x; z]; no cell sees another.

    Source: the ablation `Cross attn. to linear` (Table 4); the paper states neither the map nor whether it is added.

    Args:
        channels: C.
        residual: whether the state is added.
    """

    def __init__(self, channels: int, residual: bool):
        super().__init__()
        self.residual = residual
        self.map = LinearMap(channels, bias=False)

    def initialise(self, rng: torch.Generator) -> None:
        """A default linear map of 2 C inputs."""
        self.map.initialise(rng)

    def memory(self, x: Rows) -> tuple[Rows, ...]:
        """W_x x."""
        return (self.map.of_input(x),)

    def mixer(self, *memory: Rows) -> Callable[[Rows], Rows]:
        """W_z z and the memory, and z itself where it is added."""
        (mapped,) = memory
        return lambda z: widened(self.map.of_state(z)) + (mapped + z if self.residual else mapped)


def input_mixing(params: ItrsaParams, grid: tuple[int, int]) -> InputMixing:
    """The kind of mixing that the parameters name."""
    if isinstance(params.input_mixing, CrossAttentionParams):
        return CrossAttention(params, grid)
    return LinearMixing(params.channels, params.input_mixing.residual)
