"""One of the two modules of HRM: post-norm Transformer blocks.  Activations are [tokens, rows, channels]."""

from collections.abc import Sequence
from typing import cast

from torch import nn
from torch.nn import functional

from cvoting.models.feed_forward import SwiGLU
from cvoting.models.kernels import Rows, Table
from cvoting.models.rotary import Projections, RotaryAttention
from cvoting.params.hrm import HrmParams


class Block(nn.Module):
    """x <- Norm(x + Attn(x)); x <- Norm(x + SwiGLU(x)), with RMSNorm without gains.

    Args:
        params: channels, heads, hidden channels and the norm's epsilon.
    """

    def __init__(self, params: HrmParams):
        super().__init__()
        self.eps = params.norm_eps
        self.attention = RotaryAttention(params.channels, params.heads)
        self.feed_forward = SwiGLU(params.channels, params.hidden)

    def forward(self, x: Rows, projections: Projections, turns: Table | None) -> Rows:
        """The next activations."""
        x = self._norm(x + self.attention(x, projections, turns))
        return self._norm(x + self.feed_forward(x))

    def _norm(self, x: Rows) -> Rows:
        return functional.rms_norm(x, x.shape[-1:], eps=self.eps)


class Level(nn.Module):
    """f(z, u): blocks applied to the sum of the module's state z and its input u.

    Args:
        params: what its blocks need.
        layers: number of blocks.
    """

    def __init__(self, params: HrmParams, layers: int):
        super().__init__()
        self.rotary = params.positions == "rope"
        self.blocks = cast(Sequence[Block], nn.ModuleList(Block(params) for _ in range(layers)))

    def projections(self) -> list[Projections]:
        """What every block derives from its weights, once per forward pass."""
        return [block.attention.projections(self.rotary) for block in self.blocks]

    def forward(self, z: Rows, u: Rows, projections: list[Projections], turns: Table | None) -> Rows:
        """The module's next state."""
        x = z + u
        for block, derived in zip(self.blocks, projections, strict=True):
            x = block(x, derived, turns)
        return x
