"""Whether the intervals of adaptive voting contain the truth as often as they say, with a control that must fail.

The truth is what the rule achieves on all puzzles there could be, with the thresholds that were chosen.
"""

import numpy as np
import pytest

from cvoting.adaptive import Stopping, by_threshold, crossed_thresholds, fixed
from cvoting.adaptive_bank import MEASURES, Simulated
from cvoting.bank import BankHeader
from cvoting.estimators import rank_weights
from cvoting.seeding import generator
from cvoting.statistics import percentile_interval, puzzle_shares

LEVEL, RESAMPLES, SIMULATIONS, PUZZLES, M, K = 0.95, 300, 300, 80, 12, 8
#: Three standard errors of a share of 0.95 in as many simulations.
SLACK = 3 * np.sqrt(LEVEL * (1 - LEVEL) / SIMULATIONS)
HEADER = BankHeader("a-run", "akorn", "sudoku_hard", "test", "generated", "made up", 32, 0, 0)
ALL_K = list(range(1, K + 1))


def candidates(puzzles: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Confidence and correctness: right candidates are more confident, and so are those of easy puzzles."""
    ease = rng.beta(1, 1, (puzzles, 1))
    right = rng.random((puzzles, M)) < ease
    return 0.4 * ease + 0.3 * right + 0.3 * rng.normal(size=right.shape), right[None].astype(float)


def simulated(confidence: np.ndarray, right: np.ndarray, thresholds: np.ndarray) -> Simulated:
    """The rule of a threshold for each puzzle, beside C-voting."""
    order = np.argsort(-confidence, axis=1)
    curve = np.take_along_axis(right[0], order, axis=1) @ rank_weights(M, ALL_K)
    stopping = by_threshold(confidence, right, thresholds, K)
    return Simulated(
        HEADER, [str(p) for p in range(len(confidence))], [{}], thresholds, stopping, curve[..., None], ALL_K
    )


def truths(halves: np.ndarray, confidence: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The numbers of a great many puzzles, each half of which has the threshold of one half."""
    half = np.arange(len(confidence)) % 2
    once = np.full((1, len(confidence)), 1 / len(confidence))
    return simulated(confidence, right, halves[half]).numbers(0, once)[0]


@pytest.mark.slow
def test_intervals_cover_the_truth_and_counting_orders_as_puzzles_does_not() -> None:
    rng = generator("adaptive coverage")
    everything = candidates(4000, rng)
    covered = {"puzzles": np.zeros(len(MEASURES)), "orders": np.zeros(len(MEASURES))}
    for _ in range(SIMULATIONS):
        confidence, right = candidates(PUZZLES, rng)
        thresholds = crossed_thresholds(confidence, np.arange(PUZZLES) % 2, [2.5], K)
        found, truth = simulated(confidence, right, thresholds), truths(thresholds[:2], *everything)
        for unit, copies in (("puzzles", 1), ("orders", 6)):
            # Puzzles that are counted once for each of several orders of their candidates.
            drawn = [shares for _, shares in puzzle_shares(PUZZLES * copies, RESAMPLES, rng)]
            shares = np.concatenate(drawn).reshape(RESAMPLES, copies, PUZZLES).sum(axis=1)
            low, high = percentile_interval(found.numbers(0, shares), LEVEL)
            covered[unit] += (low <= truth) & (truth <= high)
    # 4,000 puzzles are not quite all there could be.
    assert (np.abs(covered["puzzles"] / SIMULATIONS - LEVEL) < SLACK + 0.02).all(), covered
    assert (covered["orders"] / SIMULATIONS < 0.75).all(), covered


@pytest.mark.parametrize("informed", [True, False], ids=["between puzzles", "within puzzles only"])
def test_a_threshold_helps_only_where_confidence_tells_easy_puzzles_from_hard_ones(informed: bool) -> None:
    rng = generator("adaptive gain")
    confidence, right = candidates(3000, rng)
    if not informed:
        # Only the order within a puzzle is left: all that C-voting uses, and nothing that tells when to stop.
        confidence = confidence.argsort(axis=1).argsort(axis=1) + rng.normal(0, 100, (len(confidence), 1))
    thresholds = crossed_thresholds(confidence, np.arange(3000) % 2, [2.5], K)
    found = simulated(confidence, right, thresholds)
    shares = np.concatenate([shares for _, shares in puzzle_shares(3000, RESAMPLES, rng)])
    low, high = percentile_interval(found.numbers(0, shares)[:, MEASURES.index("difference")], LEVEL)
    assert low > 0 if informed else high < 0


def test_a_rule_of_a_fixed_number_gains_nothing_over_itself() -> None:
    confidence, right = candidates(50, generator("adaptive null"))
    found = simulated(confidence, right, np.full((50, 1), np.inf))
    three = Stopping.joined([fixed(found.curve[:, 2:3], [3]), found.stopping], axis=1)
    again = Simulated(HEADER, found.puzzles, [{}, {}], found.thresholds, three, found.curve, ALL_K)
    shares = np.concatenate([shares for _, shares in puzzle_shares(50, RESAMPLES, generator("adaptive shares"))])
    np.testing.assert_allclose(again.numbers(0, shares)[:, -2:], 0, atol=1e-12)
