"""Whether intervals contain the truth as often as they say, on simulated rollouts with a fixed seed.

Each test has a control that must fail: an interval that ignores what the right one accounts for.
"""

import numpy as np

from cvoting.seeding import generator
from cvoting.statistics import bootstrap_means, percentile_interval, two_sided_p, wilson

LEVEL, RESAMPLES, SIMULATIONS = 0.95, 400, 500
#: Three standard errors of a share of 0.95 in 500 simulations.
SLACK = 3 * np.sqrt(LEVEL * (1 - LEVEL) / SIMULATIONS)


def share_that_contains(truth: float, low: np.ndarray, high: np.ndarray) -> float:
    """Coverage."""
    return float(np.mean((low <= truth) & (truth <= high)))


def test_wilson_covers_the_accuracy_of_one_draw_where_the_normal_interval_does_not() -> None:
    n, accuracy = 100, 0.98
    hits = generator("wilson coverage").binomial(n, accuracy, 4 * SIMULATIONS)
    low, high = np.array([wilson(int(h), n, LEVEL) for h in hits]).T
    assert share_that_contains(accuracy, low, high) > LEVEL - SLACK
    half = 1.96 * np.sqrt(hits / n * (1 - hits / n) / n)
    assert share_that_contains(accuracy, hits / n - half, hits / n + half) < LEVEL - 0.05


def test_the_bootstrap_over_puzzles_covers_the_expected_accuracy_and_counting_candidates_as_puzzles_does_not() -> None:
    puzzles, M = 150, 16
    rng = generator("bootstrap coverage")
    # The chance to solve a puzzle varies from puzzle to puzzle, beta(2, 1): 2/3 on average.
    ease = rng.beta(2, 1, (SIMULATIONS, puzzles))
    right = rng.random((SIMULATIONS, puzzles, M)) < ease[:, :, None]
    # All simulations are columns: resampled alike, which does not matter to the coverage of each.
    by_puzzle = right.mean(axis=2).T[None]
    low, high = percentile_interval(bootstrap_means(by_puzzle, RESAMPLES, rng), LEVEL)
    assert abs(share_that_contains(2 / 3, low, high) - LEVEL) < SLACK + 0.01
    by_candidate = right.reshape(SIMULATIONS, -1).T[None].astype(float)
    low, high = percentile_interval(bootstrap_means(by_candidate, RESAMPLES, rng), LEVEL)
    assert share_that_contains(2 / 3, low, high) < 0.75


def test_the_paired_test_is_wrong_as_often_as_it_says_and_unpaired_resampling_misses_what_it_finds() -> None:
    puzzles = 200
    rng = generator("paired coverage")
    ease = rng.beta(0.5, 0.5, (SIMULATIONS, puzzles))

    def p_values(advantage: float) -> tuple[np.ndarray, np.ndarray]:
        """Of C against E, C solving puzzles with a larger chance: paired, and with E's puzzles drawn apart."""
        e = rng.binomial(8, ease) / 8
        c = rng.binomial(8, np.clip(ease + advantage, 0, 1)) / 8
        both = np.concatenate([c, e]).T[None]
        draws = bootstrap_means(both, RESAMPLES, rng)
        c_draws, e_draws = draws[:, :SIMULATIONS], draws[:, SIMULATIONS:]
        return two_sided_p(c_draws - e_draws), two_sided_p(c_draws - rng.permutation(e_draws, axis=0))

    paired, _ = p_values(advantage=0)
    assert abs(np.mean(paired < 0.05) - 0.05) < SLACK + 0.01
    paired, unpaired = p_values(advantage=0.04)
    assert np.mean(paired < 0.05) > 0.8
    assert np.mean(unpaired < 0.05) < 0.3


def test_the_two_level_bootstrap_covers_another_training_and_puzzles_alone_do_not() -> None:
    seeds, puzzles, mean = 10, 300, 0.6
    rng = generator("two-level coverage")
    # Accuracy varies between trainings with a standard deviation of 0.05, and between puzzles.
    training = rng.normal(0, 0.05, (seeds, 1, SIMULATIONS))
    ease = rng.beta(6, 4, (1, puzzles, SIMULATIONS))
    right = (rng.random((seeds, puzzles, SIMULATIONS)) < np.clip(ease + training, 0, 1)).astype(float)
    low, high = percentile_interval(bootstrap_means(right, RESAMPLES, rng), LEVEL)
    two_level = share_that_contains(mean, low, high)
    # Ten seeds are few: their bootstrap variance is 9/10 of the right one.
    assert LEVEL - 0.05 < two_level < LEVEL + SLACK
    low, high = percentile_interval(bootstrap_means(right.mean(axis=0, keepdims=True), RESAMPLES, rng), LEVEL)
    assert share_that_contains(mean, low, high) < 0.8
