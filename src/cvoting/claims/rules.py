"""How a number is judged: a verdict, by a rule that is said in words.

A rule asks whether an interval lies on one side of a limit.  Where it lies on both, nothing is decided: neither that
the claim holds nor that it does not, and more puzzles or seeds would tell.  Limits are here and in no study, so that no
study chooses what it is judged by.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum

import pandas as pd

from cvoting.claims.estimates import Estimate

#: Differences of accuracies that count as none.
NEARLY = 0.01
#: Differences of accuracies that count as similar.
SIMILAR = 0.05
#: The least rank correlation that counts as growth.
STEADY = 0.8


class Verdict(StrEnum):
    """What is said of a claim.  `reproduced` and `not reproduced` are said at the paper's scale only."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    HOLDS = "holds in kind"
    FAILS = "does not hold in kind"
    UNDECIDED = "undecided"
    YES = "yes"
    NO = "no"
    NOT_COMPARABLE = "not comparable"
    NOT_RUN = "not run"


class Outcome(Enum):
    """What a rule finds."""

    TRUE = "true"
    FALSE = "false"
    OPEN = "open"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True)
class Printed:
    """What the paper prints: its number, if any, with what stands behind the +-, and the K it is of."""

    value: float | None
    spread: float
    K: int | None

    @staticmethod
    def of(row: pd.Series) -> "Printed":
        """Of a row of reference/published.csv."""
        value, spread, K = (None if pd.isna(row[name]) else row[name] for name in ("value", "spread", "K"))
        return Printed(None if value is None else float(value), float(spread or 0), None if K is None else int(K))


class Rule:
    """The base of all rules."""

    @property
    def name(self) -> str:
        """What it is called."""
        raise TypeError(f"{type(self).__name__} has no name")

    @property
    def words(self) -> str:
        """The rule, in words."""
        raise TypeError(f"{type(self).__name__} says no words")

    def outcome(self, found: Estimate, printed: Printed, paper_scale: bool) -> Outcome:
        """What it finds."""
        raise TypeError(f"{type(self).__name__} judges nothing")


def _sides(true: bool, false: bool) -> Outcome:
    return Outcome.TRUE if true else Outcome.FALSE if false else Outcome.OPEN


@dataclass(frozen=True)
class Above(Rule):
    """A number, mostly a difference, is above a limit."""

    limit: float = 0.0

    @property
    def name(self) -> str:
        """What it is called."""
        return f"above {_points(self.limit)}"

    @property
    def words(self) -> str:
        """The rule, in words."""
        return f"true where the interval lies above {_points(self.limit)}, false where it lies below"

    def outcome(self, found: Estimate, printed: Printed, paper_scale: bool) -> Outcome:
        """Whether the interval lies above the limit."""
        return _sides(found.low > self.limit, found.high < self.limit)


@dataclass(frozen=True)
class Below(Rule):
    """A number is below a limit."""

    limit: float

    @property
    def name(self) -> str:
        """What it is called."""
        return f"below {_points(self.limit)}"

    @property
    def words(self) -> str:
        """The rule, in words."""
        return f"true where the interval lies below {_points(self.limit)}, false where it lies above"

    def outcome(self, found: Estimate, printed: Printed, paper_scale: bool) -> Outcome:
        """Whether the interval lies below the limit."""
        return _sides(found.high < self.limit, found.low > self.limit)


@dataclass(frozen=True)
class Near(Rule):
    """A number is as good as 0: the two one-sided tests of equivalence."""

    margin: float = NEARLY

    @property
    def name(self) -> str:
        """What it is called."""
        return f"within ±{_points(self.margin)}" if self.margin else "equal"

    @property
    def words(self) -> str:
        """The rule, in words."""
        limits = f"within ±{_points(self.margin)}" if self.margin else "at 0"
        return f"true where the interval lies {limits} (two one-sided tests), false where it lies beyond"

    def outcome(self, found: Estimate, printed: Printed, paper_scale: bool) -> Outcome:
        """Whether the interval lies within the margin."""
        inside = -self.margin <= found.low and found.high <= self.margin
        return _sides(inside, found.low > self.margin or found.high < -self.margin)


