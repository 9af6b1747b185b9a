"""Parameters of AKOrN (Table 3 of the paper; the released code where the paper is silent)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from cvoting.params.core import ParameterError, key
from cvoting.params.network import NetworkParams


@dataclass(frozen=True, kw_only=True)
class AkornParams(NetworkParams):
    """Artificial Kuramoto oscillatory neurons."""

    extra_scores: ClassVar[tuple[str, ...]] = ("energy_last", "energy_sum")
    architecture: Literal["akorn"] = key("the architecture")
    channels: int = key("C, embedding dimension (Table 3: 512)", minimum=4)
    oscillator_dim: int = key("n, consecutive channels that form one oscillator (Table 3: 4)", minimum=2)
    heads: int = key("attention heads (Table 3: 8)", minimum=1)
    layers: int = key("L, Kuramoto layers (Table 3: 1)", minimum=1)
    step_size: float = key("gamma, initial value of the learnable step size (Table 3: 1.0)", above=0)
    omega: Literal["none", "global", "per_pair"] = key(
        "natural frequencies: none, one for all, or one per channel pair"
    )
    omega_initial: float = key("initial frequency (released README 0.5, earlier 0.1)")
    omega_learnable: bool = key("whether the frequencies are trained (released README: true)")
    random_cells: Literal["free", "all"] = key(
        "cells that start at noise: free, those that the question leaves open (blanks of Sudoku, as released; in mazes "
        "all but walls, S and G, where the released rule makes none random), or all",
        default="free",
    )

    def __post_init__(self) -> None:
        problems = []
        if self.channels % self.oscillator_dim:
            problems.append(f"oscillator_dim = {self.oscillator_dim}: expected a divisor of channels = {self.channels}")
        if self.channels % (2 * self.heads):
            found = f"{self.channels} / {self.heads}"
            problems.append(f"heads = {self.heads}: expected channels / heads to be an even number, got {found}")
        if problems:
            raise ParameterError(problems)

    @property
    def stepwise(self) -> bool:
        """Whether the state after step t ends a rollout of t steps; with L > 1 lower layers make all steps first."""
        return self.layers == 1

    def step_problems(self, steps: int, detach_step: int | None = None) -> list[str]:
        """What is wrong with detaching after a step: with L > 1, a rollout does not go on from a state alone."""
        if detach_step is None or self.stepwise:
            return []
        return [f"detach_step = {detach_step}: expected null, akorn with {self.layers} layers cannot be cut into steps"]
