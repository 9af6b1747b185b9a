"""Calibration and discrimination against slow second implementations that follow the definitions, and their laws."""

from collections.abc import Sequence
from itertools import product
from math import exp, isnan, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

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
from cvoting.discrimination import auroc_between, auroc_within, spread
from cvoting.seeding import generator

SEEDS = st.integers(0, 2**32 - 1)
#: Few different values, so that there are ties of every kind, many of them on edges of bins.
LEVELS = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.75, 0.9, 1.0])
QUICK = settings(max_examples=60, deadline=None)


@st.composite
def candidates(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, correctness and whole numbers of copies of a few puzzles, in two resamples."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 5)))
    copies = draw(arrays(np.int64, (2, shape[0]), elements=st.integers(0, 3)))
    copies[copies.sum(axis=1) == 0] = 1
    return draw(arrays(np.float64, shape, elements=LEVELS)), draw(arrays(np.bool_, shape)), copies


def logits_and_labels(seed: int, n: int = 60, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Made-up logits, and labels that they predict somewhat."""
    rng = generator("made-up logits", seed)
    logits = rng.normal(size=(n, classes)) * rng.choice([0.3, 1, 5])
    return logits, (logits + rng.normal(size=logits.shape)).argmax(axis=1)


def slow_ece(confidence: Sequence[float], correct: Sequence[bool], edges: Sequence[float]) -> float:
    """sum_b n_b / n |share of right - mean confidence|, bin by bin."""
    total = 0.0
    for b in range(len(edges) - 1):
        inside = [i for i, c in enumerate(confidence) if edges[b] < c <= edges[b + 1] or (b == 0 and c == 0)]
        if inside:
            right, mean = np.mean([correct[i] for i in inside]), np.mean([confidence[i] for i in inside])
            total += len(inside) / len(confidence) * abs(right - mean)
    return total


@QUICK
@given(candidates(), st.integers(1, 8), st.booleans())
def test_ece_is_that_of_a_loop_over_bins(
    made: tuple[np.ndarray, np.ndarray, np.ndarray], bins: int, equal_mass: bool
) -> None:
    confidence, correct, copies = made
    puzzle = np.repeat(np.arange(len(confidence)), confidence.shape[1])
    edges = mass_edges(confidence.ravel(), bins) if equal_mass else width_edges(bins)
    sums = bin_sums(confidence.ravel(), correct.ravel(), puzzle, len(confidence), edges)
    fast = ece(np.tensordot(copies / copies.sum(axis=1, keepdims=True), sums, axes=1))
    for error, count in zip(fast, copies, strict=True):
        # A puzzle of weight 3 is one that is there three times.
        repeated = [np.repeat(values, count, axis=0).ravel() for values in (confidence, correct)]
        assert error == pytest.approx(slow_ece(*repeated, edges), abs=1e-12)
        assert 0 <= error <= 1


@QUICK
@given(candidates(), SEEDS)
def test_ece_does_not_depend_on_the_order_of_predictions(
    made: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int
) -> None:
    confidence, correct = made[0].ravel(), made[1].ravel()
    order, puzzle = generator("orders", seed).permutation(len(confidence)), np.zeros(len(confidence), dtype=int)
    one, other = (bin_sums(confidence[o], correct[o], puzzle, 1, width_edges(5))[0] for o in (slice(None), order))
    np.testing.assert_allclose(ece(one), ece(other), atol=1e-15)


@QUICK
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=5))
def test_ece_is_zero_where_the_confidence_of_each_bin_is_its_share_of_right_ones(bins: list[tuple[int, int]]) -> None:
    groups = [(min(right, n) / n, [i < right for i in range(n)]) for right, n in bins]
    confidence = np.concatenate([np.full(len(correct), share) for share, correct in groups])
    correct = np.concatenate([correct for _, correct in groups])
    sums = bin_sums(confidence, correct, np.zeros(len(correct), dtype=int), 1, width_edges(100))[0]
    np.testing.assert_allclose(ece(sums), 0, atol=1e-15)
    np.testing.assert_allclose(*reliability(sums), atol=1e-15)


@QUICK
@given(SEEDS, st.floats(0.1, 10))
def test_probabilities_losses_and_scores_are_those_of_a_loop(seed: int, temperature: float) -> None:
    logits, labels = logits_and_labels(seed, n=5)
    p = probabilities(logits, temperature)
    for i, label in enumerate(labels):
        weights = [exp(z / temperature) for z in logits[i]]
        slow = [w / sum(weights) for w in weights]
        np.testing.assert_allclose(p[i], slow)
        nll = negative_log_likelihood(logits, labels, temperature)[i]
        assert nll == pytest.approx(-log(slow[label]), abs=1e-12)
        brier = sum((q - (j == label)) ** 2 for j, q in enumerate(slow))
        assert brier_score(p, labels)[i] == pytest.approx(brier, abs=1e-12)


@QUICK
@given(SEEDS, st.floats(0.05, 20))
def test_temperature_changes_no_prediction_and_orders_confidences_of_one_prediction(seed: int, t: float) -> None:
    logits, _ = logits_and_labels(seed)
    p, hotter = probabilities(logits, t), probabilities(logits, 1.1 * t)
    np.testing.assert_array_equal(p.argmax(axis=1), logits.argmax(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (hotter.max(axis=1) <= p.max(axis=1) + 1e-15).all()


@QUICK
@given(SEEDS)
def test_no_other_temperature_has_a_smaller_loss_than_the_fitted_one(seed: int) -> None:
    logits, labels = logits_and_labels(seed)
    least = negative_log_likelihood(logits, labels, fit_temperature(logits, labels)).mean()
    others = np.geomspace(0.05, 20, 50)
    assert all(least <= negative_log_likelihood(logits, labels, t).mean() + 1e-12 for t in others.tolist())


@QUICK
@given(SEEDS, st.floats(0.01, 100))
def test_the_fitted_temperature_scales_with_the_logits_and_ignores_constants(seed: int, scale: float) -> None:
    logits, labels = logits_and_labels(seed)
    fitted = fit_temperature(logits, labels, 1e-3, 1e3)
    scaled = fit_temperature(scale * logits + logits[:, :1], labels, scale * 1e-3, scale * 1e3)
    assert scaled == pytest.approx(scale * fitted, rel=1e-9)


def slow_risk_coverage(
    confidence: Sequence[float], wrong: Sequence[float], coverages: Sequence[float]
) -> tuple[list[float], float]:
    """Items one by one, those of equal confidence with the mean of their losses; the area by Simpson's rule."""
    n = len(confidence)
    mean = {c: np.mean([w for d, w in zip(confidence, wrong, strict=True) if d == c]) for c in confidence}
    losses = [mean[c] for c in sorted(confidence, reverse=True)]

    def risk(coverage: float) -> float:
        parts = [min(1.0, max(0.0, coverage * n - i)) for i in range(n)]
        return sum(part * loss for part, loss in zip(parts, losses, strict=True)) / (coverage * n)

    # The risk is smooth between k / n and (k + 1) / n, and constant before 1 / n.
    area, pieces = losses[0] / n, 40
    for k in range(1, n):
        x = np.linspace(k / n, (k + 1) / n, pieces + 1)
        weights = np.array([1, *[4, 2] * (pieces // 2 - 1), 4, 1]) / (3 * pieces * n)
        area += weights @ [risk(c) for c in x]
    return [risk(c) for c in coverages], area


@settings(max_examples=25, deadline=None)
@given(candidates())
def test_risk_and_area_are_those_of_a_loop_over_items(made: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    confidence, right, copies = made
    coverages = np.array([0.01, 1 / 3, 0.5, 0.9, 1])
    risks, areas = risk_coverage(
        confidence, (~right).astype(float), copies / copies.sum(axis=1, keepdims=True), coverages
    )
    for fast, area, count in zip(risks, areas, copies, strict=True):
        repeated = [np.repeat(values, count, axis=0).ravel().tolist() for values in (confidence, ~right)]
        slow, slow_area = slow_risk_coverage(*repeated, coverages)
        np.testing.assert_allclose(fast, slow, atol=1e-12)
        assert area == pytest.approx(slow_area, abs=1e-6)
        assert fast[-1] == pytest.approx(np.mean(repeated[1])), "all are covered: the share of wrong ones"


@QUICK
@given(candidates())
def test_losses_that_confidence_orders_best_have_the_least_area(
    made: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    confidence, right, copies = made
    shares, wrong = copies / copies.sum(axis=1, keepdims=True), (~right).astype(float)
    areas = [risk_coverage(c, wrong, shares, np.array([1.0]))[1] for c in (-wrong, confidence, wrong)]
    assert (np.diff(areas, axis=0) >= -1e-12).all()


def slow_auroc(scores: np.ndarray, correct: np.ndarray, weights: np.ndarray) -> float:
    """Over all pairs of candidates (p, i), (q, j) with a weight of their puzzles."""
    won = pairs = 0.0
    for (p, i), (q, j) in product(np.ndindex(scores.shape), repeat=2):
        if correct[p, i] and not correct[q, j]:
            pairs += weights[p, q]
            won += weights[p, q] * ((scores[p, i] > scores[q, j]) + (scores[p, i] == scores[q, j]) / 2)
    return won / pairs if pairs else float("nan")


@QUICK
@given(candidates())
def test_auroc_is_that_of_a_loop_over_pairs(made: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    scores, correct, copies = made
    shares = copies / copies.sum(axis=1, keepdims=True)
    slow = [slow_auroc(s[None], c[None], np.ones((1, 1))) for s, c in zip(scores, correct, strict=True)]
    np.testing.assert_allclose(auroc_within(scores, correct), slow, atol=1e-12)
    slow = [slow_auroc(scores, correct, np.outer(count, count) * (1 - np.eye(len(count)))) for count in copies]
    np.testing.assert_allclose(auroc_between(scores, correct, shares), slow, atol=1e-12)


@QUICK
@given(candidates())
def test_auroc_depends_on_the_order_of_scores_alone_and_mirrors_with_it(
    made: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    scores, correct, copies = made
    shares = copies / copies.sum(axis=1, keepdims=True)
    for auroc in (auroc_within, lambda s, c: auroc_between(s, c, shares)):
        of_scores = auroc(scores, correct)
        np.testing.assert_array_equal(auroc(np.exp(3 * scores) - 7, correct), of_scores)
        np.testing.assert_allclose(auroc(-scores, correct), 1 - of_scores, atol=1e-12)
        np.testing.assert_allclose(auroc(scores, ~correct), 1 - of_scores, atol=1e-12)
        assert all(isnan(a) or -1e-12 <= a <= 1 + 1e-12 for a in of_scores)


@QUICK
@given(candidates())
def test_spread_is_that_of_the_marked_scores_laid_out(made: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    scores, among, _ = made
    slow = [np.std(s[a], ddof=1) if a.sum() > 1 else np.nan for s, a in zip(scores, among, strict=True)]
    np.testing.assert_allclose(spread(scores, among), slow, atol=1e-15)