@dataclass(frozen=True)
class Differs(Rule):
    """Of a question whether two are different: yes where the interval excludes 0, no where it is as good as 0."""

    margin: float = NEARLY

    @property
    def name(self) -> str:
        """What it is called."""
        return "different"

    @property
    def words(self) -> str:
        """The rule, in words."""
        return f"true where the interval excludes 0, false where it holds 0 and lies within ±{_points(self.margin)}"

    def outcome(self, found: Estimate, printed: Printed, paper_scale: bool) -> Outcome:
        """Whether the interval excludes 0."""
        return _sides(found.low > 0 or found.high < 0, -self.margin <= found.low and found.high <= self.margin)


@dataclass(frozen=True)
class Grows(Rule):
    """A difference grew from 0 at the start: it is above 0 at the end, and did not come and go."""

    @property
    def name(self) -> str:
        """What it is called."""
        return "grows"

    @property
    def words(self) -> str:
        """The rule, in words."""
        least = f"the rank correlation along the way is at least {STEADY}"
        return f"true where the interval at the end lies above 0 and {least}, false where one of the two is below 0"

    def outcome(self, found: Estimate, printed: Printed, paper_scale: bool) -> Outcome:
        """Whether it grew."""
        trend = 0.0 if found.trend is None else found.trend
        return _sides(found.low > 0 and trend >= STEADY, found.high < 0 or trend < 0)


@dataclass(frozen=True)
class Matches(Rule):
    """A printed number is met, at the paper's scale; in smaller studies another rule judges, or none.

    Attributes:
        rounding: half of the last digit that is printed.
        in_kind: what smaller studies are judged by; None: their number is not comparable.
    """

    rounding: float
    in_kind: Rule | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return "printed number" + (f", or {self.in_kind.name}" if self.in_kind else "")

    @property
    def words(self) -> str:
        """The rule, in words."""
        there = "at the paper's scale true where the printed number, ± its spread and rounding, meets the interval, and"
        elsewhere = self.in_kind.words if self.in_kind else "not comparable"
        return f"{there} false where it does not; in smaller studies {elsewhere}"

    def outcome(self, found: Estimate, printed: Printed, paper_scale: bool) -> Outcome:
        """Whether the printed number meets the interval."""
        if not paper_scale:
            return self.in_kind.outcome(found, printed, paper_scale) if self.in_kind else Outcome.INCOMPARABLE
        if printed.value is None or (printed.K and found.K and printed.K != found.K):
            return Outcome.INCOMPARABLE
        reach = printed.spread + self.rounding + 1e-12
        meets = found.low <= printed.value + reach and printed.value - reach <= found.high
        return _sides(meets, not meets)


def judge(rule: Rule, found: Estimate, printed: Printed, paper_scale: bool, question: bool = False) -> Verdict:
    """The verdict on one number.

    Args:
        rule: of the claim.
        found: our number.
        printed: the paper's.
        paper_scale: whether the study is at the paper's scale.
        question: whether it answers a question that the paper leaves open.
    """
    outcome = Outcome.INCOMPARABLE if found.incomparable else rule.outcome(found, printed, paper_scale)
    true, false = (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED) if paper_scale else (Verdict.HOLDS, Verdict.FAILS)
    if question:
        true, false = Verdict.YES, Verdict.NO
    said = {Outcome.TRUE: true, Outcome.FALSE: false, Outcome.OPEN: Verdict.UNDECIDED}
    return said.get(outcome, Verdict.NOT_COMPARABLE)


#: What decides over a claim of several numbers: the first of these that is said of one of them.
ORDER = (
    Verdict.NOT_REPRODUCED, Verdict.FAILS, Verdict.YES, Verdict.UNDECIDED, Verdict.NO, Verdict.REPRODUCED,
    Verdict.HOLDS, Verdict.NOT_COMPARABLE, Verdict.NOT_RUN,
)  # fmt: skip


def overall(verdicts: list[Verdict]) -> Verdict:
    """The verdict on a claim of several numbers: it holds where it holds for each that bears on it.

    A question asks whether something is so anywhere: one yes answers it.
    """
    return min(verdicts, key=ORDER.index)


def _points(limit: float) -> str:
    """A limit as it is read."""
    return f"{100 * limit:g} point{'s' * (limit != 0.01)}" if limit else "0"
