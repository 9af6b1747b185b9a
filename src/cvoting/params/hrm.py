"""Parameters of the Hierarchical Reasoning Model (HRM): Table 2 of the paper; the released code where it is silent."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from cvoting.params.core import ParameterError, key
from cvoting.params.network import NetworkParams


def hidden_channels(channels: int, expansion: float) -> int:
    """Hidden channels of SwiGLU: 2/3 x expansion x C, rounded up to a multiple of 256 (released code)."""
    return -(-round(expansion * channels * 2 / 3) // 256) * 256


@dataclass(frozen=True, kw_only=True)
class HrmParams(NetworkParams):
    """A slow module H and a fast module L; a recurrent step is a segment of cycles of both."""

    extra_scores: ClassVar[tuple[str, ...]] = ("halting_logit", "confidence_stablemax")
    padding: ClassVar[bool] = True
    objective: ClassVar[str] = "segments"
    architecture: Literal["hrm"] = key("the architecture")
    channels: int = key("C, embedding dimension (Table 2: 512)", minimum=1)
    heads: int = key("attention heads (Table 2: 8)", minimum=1)
    expansion: float = key(
        "SwiGLU has 2/3 x expansion x C hidden channels, rounded up to a multiple of 256 (released code: 4)", above=0
    )
    H_cycles: int = key("updates of H in a segment (released code: 2)", minimum=1)
    L_cycles: int = key("updates of L for each of H (released code: 2)", minimum=1)
    H_layers: int = key("Transformer blocks of H (Table 2: 4)", minimum=1)
    L_layers: int = key("Transformer blocks of L (Table 2: 4)", minimum=1)
    positions: Literal["rope", "learned"] = key(
        "how cells know their place: rotary embeddings of the index (released code), or a learned vector each"
    )
    prefix: bool = key(
        "whether the puzzle embedding, one learned vector for all puzzles of a set, is a token in front of the cells "
        "(released code: true)"
    )
    initial_state: Literal["fixed", "per_row", "per_token"] = key(
        "where rollouts start: from one fixed vector for H and one for L (released code), or from N(0, 1): one vector "
        "of each per candidate, or one per token (the paper: different for each input, no more is stated)"
    )
    norm_eps: float = key("added to the mean square in RMSNorm (released code: 1e-5)", above=0, default=1e-5)
    probabilities: Literal["softmax", "stablemax"] = key(
        "what makes probabilities of logits in the training loss (released code: stablemax); candidates are scored by "
        "both: confidence is the softmax's (Section 4), confidence_stablemax the other",
        default="stablemax",
    )

    def __post_init__(self) -> None:
        divisor = self.heads if self.positions == "learned" else 2 * self.heads
        if self.channels % divisor:
            expected = "a whole number" if self.positions == "learned" else "an even number"
            found = f"{self.channels} / {self.heads}"
            raise ParameterError([f"heads = {self.heads}: expected channels / heads to be {expected}, got {found}"])

    @property
    def hidden(self) -> int:
        """Hidden channels of SwiGLU."""
        return hidden_channels(self.channels, self.expansion)

    @property
    def fixed_start(self) -> bool:
        """Whether every rollout starts from one and the same state."""
        return self.initial_state == "fixed"
