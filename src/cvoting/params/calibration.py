"""Parameters of what is said of confidence: calibration, discrimination, single candidates at every step."""

from dataclasses import dataclass

from cvoting.params.bootstrap import Bootstrap
from cvoting.params.core import ParameterError, key


@dataclass(frozen=True, kw_only=True)
class CalibrationParams(Bootstrap):
    """How confidence is compared with correctness (Section 6.5)."""

    temperatures: tuple[float, ...] = key(
        "T of softmax(logits / T), 1 among them (Section 6.5: `several`, of which 2 has the least ECE)", above=0
    )
    bins: int = key("bins of reliability diagrams and of the expected calibration error", minimum=1)
    candidates: int = key(
        "K of the table of discrimination: candidates per puzzle that vote, whose distinct answers count, and that are "
        "compared with those of other puzzles; at most those of a bank",
        minimum=2,
    )
    shown_puzzles: int = key("puzzles whose candidates Figures 6 and 7 pool (paper: 32)", minimum=1)
    shown_candidates: int = key("candidates of each (paper: 32); at most those of a bank", minimum=1)

    def __post_init__(self) -> None:
        if 1 not in self.temperatures:
            raise ParameterError([f"temperatures = {list(self.temperatures)}: expected 1 among them, the model's own"])


@dataclass(frozen=True, kw_only=True)
class CalibrationPlan(Bootstrap):
    """The calibration tables of a bank."""

    study: str = key("name of the study")
    temperatures: tuple[float, ...] = key("T of softmax(logits / T)", above=0)
    bins: int = key("bins of reliability diagrams and of the expected calibration error", minimum=1)


@dataclass(frozen=True, kw_only=True)
class DiscriminationPlan(Bootstrap):
    """The table of discrimination of a bank."""

    study: str = key("name of the study")
    K: int = key("candidates per puzzle that vote, whose distinct answers count, and that are compared", minimum=2)


@dataclass(frozen=True, kw_only=True)
class SolvedBoardPlan:
    """The candidates of a board that are listed."""

    study: str = key("name of the study")
    steps: tuple[int, ...] = key("steps at which the bank is read out", minimum=1)
    candidates: int = key("candidates of each puzzle, from the first", minimum=1)


@dataclass(frozen=True, kw_only=True)
class TrajectoriesPlan(SolvedBoardPlan):
    """The trajectories of a bank that are listed."""

    puzzles: int = key("puzzles, of the lowest hashes", minimum=1)
