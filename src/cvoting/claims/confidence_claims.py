"""Claims about confidence in ItrSA++: calibration, histograms, trajectories (Sections 4 and 6.5)."""

from collections.abc import Callable
from functools import partial

from cvoting.claims.claim import Claim, Part
from cvoting.claims.confidence_numbers import (
    gain_of_softening,
    gap,
    growth,
    largest_change,
    least_temperature,
    range_over_temperatures,
)
from cvoting.claims.estimates import Estimate, minus
from cvoting.claims.evidence import WHERE, Evidence
from cvoting.claims.rules import Above, Grows, Matches, Near
from cvoting.metrics import CELL_ACCURACY

_, EXTREME, MAZE = WHERE
MODEL = "itrsa"
BOTH = (EXTREME, MAZE)


def of_model(number: Callable[..., Estimate], dataset: str, **options: object) -> Callable[[Evidence], Estimate]:
    """A number of ItrSA++ on a dataset."""
    return partial(number, model=MODEL, dataset=dataset, **options)


def spread(evidence: Evidence, dataset: str, which: str) -> Estimate:
    """The standard deviation of confidence within a puzzle, of its wrong or of its right candidates."""
    bank = evidence.bank(MODEL, dataset)
    return evidence.measure("discrimination", bank, metric="board", measure=f"sd_within_{which}")


def cell_accuracy_below_best(evidence: Evidence, dataset: str) -> Estimate:
    """The cell accuracy of the most confident candidate minus that of the best one."""
    return evidence.paired(evidence.bank(MODEL, dataset), "oracle", metric=CELL_ACCURACY)


def cell_accuracy_above_mean(evidence: Evidence, dataset: str) -> Estimate:
    """The cell accuracy of the most confident candidate minus the mean one's."""
    return evidence.paired(evidence.bank(MODEL, dataset), "random", metric=CELL_ACCURACY)


CONFIDENCE_CLAIMS = (
    Claim(
        "c9",
        "the calibration error is least at temperature 2, and accuracy hardly depends on temperature",
        (
            *(
                Part(
                    f"temperature of the least error on {WHERE[dataset]}",
                    of_model(least_temperature, dataset),
                    Matches(0.0),
                    "c9",
                    unit="",
                )
                for dataset in BOTH
            ),
            *(
                Part(
                    f"error at temperature 1 minus that at 2 on {WHERE[dataset]}",
                    of_model(gain_of_softening, dataset),
                    Above(),
                    "c9-shape",
                    headline=f"ECE at temperature 1 minus at 2, ItrSA++, {WHERE[dataset]}",
                )
                for dataset in BOTH
            ),
            *(
                Part(
                    f"largest change of C-voting's cell accuracy on {WHERE[dataset]}",
                    of_model(largest_change, dataset, metric=CELL_ACCURACY),
                    Near(),
                    "c9-shape",
                )
                for dataset in BOTH
            ),
        ),
        "fig5_calibration",
    ),
    Claim(
        "c10",
        "confidence spreads more among wrong candidates than among right ones on Sudoku-extreme",
        (
            Part(
                "standard deviation within a puzzle: of wrong minus of right candidates",
                lambda e: minus(spread(e, EXTREME, "wrong"), spread(e, EXTREME, "right")),
                Above(),
                "c10",
            ),
        ),
        "fig6_confidence_histograms",
    ),
    Claim(
        "c11",
        "confidence spreads little even among wrong candidates on Maze-hard",
        (
            Part(
                "standard deviation within a puzzle of wrong candidates: on Sudoku-extreme minus on Maze-hard",
                lambda e: minus(spread(e, EXTREME, "wrong"), spread(e, MAZE, "wrong")),
                Above(),
                "c11",
            ),
        ),
        "fig6_confidence_histograms",
    ),
    Claim(
        "c12",
        "confidence grows with the steps; it is low for wrong Sudoku boards and not for wrong mazes",
        (
            *(
                Part(
                    f"growth for {'right' if right else 'wrong'} candidates on {WHERE[dataset]}",
                    of_model(growth, dataset, right=right),
                    Grows(),
                    "c12",
                )
                for dataset in BOTH
                for right in (False, True)
            ),
            Part("right minus wrong candidates on Sudoku-extreme", of_model(gap, EXTREME), Above(), "c12"),
            Part(
                "the same minus that on Maze-hard",
                lambda e: minus(gap(e, MODEL, EXTREME), gap(e, MODEL, MAZE)),
                Above(),
                "c12",
            ),
        ),
        "fig7_confidence_steps",
    ),
    Claim(
        "c22",
        "temperature leaves the best digit of every cell, and reorders candidates slightly",
        (
            *(
                Part(
                    f"range of the candidates' cell accuracy over temperatures on {WHERE[dataset]}",
                    of_model(range_over_temperatures, dataset),
                    Near(0.0),
                    "c22",
                )
                for dataset in BOTH
            ),
            *(
                Part(
                    f"largest change of C-voting's accuracy on {WHERE[dataset]}",
                    of_model(largest_change, dataset, metric="board"),
                    Near(),
                    "c22",
                )
                for dataset in BOTH
            ),
        ),
        "fig5_calibration",
    ),
    Claim(
        "c23",
        "the most confident candidate is about the one with the best cell accuracy",
        (
            *(
                Part(
                    f"its cell accuracy above the mean candidate's on {WHERE[dataset]}",
                    partial(cell_accuracy_above_mean, dataset=dataset),
                    Above(),
                    "c23",
                )
                for dataset in BOTH
            ),
            *(
                Part(
                    f"its cell accuracy minus the best candidate's on {WHERE[dataset]}",
                    partial(cell_accuracy_below_best, dataset=dataset),
                    Near(),
                    "c23",
                )
                for dataset in BOTH
            ),
        ),
    ),
)
