"""Claims: each rule by hand on both sides of its limit, numbers from small tables, and what the table says."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cvoting import gathered
from cvoting.checkpoint import Checkpoint
from cvoting.claims.claim import Claim, Part
from cvoting.claims.confidence_numbers import (
    gain_of_softening,
    gap,
    growth,
    largest_change,
    least_temperature,
    range_over_temperatures,
)
from cvoting.claims.estimates import Estimate, Source, exact, minus, rank_correlation, read_row
from cvoting.claims.evidence import Evidence, NotRunError
from cvoting.claims.headline import BEGIN, headline, read_claims, write_headline
from cvoting.claims.model_claims import count_parameters
from cvoting.claims.open_questions import published_shares, ties
from cvoting.claims.rules import (
    NEARLY,
    ORDER,
    SIMILAR,
    STEADY,
    Above,
    Below,
    Differs,
    Grows,
    Matches,
    Near,
    Printed,
    Rule,
    Verdict,
    judge,
    overall,
)
from cvoting.claims.seed_numbers import deviation_difference, expected_range, growth_of_medians, seed_range
from cvoting.claims.step_numbers import gain_where_steps_end, growth_with_steps
from cvoting.claims.table import CLAIMS, COLUMNS, claims_table, write_claims
from cvoting.errors import CvotingError
from cvoting.marked_page import END
from cvoting.models.registry import MODELS
from cvoting.params.reading import read_study
from cvoting.published import FIELD_COLUMNS, PublishedError, read_field, read_published
from cvoting.statistics import wilson
from cvoting.table_files import (
    CALIBRATION_COLUMNS,
    DISCRIMINATION_COLUMNS,
    LEARNED,
    PAIRED_COLUMNS,
    TRAJECTORIES_COLUMNS,
    VOTING_COLUMNS,
    TableError,
    write_csv,
)
from cvoting.tasks.sudoku import Sudoku

NOTHING = Printed(None, 0.0, None)
RULES = [
    Above(),
    Above(0.2),
    Below(SIMILAR),
    Near(),
    Near(0.0),
    Differs(),
    Grows(),
    Matches(0.0005),
    Matches(0.0, Above()),
]
#: What only the paper's scale can say.
REPRODUCTIONS = {Verdict.REPRODUCED, Verdict.NOT_REPRODUCED}


def found(low: float, high: float, **others: Any) -> Estimate:
    """A number in the middle of its interval."""
    return Estimate((low + high) / 2, low, high, 0.95, "puzzles only", **others)


@pytest.mark.parametrize(
    ("rule", "estimate", "verdict"),
    [
        (Above(), found(0.01, 0.03), Verdict.HOLDS),
        (Above(), found(-0.03, -0.01), Verdict.FAILS),
        (Above(), found(-0.01, 0.03), Verdict.UNDECIDED),
        (Above(), found(0.0, 0.03), Verdict.UNDECIDED),
        (Below(SIMILAR), found(0.0, 0.04), Verdict.HOLDS),
        (Below(SIMILAR), found(0.06, 0.5), Verdict.FAILS),
        (Below(SIMILAR), found(0.0, 0.06), Verdict.UNDECIDED),
        (Near(NEARLY), found(-0.01, 0.009), Verdict.HOLDS),
        (Near(NEARLY), found(0.011, 0.02), Verdict.FAILS),
        (Near(NEARLY), found(-0.02, -0.011), Verdict.FAILS),
        (Near(NEARLY), found(-0.02, 0.02), Verdict.UNDECIDED),
        (Near(0.0), exact(0.0), Verdict.HOLDS),
        (Near(0.0), exact(0.001), Verdict.FAILS),
        (Grows(), found(0.01, 0.03, trend=1.0), Verdict.HOLDS),
        (Grows(), found(0.01, 0.03, trend=STEADY - 0.1), Verdict.UNDECIDED),
        (Grows(), found(0.01, 0.03, trend=-0.1), Verdict.FAILS),
        (Grows(), found(-0.03, -0.01, trend=1.0), Verdict.FAILS),
        (Grows(), found(-0.01, 0.03, trend=1.0), Verdict.UNDECIDED),
        (Matches(0.0), found(0.9, 0.95), Verdict.NOT_COMPARABLE),
        (Matches(0.0, Above()), found(0.01, 0.02), Verdict.HOLDS),
        (Matches(0.0, Above()), found(-0.02, -0.01), Verdict.FAILS),
        (Above(), found(0.01, 0.03, incomparable="the other one learned nothing"), Verdict.NOT_COMPARABLE),
    ],
)
def test_a_small_study_says_what_holds_in_kind(rule: Rule, estimate: Estimate, verdict: Verdict) -> None:
    assert judge(rule, estimate, Printed(0.944, 0.001, 4096), paper_scale=False) == verdict


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        (found(0.940, 0.9425), Verdict.NOT_REPRODUCED),  # 0.944 - 0.001 - 0.0005 lies at 0.9425, to be met
        (found(0.940, 0.943), Verdict.REPRODUCED),
        (found(0.945, 0.95), Verdict.REPRODUCED),
        (found(0.946, 0.95), Verdict.NOT_REPRODUCED),
        (found(0.93, 0.96), Verdict.REPRODUCED),
        (found(0.93, 0.96, K=4096), Verdict.REPRODUCED),
        (found(0.93, 0.96, K=1024), Verdict.NOT_COMPARABLE),
    ],
)
def test_at_the_papers_scale_the_printed_number_with_its_spread_meets_the_interval(
    estimate: Estimate, verdict: Verdict
) -> None:
    rounding = 0.0005 if estimate.high != 0.9425 else 0.0
    assert judge(Matches(rounding), estimate, Printed(0.944, 0.001, 4096), paper_scale=True) == verdict


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        (found(0.01, 0.03), Verdict.YES),
        (found(-0.03, -0.01), Verdict.YES),
        (found(-0.005, 0.01), Verdict.NO),
        (found(-0.01, 0.03), Verdict.UNDECIDED),
    ],
)
@pytest.mark.parametrize("paper_scale", [False, True])
def test_a_question_is_answered(estimate: Estimate, verdict: Verdict, paper_scale: bool) -> None:
    assert judge(Differs(), estimate, NOTHING, paper_scale, question=True) == verdict


ENDS = st.floats(-1, 1)


@given(
    st.sampled_from(RULES),
    st.tuples(ENDS, ENDS).map(sorted),
    ENDS,
    st.sampled_from([NOTHING, Printed(0.5, 0.1, None), Printed(0.5, 0.0, 4096)]),
    st.booleans(),
)
def test_nothing_is_reproduced_but_at_the_papers_scale(
    rule: Rule, ends: list[float], trend: float, printed: Printed, question: bool
) -> None:
    estimate = found(*ends, trend=trend, K=4096)
    small, large = (judge(rule, estimate, printed, scale, question) for scale in (False, True))
    assert small not in REPRODUCTIONS
    assert large not in {Verdict.HOLDS, Verdict.FAILS}
    if question:
        assert not {small, large} & REPRODUCTIONS


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ("holds holds", "holds"),
        ("holds not_comparable", "holds"),
        ("holds not_run", "holds"),
        ("holds undecided", "undecided"),
        ("holds fails undecided", "fails"),
        ("not_comparable not_run", "not_comparable"),
        ("not_run not_run", "not_run"),
        ("reproduced not_reproduced", "not_reproduced"),
        ("yes no", "yes"),
        ("no undecided", "undecided"),
    ],
)
def test_a_claim_holds_where_each_number_that_bears_on_it_says_so(verdicts: str, verdict: str) -> None:
    assert overall([Verdict[word.upper()] for word in verdicts.split()]) == Verdict[verdict.upper()]
    assert set(ORDER) == set(Verdict)


def test_a_difference_has_the_interval_of_two_independent_numbers() -> None:
    a, b = Estimate(0.6, 0.5, 0.7, 0.95, "x"), Estimate(0.3, 0.2, 0.5, 0.95, "x")
    difference = minus(a, b)
    assert difference.value == pytest.approx(0.3)
    assert difference.low == pytest.approx(0.3 - math.hypot(0.1, 0.2))
    assert difference.high == pytest.approx(0.3 + math.hypot(0.1, 0.1))


def test_newcombes_interval_of_two_shares_is_that_of_his_paper() -> None:
    shares = [Estimate(k / n, *wilson(k, n, 0.95), 0.95, "Wilson") for k, n in ((56, 70), (48, 80))]
    assert (minus(*shares).low, minus(*shares).high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_a_share_without_a_spread_has_wilsons_interval() -> None:
    none = read_row(pd.Series(vote("confidence", 1, 0.0, low=0.0, high=0.0)))
    assert (none.low, none.high) == wilson(0, 100, 0.95)
    assert read_row(pd.Series(vote("confidence", 1, 0.5, low=0.5, high=0.5))).high == 0.5
    assert read_row(pd.Series(pair("random", 1, 0.0, low=0.0, high=0.0)), "difference").high == 0


def test_rank_correlations_count_ties_and_are_0_without_growth() -> None:
    assert rank_correlation([0.1, 0.2, 0.3]) == pytest.approx(1)
    assert rank_correlation([0.3, 0.2, 0.1]) == pytest.approx(-1)
    assert rank_correlation([0.2, 0.2, 0.2]) == 0
    assert rank_correlation([0.0, 0.1 + 0.2, 0.3]) == pytest.approx(math.sqrt(3) / 2), "the last two are the same"


OF = {"study": "s", "run": "r", "split": "test", "origin": "generated", "puzzles": 100, "level": 0.95}
SEEDS = {"training_seed": "0", "inference_seed": "0", "interval": "puzzles only", "subsets": None}
PUBLISHED = pd.DataFrame(
    {
        "value": [0.786, 0.745, None],
        "spread": None,
        "n": [1000, 1000, None],
        "K": None,
        "figure_or_section": "Figure 1",
    },
    index=["c4-maze", "c5-maze", "c6"],
)


def vote(name: str, K: int, value: float, **other: object) -> dict[str, object]:
    """A row of a voting table."""
    row = OF | SEEDS | {"vote": name, "K": K, "value": value, "low": value - 0.05, "high": value + 0.05}
    return row | {"estimator": "expected", "metric": "board", "candidates": 4, "T_eval": 16} | other


def pair(against: str, K: int, value: float, **other: object) -> dict[str, object]:
    """A row of a paired comparison."""
    row = OF | SEEDS | {"vote": "confidence", "against": against, "K": K, "difference": value, "p": 0.5}
    row |= {"estimator": "expected", "metric": "board", "candidates": 4, "T_eval": 16}
    return row | {"low": value - 0.02, "high": value + 0.02} | other


class Tables:
    """Small tables of a study."""

    COLUMNS: ClassVar = {
        "voting": VOTING_COLUMNS,
        "paired": PAIRED_COLUMNS,
        "steps": VOTING_COLUMNS,
        "calibration": CALIBRATION_COLUMNS,
        "discrimination": DISCRIMINATION_COLUMNS,
        "trajectories": TRAJECTORIES_COLUMNS,
    }

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, list]] = {kind: {} for kind in self.COLUMNS}
        self.banks: dict[str, dict[str, str]] = {}

    def add(self, kind: str, model: str, dataset: str, *rows: dict[str, object]) -> "Tables":
        """Add rows of a bank."""
        bank = self.banks.setdefault(model, {}).setdefault(dataset, f"{model}-{dataset}")
        self.rows[kind].setdefault(bank, []).extend(row | {"model": model, "dataset": dataset} for row in rows)
        return self

    def evidence(self, **changes: Any) -> Evidence:
        """The study."""
        tables = {
            kind: {bank: pd.DataFrame(rows, columns=list(self.COLUMNS[kind])) for bank, rows in of.items()}
            for kind, of in self.rows.items()
        }
        bootstrap = {"resamples": 200, "level": 0.95, "seed": 0}
        known = Evidence(self.banks, self.banks, {}, tables, {"itrsa": 3_000_000}, PUBLISHED, bootstrap)
        return replace(known, **changes)


def test_accuracies_are_those_of_all_seeds_at_the_largest_K() -> None:
    tables = Tables().add(
        "voting",
        "itrsa",
        "maze_hard",
        *(vote("confidence", K, value, inference_seed="all") for K, value in ((1, 0.5), (4, 0.7))),
        vote("confidence", 4, 0.1),
        vote("confidence", 4, 0.2, inference_seed="1"),
        vote("confidence", 4, 0.3, inference_seed="all", estimator="prefix"),
        vote("confidence", 4, 0.4, inference_seed="all", metric="optimal"),
    )
    evidence = tables.evidence()
    assert evidence.accuracy("itrsa-maze_hard").value == 0.7
    assert evidence.accuracy("itrsa-maze_hard", metric="optimal").value == 0.4
    assert evidence.accuracy("itrsa-maze_hard", "random").value == 0.5, "any vote at K = 1"
    (source,) = evidence.accuracy("itrsa-maze_hard").sources
    assert source == Source("itrsa-maze_hard", 100, 1, 2, 4, 16)
    assert source.rollout_steps == 100 * 2 * 4 * 16
    for missing in (
        lambda: evidence.accuracy("itrsa-maze_hard", "energy_sum"),
        lambda: evidence.bank("itrsa", "sudoku_hard"),
        lambda: evidence.bank("akorn", "maze_hard"),
        lambda: evidence.variant("full"),
        lambda: evidence.gain("itrsa", "maze_hard"),
    ):
        with pytest.raises(NotRunError):
            missing()


def test_a_model_above_one_that_has_not_learned_its_task_shows_nothing() -> None:
    tables = Tables().add("voting", "itrsa", "maze_hard", vote("confidence", 1, 0.5))
    tables.add("voting", "hrm_fixed", "maze_hard", vote("confidence", 1, 0.0, low=0.0, high=0.0))
    evidence = tables.evidence()
    ours, theirs = (evidence.accuracy(f"{model}-maze_hard", "random") for model in ("itrsa", "hrm_fixed"))
    assert judge(Above(), evidence.above(ours, theirs), NOTHING, False) == Verdict.NOT_COMPARABLE
    assert judge(Above(), evidence.above(ours, theirs, may_fail=True), NOTHING, False) == Verdict.HOLDS
    assert judge(Above(), evidence.above(theirs, ours), NOTHING, False) == Verdict.FAILS
    just = replace(theirs, value=LEARNED, low=0.0, high=0.1)
    assert judge(Above(), evidence.above(ours, just), NOTHING, False) == Verdict.HOLDS


@pytest.mark.parametrize("solved", [0.9 * LEARNED, LEARNED])
def test_a_gain_in_a_bank_that_has_not_learned_its_task_bears_on_no_claim(solved: float) -> None:
    tables = Tables().add("voting", "akorn", "sudoku_hard", vote("confidence", 1, solved))
    tables.add("paired", "akorn", "sudoku_hard", *(pair("random", K, 0.01 * K, low=0.005) for K in (1, 2, 4)))
    gain = tables.evidence().gain("akorn", "sudoku_hard")
    learned = solved >= LEARNED
    assert judge(Grows(), gain, NOTHING, False) == (Verdict.HOLDS if learned else Verdict.NOT_COMPARABLE)
    why = None if learned else "akorn-sudoku_hard has not learned its task: 0.9%, below 1%"
    assert gain.incomparable == why


def test_gains_grow_from_nothing_to_the_largest_K() -> None:
    rows = [pair("random", K, value) for K, value in ((1, 0.0), (2, 0.04), (4, 0.08))]
    tables = Tables().add("paired", "hrm", "sudoku_extreme", *rows)
    tables.add("voting", "hrm", "sudoku_extreme", vote("confidence", 4, 0.5))
    gain = tables.evidence().gain("hrm", "sudoku_extreme")
    assert (gain.value, gain.trend, gain.K) == (0.08, pytest.approx(1), 4)
    assert judge(Grows(), gain, NOTHING, False) == Verdict.HOLDS


def test_published_shares_are_compared_by_their_own_numbers() -> None:
    difference = published_shares(Tables().evidence(), "c4-maze", "c5-maze")
    assert difference.value == pytest.approx(0.041)
    assert 0 < difference.low < 0.01
    assert "z = 2.16, two-sided p = 0.030" in difference.note


def trajectory(puzzle: str, candidate: int, right: int, *confidence: float) -> list[dict[str, object]]:
    """Rows of a candidate at steps 1, 2 and so on."""
    about = OF | SEEDS | {"pooled": True, "candidates": 2, "T_eval": len(confidence)}
    steps = enumerate(confidence, start=1)
    return [
        about | {"puzzle": puzzle, "candidate": candidate, "step": t, "confidence": c, "board": right} for t, c in steps
    ]


def test_confidence_grows_and_tells_right_from_wrong() -> None:
    rows = []
    for p in range(8):
        rows += trajectory(f"{p}", 0, 1, 0.4, 0.6, 0.9 + p / 1000) + trajectory(f"{p}", 1, 0, 0.5, 0.5, 0.5)
    tables = Tables().add("voting", "itrsa", "maze_hard", vote("confidence", 1, 0.5))
    evidence = tables.add("trajectories", "itrsa", "maze_hard", *rows).evidence()
    right, wrong = (growth(evidence, "itrsa", "maze_hard", kind) for kind in (True, False))
    assert (right.value, right.trend) == (pytest.approx(0.5035), pytest.approx(1))
    assert (wrong.value, wrong.trend) == (0, 0)
    assert judge(Grows(), right, NOTHING, False) == Verdict.HOLDS
    assert judge(Grows(), wrong, NOTHING, False) == Verdict.UNDECIDED
    difference = gap(evidence, "itrsa", "maze_hard")
    assert difference.value == pytest.approx(0.4035)
    assert difference.low <= difference.value <= difference.high
    alone = Tables().add("trajectories", "itrsa", "maze_hard", *trajectory("0", 0, 1, 0.4, 0.6)).evidence()
    with pytest.raises(NotRunError, match="no wrong candidate"):
        growth(alone, "itrsa", "maze_hard", False)
    with pytest.raises(NotRunError, match="alone"):
        gap(alone, "itrsa", "maze_hard")


def calibrated(temperature: float, value: float, metric: str = "cell_ece_width", of: str = "candidates") -> dict:
    """A row of a calibration table."""
    about = OF | SEEDS | {"temperature": temperature, "fitted": False, "candidates": 4, "T_eval": 16}
    return about | {"of": of, "metric": metric, "value": value, "low": value - 0.01, "high": value + 0.01}


def test_temperatures_whose_errors_meet_the_least_are_its_interval() -> None:
    errors = {0.5: 0.2, 1.0: 0.1, 2.0: 0.05, 3.0: 0.06, 4.0: 0.2}
    rows = [calibrated(T, value) for T, value in errors.items()]
    rows += [calibrated(T, 0.0, "cell_accuracy_change", "voted") for T in errors if T != 4]
    rows += [calibrated(4.0, -0.005, "cell_accuracy_change", "voted")]
    tables = Tables().add("voting", "itrsa", "maze_hard", vote("confidence", 1, 0.5))
    evidence = tables.add("calibration", "itrsa", "maze_hard", *rows).evidence()
    least = least_temperature(evidence, "itrsa", "maze_hard")
    assert (least.value, least.low, least.high) == (2, 2, 3)
    assert judge(Matches(0.0), least, Printed(2.0, 0.0, None), True) == Verdict.REPRODUCED
    assert judge(Matches(0.0), least, Printed(1.0, 0.0, None), True) == Verdict.NOT_REPRODUCED
    change = largest_change(evidence, "itrsa", "maze_hard", "cell_accuracy")
    assert (change.value, change.low, change.high) == (-0.005, -0.015, 0.01)


def test_confidence_of_a_bank_that_has_not_learned_its_task_bears_on_no_claim() -> None:
    of, tables = ("itrsa", "maze_hard"), Tables()
    tables.add("voting", *of, vote("confidence", 1, 0.9 * LEARNED))
    tables.add("trajectories", *of, *trajectory("0", 0, 1, 0.4, 0.6), *trajectory("0", 1, 0, 0.5, 0.5))
    kinds = (("candidates", "cell_ece_width"), ("candidates", "cell_accuracy"), ("voted", "board_change"))
    tables.add(
        "calibration", *of, *(calibrated(T, 0.1 * T, metric, kind) for kind, metric in kinds for T in (1.0, 2.0))
    )
    evidence = tables.evidence()
    for number in (
        growth(evidence, *of, right=True),
        gap(evidence, *of),
        least_temperature(evidence, *of),
        gain_of_softening(evidence, *of),
        largest_change(evidence, *of, "board"),
        range_over_temperatures(evidence, *of),
    ):
        assert number.incomparable == "itrsa-maze_hard has not learned its task: 0.9%, below 1%"


def seeds(dataset: str, *values: float) -> tuple[str, str, str, list[dict[str, object]]]:
    """Rows of a bank with several inference seeds; medians grow from 0.1 at K = 1."""
    rows = [vote("confidence", 1, 0.1, inference_seed=str(i), estimator="prefix") for i in range(len(values))]
    rows += [vote("confidence", 4, v, inference_seed=str(i), estimator="prefix") for i, v in enumerate(values)]
    return "voting", "itrsa", dataset, rows


def test_the_spread_over_seeds_and_its_intervals() -> None:
    tables = Tables()
    for kind, model, dataset, rows in (
        seeds("maze_hard", 0.5, 0.6, 0.7, 0.8, 0.9),
        seeds("sudoku_extreme", 0.698, 0.699, 0.700, 0.701, 0.702),
    ):
        tables.add(kind, model, dataset, *rows)
    evidence = tables.evidence()
    spread = seed_range(evidence, "itrsa", "maze_hard")
    assert spread.value == pytest.approx(0.4)
    deviation = math.sqrt(0.025)
    # chi-squared quantiles of 4 degrees of freedom at 2.5 and 97.5 %: 0.4844 and 11.1433; a range is 2.3259 of 5
    assert spread.low == pytest.approx(deviation * math.sqrt(4 / 11.1433) * 2.3259, rel=1e-3)
    assert spread.high == pytest.approx(deviation * math.sqrt(4 / 0.4844) * 2.3259, rel=1e-3)
    more = deviation_difference(evidence, "itrsa", "maze_hard", "sudoku_extreme")
    assert more.value == pytest.approx(deviation * 0.99)
    assert judge(Above(), more, NOTHING, False) == Verdict.HOLDS
    less = deviation_difference(evidence, "itrsa", "sudoku_extreme", "maze_hard")
    assert judge(Above(), less, NOTHING, False) == Verdict.FAILS
    same = deviation_difference(evidence, "itrsa", "maze_hard", "maze_hard")
    assert judge(Above(), same, NOTHING, False) == Verdict.UNDECIDED
    assert growth_of_medians(evidence, "itrsa", "maze_hard").low == pytest.approx(1)


def test_seeds_that_agree_or_a_single_one_say_nothing_of_the_spread() -> None:
    tables = Tables()
    for kind, model, dataset, rows in (seeds("maze_hard", 0.5, 0.5), seeds("sudoku_extreme", 0.5)):
        tables.add(kind, model, dataset, *rows)
    evidence = tables.evidence()
    same = deviation_difference(evidence, "itrsa", "maze_hard", "maze_hard")
    assert judge(Above(), same, NOTHING, False) == Verdict.NOT_COMPARABLE
    with pytest.raises(NotRunError, match="one inference seed"):
        seed_range(evidence, "itrsa", "sudoku_extreme")


def test_the_expected_range_of_normal_numbers() -> None:
    assert expected_range(2) == pytest.approx(2 / math.sqrt(math.pi))
    assert expected_range(5) == pytest.approx(2.32593, abs=1e-5)


def stepped(*values: float) -> Evidence:
    """A bank read out at steps 4, 8, 12, 16, with a gain from votes."""
    rows = [
        vote(name, 1, value, T_eval=t)
        for t, value in zip((4, 8, 12, 16), values, strict=True)
        for name in ("confidence", "oracle")
    ]
    rows += [vote("confidence", 4, 0.9, T_eval=t) for t in (4, 8, 12, 16)]
    tables = Tables().add("steps", "itrsa", "maze_hard", *rows)
    tables.add("voting", "itrsa", "maze_hard", vote("confidence", 1, values[-1]), vote("confidence", 4, 0.9))
    return tables.add("paired", "itrsa", "maze_hard", pair("random", 1, 0.0), pair("random", 4, 0.1)).evidence()


def test_accuracy_grows_with_steps() -> None:
    grown = growth_with_steps(stepped(0.1, 0.3, 0.5, 0.8), "itrsa", "maze_hard")
    assert (grown.value, grown.trend) == (pytest.approx(0.7), pytest.approx(1))
    assert judge(Grows(), grown, NOTHING, False) == Verdict.HOLDS
    fallen = growth_with_steps(stepped(0.8, 0.5, 0.3, 0.1), "itrsa", "maze_hard")
    assert judge(Grows(), fallen, NOTHING, False) == Verdict.FAILS


def test_votes_help_where_steps_no_longer_do_only_if_they_no_longer_do() -> None:
    ended = gain_where_steps_end(stepped(0.1, 0.5, 0.8, 0.805), "itrsa", "maze_hard")
    assert judge(Above(), ended, NOTHING, False) == Verdict.HOLDS
    assert "C-voting of 4 at step 16 minus the best step without a vote, 16: +9.5" in ended.note
    rising = gain_where_steps_end(stepped(0.1, 0.5, 0.7, 0.8), "itrsa", "maze_hard")
    assert judge(Above(), rising, NOTHING, False) == Verdict.NOT_COMPARABLE


def test_steps_of_a_bank_that_has_not_learned_its_task_bear_on_no_claim() -> None:
    evidence = stepped(0.001, 0.002, 0.002, 0.002)
    for number in (growth_with_steps, gain_where_steps_end):
        assert "has not learned its task" in (number(evidence, "itrsa", "maze_hard").incomparable or "")


def test_what_is_said_of_steps_is_that_of_the_bank_with_most() -> None:
    evidence = stepped(0.1, 0.5, 0.7, 0.8)
    shorter = replace(evidence, banks={"itrsa": {"maze_hard": "shorter"}})
    for number in (growth_with_steps, gain_where_steps_end):
        assert number(shorter, "itrsa", "maze_hard") == number(evidence, "itrsa", "maze_hard")
    for number in (growth_with_steps, gain_where_steps_end):
        with pytest.raises(NotRunError, match="no bank of itrsa on sudoku_hard"):
            number(evidence, "itrsa", "sudoku_hard")


def test_ties_are_shares_of_puzzles() -> None:
    rows = [vote("confidence", 4, 0.5, tie_share=0.4), vote("confidence_stablemax", 4, 0.5, tie_share=0.0)]
    tables = Tables().add("voting", "hrm", "sudoku_extreme", *rows)
    tied = ties(tables.add("paired", "hrm", "sudoku_extreme", pair("confidence_stablemax", 4, 0.0)).evidence())
    assert tied.value == 0.4
    assert tied.low == pytest.approx(0.4 - math.hypot(0.4 - wilson(40, 100, 0.95)[0], wilson(0, 100, 0.95)[1]))


def test_parameters_are_counted_from_the_head_of_a_checkpoint(tiny_networks: dict, tmp_path: Path) -> None:
    for name, network in tiny_networks.items():
        model = MODELS[name].for_task(network, Sudoku(name="sudoku", box=(2, 2)))
        weights = model.state_dict()
        about = {"run": name, "model": name, "task": {}, "network": {}, "training_seed": 0}
        Checkpoint(about, weights, {"raw": torch.zeros(3)}).save(tmp_path / name)
        starts = 2 * network.channels if name == "hrm" else 0
        assert count_parameters(tmp_path / name) == sum(p.numel() for p in model.parameters()) + starts


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\x02\0\0\0\0\0\0\0{}", b"\x04\0\0\0\0\0\0\0null"])
def test_a_file_that_is_no_checkpoint_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(TableError, match="not a checkpoint"):
        count_parameters(tmp_path / "c")


def test_every_claim_of_the_paper_and_every_question_is_there_once() -> None:
    assert [claim.id for claim in CLAIMS] == [*(f"c{i}" for i in range(1, 27)), *(f"q{i}" for i in range(1, 6))]


def test_every_number_of_a_claim_has_a_rule_in_words_and_a_published_row(repository: Path) -> None:
    published = read_published(repository / "reference/published.csv").set_index("id")
    figures = set(read_study(repository / "params.yaml").figures) | set(read_study(repository / "params.yaml").tables)
    for claim in CLAIMS:
        assert claim.parts
        assert claim.shown_in is None or claim.shown_in in figures
        for part in claim.parts:
            assert part.rule.words
            assert part.rule.name
            assert part.published in published.index
            assert claim.id in ("q1", "q2", "q3", "q4", "q5") or part.published.split("-")[0] == claim.id
            if isinstance(part.rule, Matches):
                assert pd.notna(published.loc[part.published, "value"])


def test_an_empty_study_has_run_nothing_but_the_published_comparison(repository: Path) -> None:
    published = read_published(repository / "reference/published.csv").set_index("id")
    evidence = Tables().evidence(published=published, parameters={})
    table = claims_table(
        CLAIMS, evidence, {"study": "s", "title": "t", "paper_scale": True, "shown": [], "trained_on": {}}
    )
    assert tuple(table.columns) == COLUMNS
    assert set(table.loc[table["claim"] != "q2", "claim_verdict"]) == {"not run"}
    assert table.set_index("number").loc["published difference", "verdict"] == "yes"
    assert (table.loc[table["verdict"] == "not run", "note"] != "").all()
    assert set(table["command"]) == {"snakemake --cores all claims"}


def part(rule: Rule, estimate: Estimate, **others: Any) -> Part:
    """A number that is known."""
    return Part("a number", lambda evidence: estimate, rule, "c6", **others)


def test_a_row_says_number_interval_sizes_and_verdict() -> None:
    sources = (Source("a", 100, 1, 5, 4, 16), Source("b", 50, 1, 1, 4, 16))
    estimate = found(0.1, 0.2, sources=sources, K=4, trend=0.9)
    claims = [
        Claim(
            "c6", "a claim", (part(Above(), estimate, headline="the number"), part(Above(), found(-1.0, 1.0))), "fig"
        ),
        Claim(
            "c7", "not run", (Part("a number", lambda e: e.accuracy(e.bank("a", "b")), Above(), "c6", headline="x"),)
        ),
    ]
    about = {
        "study": "s",
        "title": "t",
        "paper_scale": False,
        "shown": ["fig"],
        "trained_on": dict.fromkeys("ab", "sudoku"),
    }
    table = claims_table(claims, Tables().evidence(), about)
    row = table.iloc[0]
    assert row["note"] == "a trained on sudoku; b trained on sudoku"
    assert row[["puzzles", "training_seeds", "inference_seeds", "banks"]].tolist() == ["100 / 50", "1", "5 / 1", "a b"]
    assert row["rollout_steps"] == 100 * 5 * 4 * 16 + 50 * 4 * 16
    assert row[["verdict", "claim_verdict"]].tolist() == ["holds in kind", "undecided"]
    assert row["command"] == "snakemake --cores all fig"
    shown = headline(table)
    assert shown.to_numpy().tolist() == [
        ["c6: the number", "–", "15.0 [10.0, 20.0]", "100 / 50", "1 x 5 / 1", "holds in kind"]
    ]


def test_a_model_that_trained_for_its_puzzles_is_not_compared_with_one_that_did_not() -> None:
    sources = (Source("a", 100, 1, 5, 4, 16), Source("b", 50, 1, 1, 4, 16))
    claims = [Claim("c6", "a claim", (part(Above(), found(0.1, 0.2, sources=sources)),))]
    about = {"study": "s", "title": "t", "paper_scale": False, "shown": [], "trained_on": {"b": "sudoku"}}
    row = claims_table(claims, Tables().evidence(), about).iloc[0]
    assert row["verdict"] == "not comparable"
    assert row["note"] == "models of unlike training; b trained on sudoku"


@pytest.fixture
def readme(tmp_path: Path) -> tuple[Path, Path]:
    """A page with a place for the table, and a table of claims."""
    claims = [Claim("c6", "a claim", (part(Above(), found(0.1, 0.2), headline="the number"),))]
    about = {"study": "s", "title": "t", "paper_scale": False, "shown": [], "trained_on": {}}
    write_csv(claims_table(claims, Tables().evidence(), about), tmp_path / "claims.csv")
    (tmp_path / "README.md").write_text(f"before\n{BEGIN.format(study='s')}\n{END}\nafter\n")
    return tmp_path / "claims.csv", tmp_path / "README.md"


def test_readmes_table_is_written_and_checked(readme: tuple[Path, Path]) -> None:
    with pytest.raises(CvotingError, match=r"README\.md has other numbers than .*claims\.csv: run"):
        write_headline(*readme, check=True)
    write_headline(*readme, check=False)
    write_headline(*readme, check=True)
    assert "| c6: the number | – | 15.0 [10.0, 20.0] |" in readme[1].read_text()


def test_a_file_that_is_no_table_of_claims_is_refused(repository: Path) -> None:
    with pytest.raises(TableError, match=r"published\.csv: not a table of claims"):
        read_claims(repository / "reference/published.csv")


@pytest.mark.parametrize("study", ["laptop", "desktop"])
def test_readme_and_the_published_table_agree(repository: Path, study: str) -> None:
    published = repository / f"docs/results/{study}/claims.csv"
    write_headline(published, repository / "README.md", check=True)
    table = read_claims(published)
    assert set(table["claim"]) == {claim.id for claim in CLAIMS}
    assert not set(table["verdict"]) & REPRODUCTIONS
    inexact = table["value"].notna() & (table["value"] != table["low"])
    assert table.loc[inexact, "level"].notna().all()


def test_the_field_is_read_and_every_number_says_how_it_is_known(repository: Path, tmp_path: Path) -> None:
    path = repository / "reference/field.csv"
    assert tuple(read_field(path).columns) == FIELD_COLUMNS
    wrong: list[tuple[Callable[[str], str], str]] = [
        (lambda text: text.replace("arxiv,", "", 1), "expected system, arxiv"),
        (lambda text: text.replace(",0.55,", ",,", 1), "'HRM' on sudoku_extreme has no number"),
        (lambda text: text.replace(",read", ",heard", 1), "'HRM' on sudoku_extreme does not say how it is known"),
        (lambda text: "", "not a table of published numbers"),
    ]
    for change, message in wrong:
        (tmp_path / "field.csv").write_text(change(path.read_text()))
        with pytest.raises(PublishedError, match=message):
            read_field(tmp_path / "field.csv")


def test_files_that_do_not_fit_the_recipe_are_refused(repository: Path, tmp_path: Path) -> None:
    recipe = gathered.claims(read_study(repository / "params/toy.yaml"))
    references = (repository / "reference/published.csv", repository / "reference/field.csv")
    nothing = dict.fromkeys(recipe["tables"], ())
    with pytest.raises(TableError, match="0 files, expected 3: checkpoints of akorn-sudoku, hrm_fixed-sud"):
        write_claims(recipe, nothing, [], *references, tmp_path)


def test_claims_are_judged_by_the_banks_that_vote_as_their_model_was_trained_to(repository: Path) -> None:
    toy = read_study(repository / "params/toy.yaml")
    recipe = gathered.claims(toy)
    assert recipe["banks"]["itrsa"] == {"maze_hard": "itrsa-maze_hard", "sudoku_hard": "itrsa-sudoku_hard"}
    assert recipe["ablation"] == {}, "that of the toy study is of other puzzles than the paper's"
    assert "itrsa_raw-sudoku_hard" not in recipe["tables"]["voting"]
    assert recipe["tables"]["calibration"] == ["itrsa-maze_hard", "itrsa-sudoku_hard"]
    laptop = gathered.claims(read_study(repository / "params.yaml"))
    assert laptop["ablation"]["no_ema"] == "itrsa_raw-sudoku_extreme"
    assert "itrsa_raw-sudoku_extreme" in laptop["tables"]["voting"]
    more = replace(toy.banks["itrsa-sudoku_hard"], candidates=16)
    longer = replace(more, T_eval=8, read_at=(4, 8), candidates=5)
    blind = replace(longer, T_eval=16, read_at=(), read_candidates=None, logit_candidates=0)
    raw = replace(more, weights="raw", candidates=32)
    banks = toy.banks | {"more": more, "longer": longer, "blind": blind, "raw": raw}
    found = gathered.claims(replace(toy, banks=banks, tables=type(toy.tables)()))
    assert found["banks"]["itrsa"]["sudoku_hard"] == "more"
    assert found["longest"]["itrsa"]["sudoku_hard"] == "longer", "the one of most steps has no table of steps"
    assert "longer" in found["tables"]["steps"]
    assert {kind for kind, banks in found["tables"].items() if "raw" in banks} == set()


def test_claims_are_judged_by_models_trained_for_the_puzzles_where_there_are_any(repository: Path) -> None:
    toy = read_study(repository / "params/toy.yaml")
    datasets = toy.datasets | {"others": toy.datasets["sudoku"]}
    toy = replace(
        toy, datasets=datasets, runs=toy.runs | {"itrsa-others": replace(toy.runs["itrsa-sudoku"], dataset="others")}
    )
    strange = replace(toy.banks["itrsa-sudoku_hard"], run="itrsa-others", candidates=64)
    both = gathered.claims(replace(toy, banks=toy.banks | {"strange": strange}))
    assert (both["banks"]["itrsa"]["sudoku_hard"], both["trained_on"]) == ("itrsa-sudoku_hard", {})
    alone = {name: bank for name, bank in toy.banks.items() if not name.startswith("itrsa")} | {"strange": strange}
    only = gathered.claims(replace(toy, banks=alone, figures=type(toy.figures)(), tables=type(toy.tables)()))
    assert only["banks"]["itrsa"]["sudoku_hard"] == "strange"
    assert only["trained_on"] == {"strange": "others"}
