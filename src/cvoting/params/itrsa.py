"""Parameters of ItrSA++ (Section 5, Table 1 and the ablations of the paper)."""

from dataclasses import dataclass
from typing import Literal

from cvoting.params.core import ParameterError, key
from cvoting.params.network import NetworkParams


@dataclass(frozen=True, kw_only=True)
class CrossAttentionParams:
    """The latent state attends to the embedded input (Equation `cross`)."""

    kind: Literal["cross_attention"] = key("how the latent state takes in the input")


@dataclass(frozen=True, kw_only=True)
class LinearMixingParams:
    """A linear map of the latent state and the embedded input, for the ablation (Table 4)."""

    kind: Literal["linear"] = key("how the latent state takes in the input")
    residual: bool = key("whether the map is added to the normalised state, as attention is (unstated)")


@dataclass(frozen=True, kw_only=True)
class SwiGluParams:
    """SwiGLU (Equation `mlp`)."""

    kind: Literal["swiglu"] = key("the network of each cell at the end of a block")
    hidden: int = key("hidden channels (unstated; 4 C gives about 3 M parameters: 1536)", minimum=1)


@dataclass(frozen=True, kw_only=True)
class FeedForwardParams:
    """Two linear maps with an activation between them, for the ablation (Table 4)."""

    kind: Literal["ffn"] = key("the network of each cell at the end of a block")
    hidden: int = key("hidden channels (unstated; 6 C has as many parameters as SwiGLU with 4 C)", minimum=1)
    activation: Literal["relu", "gelu", "silu"] = key("activation (unstated)")


@dataclass(frozen=True, kw_only=True)
class ItrsaParams(NetworkParams):
    """ItrSA++: iterated self-attention that starts from random states."""

    architecture: Literal["itrsa"] = key("the architecture")
    channels: int = key("C, embedding dimension (Table 1: 384)", minimum=2)
    heads: int = key("attention heads (Table 1: 12)", minimum=1)
    self_attentions: int = key("S, self-attentions per block, one set of weights (Table 1: 4)", minimum=1)
    input_mixing: CrossAttentionParams | LinearMixingParams = key("how the latent state takes in the input")
    feed_forward: SwiGluParams | FeedForwardParams = key("the network of each cell at the end of a block")
    gta: Literal["learnable", "fixed"] = key(
        "geometry-aware attention's 2x2 matrices: trained from rotations, or rotations for good (unstated)"
    )
    norm_affine: bool = key("whether each RMSNorm has a gain per channel (later paper: no)")
    norm_eps: float = key("added to the mean square in RMSNorm (unstated)", above=0)

    def __post_init__(self) -> None:
        if self.channels % (2 * self.heads):
            found = f"{self.channels} / {self.heads}"
            problem = f"heads = {self.heads}: expected channels / heads to be an even number, got {found}"
            raise ParameterError([problem])
