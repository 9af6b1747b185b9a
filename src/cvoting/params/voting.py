"""Parameters of the voting tables."""

from dataclasses import dataclass

from cvoting.params.bootstrap import Bootstrap
from cvoting.params.core import ParameterError, key

#: The rules whose accuracy by difficulty is computed.
BY_DIFFICULTY = ("confidence", "energy_sum", "energy_last", "majority_answer", "random", "oracle")


@dataclass(frozen=True, kw_only=True)
class VotingParams(Bootstrap):
    """Which votes are computed, over which numbers of candidates, with which intervals."""

    K: tuple[int, ...] = key("numbers of candidates, increasing; those that a bank has not are left out", minimum=1)
    votes: tuple[str, ...] = key("selection rules, from voting.VOTES; rules a bank has no scores for are left out")
    subsets: int = key("R, random candidate subsets over which set-valued votes (majority) are averaged", minimum=1)

    def __post_init__(self) -> None:
        problems = []
        if not self.K or list(self.K) != sorted(self.K):
            problems.append(f"K = {list(self.K)}: expected increasing numbers, at least one")
        if not self.votes:
            problems.append("votes = []: expected at least one name")
        if problems:
            raise ParameterError(problems)
