"""A number with what stands behind it, and the difference of two."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from cvoting.statistics import wilson


@dataclass(frozen=True)
class Source:
    """The rollouts behind a number.

    Attributes:
        bank: its name.
        puzzles, training_seeds, inference_seeds, candidates, steps: how many there are of each; rollouts are made for
            every one of all of them.
    """

    bank: str
    puzzles: int
    training_seeds: int
    inference_seeds: int
    candidates: int
    steps: int

    @property
    def rollout_steps(self) -> int:
        """Recurrent steps of all rollouts: what it cost, in updates of the model's state."""
        return self.puzzles * self.training_seeds * self.inference_seeds * self.candidates * self.steps


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value, low, high: a fraction, or what the part of the claim says.
        level: of the interval; None where the number is exact, so that `low` and `high` are the number itself.
        interval: what the interval is over, in words.
        sources: the rollouts behind it.
        K: candidates that vote; None where there is no vote, or several numbers of candidates.
        trend: the rank correlation with K or with steps, where the claim is of growth.
        incomparable: why it does not bear on the claim; None where it does.
        note: what else is worth saying.
    """

    value: float
    low: float
    high: float
    level: float | None
    interval: str
    sources: tuple[Source, ...] = ()
    K: int | None = None
    trend: float | None = None
    incomparable: str | None = None
    note: str = ""

    def over(self, *sources: Source, **changes: object) -> "Estimate":
        """The same with sources of its own, and other changes."""
        return replace(self, sources=sources, **changes)  # type: ignore[arg-type]


def read_row(row: pd.Series, column: str = "value") -> Estimate:
    """The number of a row of a table.

    A share of puzzles for which all are alike has no spread, as no resample differs: Wilson's interval stands in.

    Args:
        row: with `low`, `high`, `level`, `interval` and `puzzles`.
        column: of the number.
    """
    value, low, high, level = (float(row[name]) for name in (column, "low", "high", "level"))
    if column == "value" and low == high and value in (0, 1):
        puzzles = int(row["puzzles"])
        return Estimate(value, *wilson(round(value * puzzles), puzzles, level), level, "Wilson, puzzles only")
    return Estimate(value, low, high, level, row["interval"])


def minus(a: Estimate, b: Estimate) -> Estimate:
    """The difference of two numbers, from the interval of each.

    low = d - sqrt((a - a_low)^2 + (b_high - b)^2), high = d + sqrt((a_high - a)^2 + (b - b_low)^2).
    Exact in the large for independent numbers; too wide for two of the same puzzles, which rise and fall together.
    Source: Zou & Donner (2008), Construction of confidence limits about effect measures.

    Args:
        a, b: of the same level.
    """
    d = a.value - b.value
    low = d - math.hypot(a.value - a.low, b.high - b.value)
    high = d + math.hypot(a.high - a.value, b.value - b.low)
    sources = tuple(dict.fromkeys([*a.sources, *b.sources]))
    K = a.K if a.K == b.K else None
    incomparable = a.incomparable or b.incomparable
    interval = " and ".join(dict.fromkeys([a.interval, b.interval]))
    return Estimate(d, low, high, a.level, f"from two: {interval}", sources, K, None, incomparable)


def rank_correlation(y: Iterable[float]) -> float:
    """Spearman's rank correlation of numbers with their order; 0 where they are all alike.

    Args:
        y: at increasing K, or steps.
    """
    ranks = rankdata(np.round(list(y), 12))
    if np.ptp(ranks) == 0:
        return 0.0
    return float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])


def exact(value: float, *sources: Source, note: str = "") -> Estimate:
    """A number that no draw would change."""
    return Estimate(value, value, value, None, "exact", sources, note=note)


def largest(candidates: Sequence[Estimate]) -> Estimate:
    """The number that is furthest from 0."""
    return max(candidates, key=lambda found: abs(found.value))
