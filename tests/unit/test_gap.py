"""The share of the gap between random choice and the oracle that a vote closes."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cvoting.bank import Bank
from cvoting.estimators import Outcomes, Subsets, expected
from cvoting.gap import gap_closed, with_gap
from cvoting.params.voting import VotingParams
from cvoting.seeding import generator
from cvoting.statistics import defined_interval
from cvoting.table_files import GAP, read_csv
from cvoting.tables import voting_tables, write_voting
from cvoting.tally import tally
from cvoting.tasks.sudoku import Sudoku
from cvoting.voting import VOTES, Ballot

BankFile = Callable[..., Path]
TASK = Sudoku(name="sudoku", box=(2, 2))
PARAMS = VotingParams(K=(1, 2, 8), votes=tuple(VOTES), subsets=4, resamples=100, level=0.9, seed=0)
NAMES = ("confidence", "random", "oracle")


def rows(shards: list[Path], params: VotingParams = PARAMS) -> pd.DataFrame:
    """The voting table."""
    return voting_tables(tally(shards, params, TASK), params, "a-study")[0]


def test_four_candidates_of_two_puzzles_by_hand() -> None:
    # From the most confident: right wrong wrong right, and wrong right wrong wrong.
    right = np.array([[1, 0, 0, 1], [0, 1, 0, 0]], dtype=float)
    scores = np.array([[0.9, 0.8, 0.7, 0.6]] * 2)
    ballot = Ballot({"confidence": scores}, np.arange(8).reshape(2, 4), np.zeros((8, 1), dtype=np.uint8))
    outcomes = Outcomes(right[None], lambda _: np.zeros((1, 2)))
    found = [expected(VOTES[name], ballot, outcomes, (1, 2, 4), Subsets(1, 0)) for name in NAMES]
    values = np.stack(found)[:, None].transpose(3, 0, 1, 2, 4)  # puzzles votes estimators outcomes K
    closed = gap_closed(values.mean(axis=0), NAMES)[0, 0, 0]
    # random: (2/4 + 1/4) / 2 = 3/8 for every K.
    # K = 2: of six pairs the oracle is right in 5 and in 3, (5/6 + 1/2) / 2 = 2/3; the most confident of a pair is
    # candidate 1, 2, 3 in 3, 2, 1 of them, so C-voting is right in 3 and in 2, (1/2 + 1/3) / 2 = 5/12.
    # K = 4: the oracle is always right, C-voting on the first puzzle only.
    of_two = (Fraction(5, 12) - Fraction(3, 8)) / (Fraction(2, 3) - Fraction(3, 8))
    of_four = (Fraction(1, 2) - Fraction(3, 8)) / (1 - Fraction(3, 8))
    assert (of_two, of_four) == (Fraction(1, 7), Fraction(1, 5))
    assert np.isnan(closed[0]), "one candidate has no gap"
    assert closed[1:] == pytest.approx([1 / 7, 1 / 5], abs=1e-12)
    gaps = with_gap(values[None], NAMES)[:, 0, 0]
    assert gaps.tolist() == [[False, True, True], [False, True, True]]


def slow_outcomes(bank: Bank, vote: str, K: int, estimator: str) -> list[float]:
    """What a vote achieves on each puzzle, candidate by candidate."""
    found = []
    for scores, right in zip(bank.scores["confidence"].tolist(), bank.correct["board"].tolist(), strict=True):
        subsets = [tuple(range(K))] if estimator == "prefix" else list(combinations(range(len(right)), K))
        outcomes = []
        for subset in subsets:
            if vote == "oracle":
                outcomes.append(float(any(right[c] for c in subset)))
            elif vote == "random":
                outcomes.append(sum(right[c] for c in subset) / K)
            else:
                outcomes.append(float(right[max(subset, key=lambda c: (scores[c], -c))]))
        found.append(sum(outcomes) / len(outcomes))
    return found


@pytest.mark.parametrize("training_seeds", [1, 2])
@pytest.mark.parametrize("estimator", ["prefix", "expected"])
@pytest.mark.parametrize("K", [2, 8])
def test_shares_and_intervals_are_those_of_resampled_puzzles_one_by_one(
    bank_file: BankFile, make_bank: Callable[..., Bank], estimator: str, K: int, training_seeds: int
) -> None:
    table = rows([bank_file(f"bank{seed}", training_seed=seed) for seed in range(training_seeds)])
    outcomes = {
        name: [slow_outcomes(make_bank(training_seed=seed), name, K, estimator) for seed in range(training_seeds)]
        for name in NAMES
    }
    rng, drawn = generator("bootstrap", PARAMS.seed), [[1] * training_seeds] * PARAMS.resamples
    if training_seeds > 1:
        drawn = rng.multinomial(training_seeds, [1 / training_seeds] * training_seeds, size=PARAMS.resamples).tolist()
    times = rng.multinomial(12, [1 / 12] * 12, size=PARAMS.resamples).tolist()

    def share(of_seeds: list[int], of_puzzles: list[int]) -> float | None:
        total = {
            name: sum(s * p * value for s, own in zip(of_seeds, found, strict=True)
                      for p, value in zip(of_puzzles, own, strict=True))
            for name, found in outcomes.items()
        }  # fmt: skip
        gap = total["oracle"] - total["random"]
        return (total["confidence"] - total["random"]) / gap if gap > 1e-9 else None

    shares = [share(*both) for both in zip(drawn, times, strict=True)]
    low, high = np.quantile([s for s in shares if s is not None], [0.05, 0.95])
    row = table[(table["vote"] == "confidence") & (table["K"] == K) & (table["estimator"] == estimator)]
    row = row[(row["metric"] == "board") & (row["training_seed"] == ("0" if training_seeds == 1 else "all"))].squeeze()
    assert row["gap_closed"] == pytest.approx(share([1] * training_seeds, [1] * 12), abs=1e-9)
    assert (row["gap_closed_low"], row["gap_closed_high"]) == pytest.approx((low, high), abs=1e-9)
    gaps = (np.array(outcomes["oracle"]) > np.array(outcomes["random"]) + 1e-9).any(axis=0).sum()
    assert row["gap_puzzles"] == gaps
    assert 0 < gaps < 12


def test_the_oracle_closes_the_gap_and_random_choice_nothing_of_it_exactly(bank_file: BankFile, tmp_path: Path) -> None:
    write_voting([bank_file("bank")], PARAMS, TASK, "a-study", tmp_path / "v.csv", tmp_path / "p.csv")
    table = read_csv(tmp_path / "v.csv")
    several = table[(table["K"] > 1) & (table["metric"] != "cell_accuracy")]
    for vote, share in (("oracle", 1), ("random", 0)):
        own = several[several["vote"] == vote]
        assert (own[["gap_closed", "gap_closed_low", "gap_closed_high"]] == share).all(axis=None)
    selecting = several[several["vote"] != "majority_cell"]
    assert (selecting["gap_closed"] <= 1).all()
    assert (several["gap_closed_low"] <= several["gap_closed"] + 1e-9).all()
    one = table[table["K"] == 1]
    assert one[["gap_closed", "gap_closed_low", "gap_closed_high"]].isna().all(axis=None)
    assert (one["gap_puzzles"] == 0).all()
    assert table.groupby(["K", "estimator", "metric"])["gap_puzzles"].nunique().eq(1).all(), "the same for all votes"


def test_where_all_candidates_are_wrong_or_a_reference_is_missing_there_is_no_share(bank_file: BankFile) -> None:
    found = rows([bank_file("bank")], replace(PARAMS, votes=("confidence", "oracle")))
    assert found[list(GAP)].isna().all(axis=None)
    counted = tally([bank_file("bank")], PARAMS, TASK)
    wrong = replace(counted, values={seeds: 0 * values for seeds, values in counted.values.items()})
    found = voting_tables(wrong, PARAMS, "a-study")[0]
    assert found[list(GAP[:3])].isna().all(axis=None)
    assert (found["gap_puzzles"] == 0).all()


@st.composite
def outcomes(draw: st.DrawFn) -> np.ndarray:
    """Puzzles x (a vote, random, oracle) x 1 x 1 x K: shares that are exact, the oracle at least random choice."""
    puzzles, K = draw(st.integers(1, 8)), 2
    random = draw(arrays(np.int64, (puzzles, K), elements=st.integers(0, 8)))
    oracle = np.minimum(8, random + draw(arrays(np.int64, (puzzles, K), elements=st.integers(0, 4))))
    vote = draw(arrays(np.int64, (puzzles, K), elements=st.integers(0, 8)))
    return np.stack([vote, random, oracle], axis=1)[:, :, None, None] / 8


@given(outcomes(), st.randoms())
def test_shares_do_not_depend_on_the_order_of_puzzles_nor_on_puzzles_without_a_gap(values, random) -> None:
    share = gap_closed(values.mean(axis=0), NAMES)
    order = list(range(len(values)))
    random.shuffle(order)
    np.testing.assert_allclose(gap_closed(values[order].mean(axis=0), NAMES), share, atol=1e-12)
    without = np.concatenate([values, np.ones((3, *values.shape[1:])), np.zeros((2, *values.shape[1:]))])
    np.testing.assert_allclose(gap_closed(without.mean(axis=0), NAMES), share, atol=1e-9)
    assert with_gap(without[None], NAMES).sum() == with_gap(values[None], NAMES).sum()


@given(outcomes())
def test_references_are_0_and_1_to_the_last_bit_and_shares_put_votes_in_the_order_of_their_accuracies(values) -> None:
    means = values.mean(axis=0)
    shares = gap_closed(means, NAMES)
    for K in range(2):
        vote, random, oracle = shares[:, 0, 0, K]
        if np.isnan(vote):
            assert means[2, 0, 0, K] - means[1, 0, 0, K] < 1e-12
        else:
            assert (random, oracle) == (0, 1)
            assert (vote > 0) == (means[0, 0, 0, K] > means[1, 0, 0, K])
            assert (vote > 1) == (means[0, 0, 0, K] > means[2, 0, 0, K])


def test_an_interval_is_of_the_resamples_in_which_a_number_is_defined() -> None:
    nan = float("nan")
    draws = np.array([[1, nan, nan], [2, 5, nan], [3, nan, nan], [4, 6, nan]])
    low, high = defined_interval(draws, 0.5)
    np.testing.assert_allclose(low, [1.75, 5.25, nan])
    np.testing.assert_allclose(high, [3.25, 5.75, nan])
