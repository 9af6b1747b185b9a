"""Parameters of adaptive voting."""

from collections.abc import Sequence
from dataclasses import dataclass

from cvoting.params.bootstrap import Bootstrap
from cvoting.params.core import ParameterError, key


@dataclass(frozen=True, kw_only=True)
class AdaptivePlan(Bootstrap):
    """The adaptive table of a bank."""

    study: str = key("name of the study")
    candidates: int = key("M, candidates per puzzle, from the first, that are drawn from in random order", minimum=2)
    K_max: int = key("the most candidates that are drawn", minimum=2)
    targets: tuple[float, ...] = key(
        "mean numbers of candidates that thresholds of confidence are chosen for", minimum=1
    )
    agreements: tuple[int, ...] = key("how often an answer is to be given", minimum=1)
    K: tuple[int, ...] = key("fixed numbers of candidates to compare with", minimum=1)
    subsets: int = key("R, random candidate subsets over which majorities of a fixed number are averaged", minimum=1)

    def __post_init__(self) -> None:
        problems = _beyond("K_max", self.K_max, "candidates", self.candidates)
        for name in ("targets", "agreements", "K"):
            problems += _beyond(name, max(getattr(self, name), default=0), "K_max", self.K_max)
        if problems:
            raise ParameterError(problems)


@dataclass(frozen=True, kw_only=True)
class AdaptiveParams(Bootstrap):
    """Votes that draw candidates until a rule to stop holds."""

    candidates: int = key(
        "M, candidates per puzzle, from the first, that are drawn from in random order; at most those of a bank",
        minimum=2,
    )
    K_max: int = key("the most candidates that are drawn; at most M", minimum=2)
    targets: tuple[float, ...] = key(
        "mean numbers of candidates that thresholds of confidence are chosen for; those beyond K_max are left out",
        minimum=1,
    )
    agreements: tuple[int, ...] = key(
        "how often an answer is to be given; numbers beyond K_max are left out", minimum=1
    )

    def __post_init__(self) -> None:
        if problems := _beyond("K_max", self.K_max, "candidates", self.candidates):
            raise ParameterError(problems)

    def problems(self, K: Sequence[int]) -> list[str]:
        """What does not fit the numbers of candidates of the voting tables.

        Args:
            K: increasing.
        """
        problems = [] if self.targets else ["targets = []: expected at least one"]
        if self.K_max < K[0]:
            problems.append(f"K_max = {self.K_max}: expected at least {K[0]}, the least of voting.K")
        return problems

    def plan(self, study: str, candidates: int, K: tuple[int, ...], subsets: int) -> AdaptivePlan:
        """The table of a bank.

        Args:
            study: its name.
            candidates: of the bank, at least 2.
            K, subsets: of the voting tables; numbers beyond K_max are left out.
        """
        M = min(self.candidates, candidates)
        most = min(self.K_max, M)
        return AdaptivePlan(
            study=study,
            candidates=M,
            K_max=most,
            targets=tuple(target for target in self.targets if target <= most),
            agreements=tuple(m for m in self.agreements if m <= most),
            K=tuple(k for k in K if k <= most),
            subsets=subsets,
            resamples=self.resamples,
            level=self.level,
            seed=self.seed,
        )


def _beyond(name: str, value: int | float, limit: str, most: int) -> list[str]:
    """The problem of a number that is too large."""
    return [f"{name} = {value}: expected at most {limit} = {most}"] if value > most else []
