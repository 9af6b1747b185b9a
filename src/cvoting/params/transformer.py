"""Parameters of the Transformer baseline (released AKOrN code; Section `Transformer with C-voting` of the appendix)."""

from dataclasses import dataclass
from typing import Literal

from cvoting.params.core import ParameterError, key
from cvoting.params.network import NetworkParams


@dataclass(frozen=True, kw_only=True)
class TransformerParams(NetworkParams):
    """A Transformer whose input is mixed with a random state."""

    architecture: Literal["transformer"] = key("the architecture")
    channels: int = key("C, embedding dimension (released AKOrN code: 512)", minimum=4)
    heads: int = key("attention heads (released AKOrN code: 8)", minimum=1)
    blocks: int = key("pre-norm blocks, each with its own weights (released AKOrN code: 8)", minimum=1)
    hidden: int = key("hidden channels of the MLP (released AKOrN code: 1024)", minimum=1)

    def __post_init__(self) -> None:
        problems = []
        if self.channels % 4:
            problems.append(f"channels = {self.channels}: expected a multiple of 4, for sines and cosines of two axes")
        if self.channels % self.heads:
            problems.append(f"heads = {self.heads}: expected a divisor of channels = {self.channels}")
        if problems:
            raise ParameterError(problems)

    def step_problems(self, steps: int, detach_step: int | None = None) -> list[str]:
        """What is wrong with a number of recurrent steps: a Transformer has none, so that it must be 1."""
        return [] if steps == 1 else [f"{steps} steps: expected 1, a transformer is no recurrent model"]
