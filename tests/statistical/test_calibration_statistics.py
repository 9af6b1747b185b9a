"""Whether calibration and discrimination find what is there in simulated predictions with a fixed seed.

Each test has a control that must come out the other way.
"""

import numpy as np

from cvoting.calibration import (
    bin_sums,
    ece,
    fit_temperature,
    mass_edges,
    negative_log_likelihood,
    probabilities,
    risk_coverage,
    width_edges,
)
from cvoting.discrimination import auroc_between, auroc_within, spread
from cvoting.seeding import generator
from cvoting.statistics import percentile_interval, puzzle_shares

LEVEL, RESAMPLES, SIMULATIONS = 0.95, 150, 200
#: Three standard errors of a share of 0.95 in that many simulations.
SLACK = 3 * np.sqrt(LEVEL * (1 - LEVEL) / SIMULATIONS)


def drawn_labels(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A class of each prediction with its probability."""
    return np.minimum((p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1), p.shape[1] - 1)


def calibration_error(confidence: np.ndarray, correct: np.ndarray, edges: np.ndarray) -> float:
    """The expected calibration error of all predictions."""
    return ece(bin_sums(confidence, correct, np.zeros(len(correct), dtype=int), 1, edges)[0]).item()


def test_the_temperature_that_labels_were_drawn_at_is_found_and_another_is_not() -> None:
    rng = generator("temperature of labels")
    logits = 4 * rng.normal(size=(20_000, 9))
    fitted = {t: fit_temperature(logits, drawn_labels(probabilities(logits, t), rng)) for t in (1.0, 2.0)}
    # The standard error of T is about 0.02 at T = 2.
    assert abs(fitted[2.0] - 2) < 0.06
    assert abs(fitted[1.0] - 1) < 0.03


def test_stored_logits_of_float16_are_fitted_the_same() -> None:
    rng = generator("temperature of stored logits")
    logits = 4 * rng.normal(size=(5_000, 9))
    labels = drawn_labels(probabilities(logits, 2.0), rng)
    stored = (logits - logits.max(axis=1, keepdims=True)).astype(np.float16)
    fitted, of_stored = fit_temperature(logits, labels), fit_temperature(stored, labels)
    assert abs(of_stored / fitted - 1) < 1e-3
    losses = [negative_log_likelihood(z, labels, 2.0).mean() for z in (logits, stored)]
    assert abs(losses[0] - losses[1]) < 1e-3


def test_ece_at_the_right_temperature_is_within_sampling_noise_and_off_by_a_tenth_is_far_above() -> None:
    rng = generator("noise of ece")
    logits = 4 * rng.normal(size=(4_000, 9))
    p = probabilities(logits, 2.0)
    confidence, predicted = p.max(axis=1), p.argmax(axis=1)
    correct = drawn_labels(p, rng) == predicted
    for edges in (width_edges(15), mass_edges(confidence, 15)):
        # What it is when confidences are exactly the chances of being right.
        noise = [calibration_error(confidence, rng.random(4_000) < confidence, edges) for _ in range(200)]
        limit = np.quantile(noise, 0.99)
        assert limit < 0.04
        assert calibration_error(confidence, correct, edges) < limit
        off = np.maximum(confidence - 0.1, 0)
        assert calibration_error(off, correct, edges) > 2 * limit
        overconfident = probabilities(logits, 1.0).max(axis=1)
        assert calibration_error(overconfident, correct, edges) > 2 * limit


def predicted_puzzles(puzzles: int, items: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Confidences and errors; puzzles differ in their confidence, and in how much of it is justified."""
    confidence = np.clip(rng.beta(4, 2, (puzzles, 1)) + rng.normal(0, 0.05, (puzzles, items)), 0.01, 1)
    chance = np.clip(confidence - 0.2 + rng.normal(0, 0.25, (puzzles, 1)), 0, 1)
    return confidence, (rng.random((puzzles, items)) > chance).astype(float)


def test_the_bootstrap_over_puzzles_covers_area_and_ece_and_counting_items_as_puzzles_does_not() -> None:
    puzzles, items, edges = 40, 12, width_edges(4)
    rng = generator("coverage of calibration")

    def area_and_ece(confidence: np.ndarray, wrong: np.ndarray, resamples: int) -> np.ndarray:
        """Both, [2, resamples], of resampled rows, or of the rows themselves where none are asked for."""
        rows = np.repeat(np.arange(len(confidence)), confidence.shape[1])
        sums = bin_sums(confidence.ravel(), wrong.ravel() == 0, rows, len(confidence), edges)
        itself = [(slice(0, 1), np.full((1, len(confidence)), 1 / len(confidence)))]
        drawn = puzzle_shares(len(confidence), resamples, rng) if resamples else itself
        return np.concatenate(
            [
                [risk_coverage(confidence, wrong, shares, np.array([1.0]))[1], ece(np.tensordot(shares, sums, 1))]
                for _, shares in drawn
            ],
            axis=1,
        )

    truth = area_and_ece(*predicted_puzzles(20_000, items, rng), 0)
    covered = []
    for _ in range(SIMULATIONS):
        confidence, wrong = predicted_puzzles(puzzles, items, rng)
        for shape in ((puzzles, items), (puzzles * items, 1)):
            draws = area_and_ece(confidence.reshape(shape), wrong.reshape(shape), RESAMPLES)
            low, high = percentile_interval(draws.T, LEVEL)
            covered.append((low <= truth[:, 0]) & (truth[:, 0] <= high))
    by_puzzle, by_item = np.mean(np.reshape(covered, (SIMULATIONS, 2, 2)), axis=0)
    # Forty puzzles are few for a percentile interval.
    assert (by_puzzle > LEVEL - SLACK - 0.03).all()
    assert (by_item < 0.8).all()


def test_a_score_that_knows_easy_puzzles_tells_puzzles_apart_and_candidates_not() -> None:
    puzzles, M = 400, 32
    rng = generator("discrimination")
    ease = rng.beta(2, 2, (puzzles, 1))
    correct = rng.random((puzzles, M)) < ease
    sample = np.full((1, puzzles), 1 / puzzles)

    def aurocs(scores: np.ndarray) -> tuple[float, float]:
        return float(np.nanmean(auroc_within(scores, correct))), auroc_between(scores, correct, sample).item()

    noise = rng.normal(size=(puzzles, M))
    within, between = aurocs(noise)
    assert abs(within - 0.5) < 0.02
    assert abs(between - 0.5) < 0.02
    within, between = aurocs(10 * ease + 0.1 * noise)
    assert abs(within - 0.5) < 0.02
    assert between > 0.7
    within, between = aurocs(correct + noise)
    assert within > 0.7
    assert between > 0.7


def test_the_spread_of_normal_scores_is_their_standard_deviation_and_of_the_divisor_n_too_small() -> None:
    rng = generator("spread")
    scores = rng.normal(0, 3, (4000, 5))
    variances = spread(scores, np.ones(scores.shape, dtype=bool)) ** 2
    # The standard error of the mean variance is 9 sqrt(2 / 4 / 4000) = 0.1.
    assert abs(variances.mean() - 9) < 0.3
    assert abs(variances.mean() * 4 / 5 - 9) > 1
