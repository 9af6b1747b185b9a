"""Parameters of the figures."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from cvoting.params.core import ParameterError, key


@dataclass(frozen=True, kw_only=True)
class BanksFigure:
    """A figure with one panel per bank."""

    #: Which tables of each bank it is drawn from: "voting", "steps" (votes at the steps that the bank lists), ...
    tables: ClassVar[tuple[str, ...]] = ("voting",)
    banks: tuple[str, ...] = key("one panel per bank, left to right")
    votes: tuple[str, ...] = key("selection rules that are shown")

    @property
    def panels(self) -> tuple[tuple[str, ...], ...]:
        """The banks of each panel."""
        return tuple((bank,) for bank in self.banks)


@dataclass(frozen=True, kw_only=True)
class StepsFigure(BanksFigure):
    """A figure of accuracy against steps."""

    tables: ClassVar[tuple[str, ...]] = ("steps",)


@dataclass(frozen=True, kw_only=True)
class ScalingFigure(BanksFigure):
    """A figure of accuracy against cost."""

    tables: ClassVar[tuple[str, ...]] = ("scaling",)


@dataclass(frozen=True, kw_only=True)
class DifficultyFigure(BanksFigure):
    """A figure of accuracy against the difficulty of puzzles."""

    tables: ClassVar[tuple[str, ...]] = ("strata",)


@dataclass(frozen=True, kw_only=True)
class SeedsFigure(BanksFigure):
    """A figure of the spread over inference seeds."""


@dataclass(frozen=True, kw_only=True)
class RulesFigure(BanksFigure):
    """A figure of how much of the gap between random choice and the oracle selection rules close."""


@dataclass(frozen=True, kw_only=True)
class PanelsFigure:
    """A figure whose panels show several banks, which are told apart by their models."""

    tables: ClassVar[tuple[str, ...]] = ("voting",)
    panels: tuple[tuple[str, ...], ...] = key("the banks of each panel, left to right")
    votes: tuple[str, ...] = key("selection rules that are shown")

    def __post_init__(self) -> None:
        if not self.panels or not all(self.panels):
            panels = [list(panel) for panel in self.panels]
            raise ParameterError([f"panels = {panels}: expected at least one panel, and at least one bank in each"])

    @property
    def banks(self) -> tuple[str, ...]:
        """Every bank once."""
        return tuple(dict.fromkeys(bank for panel in self.panels for bank in panel))


@dataclass(frozen=True, kw_only=True)
class SummaryFigure(PanelsFigure):
    """A figure of accuracies without a vote and with votes of as many candidates as a bank has."""


@dataclass(frozen=True, kw_only=True)
class ConfidenceFigure:
    """A figure of the candidates' confidence, drawn from other tables than those of votes."""

    banks: tuple[str, ...] = key("banks that are shown, in this order")
    #: It shows no other vote than C-voting.
    votes: ClassVar[tuple[str, ...]] = ()
    tables: ClassVar[tuple[str, ...]]

    @property
    def panels(self) -> tuple[tuple[str, ...], ...]:
        """The banks of each panel."""
        return tuple((bank,) for bank in self.banks)


@dataclass(frozen=True, kw_only=True)
class CalibrationFigure(ConfidenceFigure):
    """A figure of calibration against temperature."""

    tables: ClassVar[tuple[str, ...]] = ("calibration", "reliability")
    temperatures: tuple[float, ...] = key("temperatures whose reliability is drawn, of those of `calibration`", above=0)


@dataclass(frozen=True, kw_only=True)
class BoardCalibrationFigure(ConfidenceFigure):
    """A figure of what confidence says of whole boards."""

    tables: ClassVar[tuple[str, ...]] = ("calibration", "reliability", "risk")


@dataclass(frozen=True, kw_only=True)
class TrajectoriesFigure(ConfidenceFigure):
    """A figure of the confidence of single candidates."""

    tables: ClassVar[tuple[str, ...]] = ("trajectories",)


@dataclass(frozen=True, kw_only=True)
class SolvedBoardFigure(ConfidenceFigure):
    """A figure of one board and the confidence of its candidates."""

    tables: ClassVar[tuple[str, ...]] = ("solved_board",)
    steps: tuple[int, ...] = key("steps that have a frame, of `read_at` and the last; []: all", default=(), minimum=1)


@dataclass(frozen=True, kw_only=True)
class DiscriminationFigure(ConfidenceFigure):
    """A figure of how well confidence tells right candidates from wrong ones."""

    tables: ClassVar[tuple[str, ...]] = ("discrimination",)


@dataclass(frozen=True, kw_only=True)
class AdaptiveFigure(ConfidenceFigure):
    """A figure of votes that draw candidates until one is confident enough, or enough agree."""

    tables: ClassVar[tuple[str, ...]] = ("adaptive",)


FigureParams = BanksFigure | PanelsFigure | ConfidenceFigure


@dataclass(frozen=True, kw_only=True)
class FiguresParams:
    """The figures of the study; an absent figure is not drawn."""

    fig1_overview: SummaryFigure | None = key("Figure 1: how C-voting works, and what it achieves", default=None)
    fig2_akorn_voting: BanksFigure | None = key("Figure 2: C-voting and E-voting in AKOrN", default=None)
    fig3_itrsa_voting: PanelsFigure | None = key("Figure 3: C-voting in ItrSA++ beside other models", default=None)
    fig4_hrm_voting: PanelsFigure | None = key("Figure 4: C-voting in HRM", default=None)
    fig5_calibration: CalibrationFigure | None = key(
        "Figure 5: reliability at several temperatures, and ECE against cell accuracy", default=None
    )
    fig6_confidence_histograms: TrajectoriesFigure | None = key(
        "Figure 6: confidence of right and of wrong candidates", default=None
    )
    fig7_confidence_steps: TrajectoriesFigure | None = key("Figure 7: confidence against steps", default=None)
    fig8_itrsa_test_time_scaling: StepsFigure | None = key("Figure 8: ItrSA++ against T_eval", default=None)
    fig9_transformer_voting: BanksFigure | None = key("Figure 9: C-voting in the Transformer", default=None)
    fig10_voting_metrics: BanksFigure | None = key("Figure 10: top-1, NE and LP as the score of the vote", default=None)
    fig11_seed_dependency: SeedsFigure | None = key("Figure 11: spread over inference seeds", default=None)
    extra_board_calibration: BoardCalibrationFigure | None = key(
        "beyond the paper: reliability of whole boards, and risk against coverage", default=None
    )
    extra_confidence_discrimination: DiscriminationFigure | None = key(
        "beyond the paper: why voting helps or not", default=None
    )
    extra_adaptive_voting: AdaptiveFigure | None = key(
        "beyond the paper: accuracy against the mean number of candidates, where it varies from puzzle to puzzle",
        default=None,
    )
    extra_selection_rules: RulesFigure | None = key(
        "beyond the paper: the share of the gap between random choice and the oracle that each rule closes",
        default=None,
    )
    extra_compute_scaling: ScalingFigure | None = key(
        "beyond the paper: accuracy against floating point operations, of candidates and of steps", default=None
    )
    extra_solved_board: SolvedBoardFigure | None = key(
        "beyond the paper: one board solved by C-voting, step by step", default=None
    )
    extra_difficulty: DifficultyFigure | None = key(
        "beyond the paper: accuracy against the difficulty of the puzzles", default=None
    )

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.__dataclass_fields__ if getattr(self, name) is not None)

    def items(self) -> Iterator[tuple[str, FigureParams]]:
        """Name and parameters of each figure that is drawn."""
        return ((name, getattr(self, name)) for name in self)
