"""Calibration of a few predictions by hand."""

import math

import numpy as np
import pytest

from cvoting import calibration
from cvoting.calibration import (
    bin_sums,
    brier_score,
    ece,
    fit_temperature,
    mass_edges,
    negative_log_likelihood,
    probabilities,
    reliability,
    risk_coverage,
    width_edges,
)
from cvoting.seeding import generator

#: Of one puzzle: 0 to 0.5 holds 0.3 and 0.5, 0.5 to 1 holds the other three.
CONFIDENCE = np.array([0.9, 0.5, 0.8, 0.3, 0.7])
CORRECT = np.array([True, True, True, False, False])
#: The logits of probabilities 0.25 and 0.75.
LOGITS = np.log([[1.0, 3.0]])


def one_puzzle(confidence: np.ndarray, correct: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The sums of predictions that are all of one puzzle."""
    return bin_sums(confidence, correct, np.zeros(len(confidence), dtype=int), 1, edges)[0]


def test_five_predictions_in_two_bins() -> None:
    sums = one_puzzle(CONFIDENCE, CORRECT, width_edges(2))
    np.testing.assert_allclose(sums, [[2, 3], [0.8, 2.4], [1, 2]])
    # |0.8 - 1| + |2.4 - 2| = 0.6, of 5.
    np.testing.assert_allclose(ece(sums), 0.6 / 5)
    right, confidence = reliability(sums)
    np.testing.assert_allclose(right, [1 / 2, 2 / 3])
    np.testing.assert_allclose(confidence, [0.4, 0.8])


def test_the_same_five_in_bins_of_equal_mass() -> None:
    # Ranks ceil(5/2) = 3: the third smallest, 0.7, is the largest of the first bin.
    edges = mass_edges(CONFIDENCE, 2)
    np.testing.assert_array_equal(edges, [0, 0.7, 1])
    # 0.3, 0.5, 0.7 with one right: |1.5 - 1|; 0.8, 0.9 both right: |1.7 - 2|.
    np.testing.assert_allclose(ece(one_puzzle(CONFIDENCE, CORRECT, edges)), (0.5 + 0.3) / 5)


def test_a_bin_holds_its_upper_edge_and_the_first_one_zero() -> None:
    confidence = np.array([0.0, 0.5, np.nextafter(0.5, 1), 1.0, 1 + 1e-16, np.nextafter(1, 2)])
    assert one_puzzle(confidence, np.ones(6, dtype=bool), width_edges(2))[0].tolist() == [2, 4]


def test_empty_bins_add_nothing_and_have_no_reliability() -> None:
    sums = one_puzzle(CONFIDENCE, CORRECT, np.array([0, 0.1, 0.5, 0.55, 0.6, 1]))
    np.testing.assert_allclose(ece(sums), 0.6 / 5)
    right, confidence = reliability(sums)
    np.testing.assert_allclose(right, [np.nan, 1 / 2, np.nan, np.nan, 2 / 3])
    np.testing.assert_allclose(confidence, [np.nan, 0.4, np.nan, np.nan, 0.8])


@pytest.mark.parametrize(("correct", "error"), [(True, 1 - 0.64), (False, 0.64)])
@pytest.mark.parametrize("edges", [width_edges(1), width_edges(2), width_edges(7), mass_edges(CONFIDENCE, 5)])
def test_all_right_lack_the_rest_of_their_confidence_and_all_wrong_have_it_too_much(
    correct: bool, error: float, edges: np.ndarray
) -> None:
    # The mean confidence is 3.2 / 5 = 0.64, and all bins err in the same direction.
    np.testing.assert_allclose(ece(one_puzzle(CONFIDENCE, np.full(5, correct), edges)), error)


def test_sums_are_those_of_each_puzzle_and_of_a_puzzle_without_predictions_none() -> None:
    sums = bin_sums(CONFIDENCE, CORRECT, np.array([2, 0, 2, 0, 0], dtype=np.uint8), 3, width_edges(2))
    np.testing.assert_allclose(
        sums, [[[2, 1], [0.8, 0.7], [1, 0]], [[0, 0], [0, 0], [0, 0]], [[0, 2], [0, 1.7], [0, 2]]]
    )
    # Puzzle 0: (0.2 + 0.7) / 3.  Puzzle 2: 0.3 / 2.
    np.testing.assert_allclose(ece(sums), [0.3, np.nan, 0.15])


def test_the_sums_of_a_resample_are_weighted_sums() -> None:
    sums = bin_sums(CONFIDENCE, CORRECT, np.array([1, 0, 1, 0, 0]), 2, width_edges(2))
    # Puzzle 1 three times as often as puzzle 0: |0.8 - 1| + |0.7 + 3 * 1.7 - 3 * 2| = 0.4, of 3 + 3 * 2.
    np.testing.assert_allclose(ece(np.tensordot(np.array([[0.25, 0.75]]), sums, axes=1)), [0.4 / 9])


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 10, 99, 100])
def test_bins_of_equal_mass_differ_by_one_prediction_at_most(bins: int) -> None:
    confidence = generator("made-up confidences").random(100)
    edges = mass_edges(confidence, bins)
    assert len(edges) == bins + 1
    counts = one_puzzle(confidence, np.ones(100, dtype=bool), edges)[0]
    assert counts.sum() == 100
    assert counts.max() - counts.min() <= 1


def test_equal_confidences_stay_in_one_bin_so_that_there_are_fewer() -> None:
    np.testing.assert_array_equal(mass_edges(np.full(5, 0.5), 3), [0, 1])
    # Ranks 2, 4 and 6 of eight: 0.2, 0.6 and 0.6.
    confidence = np.array([0.2, 0.2, 0.6, 0.6, 0.6, 0.6, 0.9, 1.0])
    np.testing.assert_array_equal(mass_edges(confidence, 4), [0, 0.2, 0.6, 1])
    # Ranks 1, 1, 2 and 2 of two: every prediction has a bin, and no bin is empty.
    np.testing.assert_array_equal(mass_edges(np.array([0.4, 0.3]), 5), [0, 0.3, 1])


def test_probabilities_at_temperatures_one_and_a_half() -> None:
    np.testing.assert_allclose(probabilities(LOGITS), [[1 / 4, 3 / 4]])
    # Half the temperature squares the odds: 1 : 9.
    np.testing.assert_allclose(probabilities(LOGITS, 0.5), [[1 / 10, 9 / 10]])


def test_the_largest_stored_logits_give_neither_overflow_nor_infinite_loss() -> None:
    logits = np.array([[0, -65504, -65504], [65504, 0, -65504]], dtype=np.float16)
    p = probabilities(logits)
    assert p.dtype == np.float64
    np.testing.assert_array_equal(p, [[1, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(negative_log_likelihood(logits, np.array([1, 2])), [65504, 131008])


def test_brier_score_of_three_classes() -> None:
    p = np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1], [1, 0, 0], [1, 0, 0]])
    # 0.3^2 + 0.2^2 + 0.1^2; 0.7^2 + 0.8^2 + 0.1^2; sure and right; sure and wrong.
    np.testing.assert_allclose(brier_score(p, np.array([0, 1, 0, 1])), [0.14, 1.14, 0, 2], atol=1e-15)
    assert p[0].tolist() == [0.7, 0.2, 0.1], "the argument stays as it was"


def test_negative_log_likelihood_of_odds_one_to_three() -> None:
    two = np.repeat(LOGITS, 2, axis=0)
    np.testing.assert_allclose(negative_log_likelihood(two, np.array([0, 1])), [math.log(4), math.log(4 / 3)])
    np.testing.assert_allclose(
        negative_log_likelihood(two, np.array([0, 1], dtype=np.uint8), 0.5), [math.log(10), math.log(10 / 9)]
    )


def test_the_fitted_temperature_gives_the_mean_probability_that_is_the_share_of_right_ones() -> None:
    # Nine in ten are of class 1: odds 3^(1/T) = 9 at T = 1/2.  Three in four: T = 1.  Two in three: 3^(1/T) = 2.
    for right, n, temperature in [(9, 10, 0.5), (3, 4, 1.0), (2, 3, math.log(3) / math.log(2))]:
        labels = (np.arange(n) < right).astype(int)
        assert fit_temperature(np.repeat(LOGITS, n, axis=0), labels) == pytest.approx(temperature, rel=1e-10)


def test_the_fitted_temperature_stays_within_its_bounds() -> None:
    logits = np.repeat(LOGITS, 10, axis=0)
    all_right, all_wrong = np.ones(10, dtype=int), np.zeros(10, dtype=int)
    assert fit_temperature(logits, all_right) == 0.05
    assert fit_temperature(logits, all_wrong) == 20
    assert fit_temperature(logits, all_right, low=0.5, high=0.7) == 0.5
    # The best, 1, is outside.
    labels = (np.arange(4) < 3).astype(int)
    assert fit_temperature(logits[:4], labels, low=2.0, high=3.0) == 2
    assert fit_temperature(logits[:4], labels, low=0.1, high=0.5) == 0.5
    assert fit_temperature(logits[:4], labels, low=1.5, high=20.0) == 1.5
    assert fit_temperature(np.zeros((3, 2)), np.array([0, 1, 1])) == 0.05, "all are equally good"


@pytest.mark.parametrize("gap", [0.01, 1.0, 60.0, 3000.0, 65504.0])
def test_logits_of_any_size_are_fitted_in_a_few_passes(gap: float, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    counted = calibration._slope_and_curvature
    monkeypatch.setattr(calibration, "_slope_and_curvature", lambda *a: passes.append(a) or counted(*a))
    logits = np.tile([0.0, -gap], (100, 1))
    # Eighty in a hundred right: odds exp(gap / T) = 4.
    fitted = fit_temperature(logits, (np.arange(100) < 20).astype(int), low=1e-6, high=1e6)
    assert fitted == pytest.approx(gap / math.log(4), rel=1e-10)
    assert len(passes) < 40


def test_the_fit_does_not_depend_on_how_many_predictions_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = generator("made-up logits")
    logits = rng.normal(size=(100, 5))
    labels = (logits + rng.normal(size=logits.shape)).argmax(axis=1)
    at_once = fit_temperature(logits, labels)
    assert 0.05 < at_once < 20
    monkeypatch.setattr(calibration, "LOGITS_AT_ONCE", 30)
    assert fit_temperature(logits, labels) == pytest.approx(at_once, rel=1e-12)


def test_risk_and_coverage_of_five_items() -> None:
    confidence = np.array([[0.9, 0.5, 0.8, 0.6, 0.7]])
    wrong = np.array([[0.0, 1, 0, 0, 1]])
    # From the most confident: right, right, wrong, right, wrong; the number of wrong ones is 0, 0, 1, 1, 2.
    risks, areas = risk_coverage(confidence, wrong, np.ones((1, 1)), np.array([0.2, 0.4, 0.5, 0.6, 0.8, 1.0]))
    # At coverage 0.5 half of the third item is covered: 0.5 of 2.5.
    np.testing.assert_allclose(risks, [[0, 0, 0.5 / 2.5, 1 / 3, 1 / 4, 2 / 5]], atol=1e-15)
    # risk(c) is 0 up to 0.4, then (c - 0.4) / c, then 0.2 / c, then (c - 0.6) / c.
    area = (0.2 - 0.4 * math.log(0.6 / 0.4)) + 0.2 * math.log(0.8 / 0.6) + (0.2 - 0.6 * math.log(1 / 0.8))
    np.testing.assert_allclose(areas, [area])


def test_equal_confidences_are_covered_in_a_random_order() -> None:
    confidence = np.array([[0.9, 0.5, 0.5], [0.5, 0.5, 0.1]])
    wrong = np.array([[0.0, 1, 0], [1.0, 1, 1]])
    # Of 1/6 each: right; four of equal confidence, three of them wrong; wrong.
    risks, areas = risk_coverage(confidence, wrong, np.full((1, 2), 0.5), np.array([1, 2, 5, 6]) / 6)
    np.testing.assert_allclose(risks, [[0, 0.75 / 2, 3 / 5, 4 / 6]], atol=1e-15)
    # 0, then 3/4 (c - 1/6) / c up to 5/6, then (c - 2/6) / c.
    area = 3 / 4 * (4 / 6 - math.log(5) / 6) + 1 / 6 - 2 / 6 * math.log(6 / 5)
    np.testing.assert_allclose(areas, [area])


def test_all_of_equal_confidence_have_the_same_risk_at_every_coverage() -> None:
    wrong = np.array([[1.0, 0, 0, 0]])
    risks, areas = risk_coverage(np.full((1, 4), 0.3), wrong, np.ones((1, 1)), np.array([0.01, 0.5, 1]))
    np.testing.assert_allclose(risks, 0.25)
    np.testing.assert_allclose(areas, 0.25)


def test_a_resample_without_a_puzzle_is_that_of_the_others_alone() -> None:
    rng = generator("made-up risks")
    confidence, wrong, coverages = rng.random((3, 4)), rng.random((3, 4)), np.array([0.1, 0.6, 1])
    risks, areas = risk_coverage(confidence, wrong, np.array([[0.5, 0, 0.5], [0, 0, 1]]), coverages)
    two, area_of_two = risk_coverage(confidence[[0, 2]], wrong[[0, 2]], np.full((1, 2), 0.5), coverages)
    one, area_of_one = risk_coverage(confidence[[2]], wrong[[2]], np.ones((1, 1)), coverages)
    np.testing.assert_allclose(risks, np.concatenate([two, one]))
    np.testing.assert_allclose(areas, np.concatenate([area_of_two, area_of_one]))


def test_risks_do_not_depend_on_how_many_resamples_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = generator("made-up risks")
    arguments = rng.random((3, 4)), rng.random((3, 4)), rng.multinomial(3, np.ones(3) / 3, size=7) / 3, np.array([0.5])
    at_once = risk_coverage(*arguments)
    monkeypatch.setattr(calibration, "WEIGHTS_AT_ONCE", 30)
    for several, one in zip(at_once, risk_coverage(*arguments), strict=True):
        np.testing.assert_array_equal(several, one)
