"""Intervals and p-values against hand calculation and slower second implementations."""

import numpy as np
import pytest
from scipy.stats import binomtest

from cvoting import statistics
from cvoting.seeding import generator
from cvoting.statistics import bootstrap_means, percentile_interval, two_sided_p, wilson


def test_wilson_of_eight_in_ten() -> None:
    # z = 1.96: (0.8 + 0.19207 +- 1.96 sqrt(0.016 + 0.0096)) / 1.38415
    assert wilson(8, 10, 0.95) == pytest.approx((0.4902, 0.9433), abs=1e-4)


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (0, 10), (1, 1), (10, 10), (3, 7), (250, 500), (17999, 18000)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_wilson_is_scipys(successes: int, n: int, level: float) -> None:
    interval = binomtest(successes, n).proportion_ci(level, method="wilson")
    assert wilson(successes, n, level) == pytest.approx((interval.low, interval.high), abs=1e-12)


def values(seeds: int, puzzles: int, columns: int) -> np.ndarray:
    """Made-up outcomes."""
    return generator("made-up outcomes").random((seeds, puzzles, columns))


def test_resampled_means_of_one_training_seed_are_weighted_means_of_its_puzzles() -> None:
    outcomes = values(1, 7, 3)
    shares = generator("test").multinomial(7, np.full(7, 1 / 7), size=50) / 7
    slow = [[sum(w * x for w, x in zip(s, outcomes[0, :, c], strict=True)) for c in range(3)] for s in shares]
    np.testing.assert_allclose(bootstrap_means(outcomes, 50, generator("test")), slow, atol=1e-14)


def test_every_drawn_training_seed_meets_every_drawn_puzzle() -> None:
    outcomes = values(3, 7, 2)
    rng = generator("test")
    seed_shares = rng.multinomial(3, np.full(3, 1 / 3), size=50) / 3
    puzzle_shares = rng.multinomial(7, np.full(7, 1 / 7), size=50) / 7
    slow = np.einsum("bs,bp,spc->bc", seed_shares, puzzle_shares, outcomes)
    np.testing.assert_allclose(bootstrap_means(outcomes, 50, generator("test")), slow, atol=1e-14)


@pytest.mark.parametrize("seeds", [1, 2])
def test_resamples_do_not_depend_on_how_many_are_drawn_at_once(seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = bootstrap_means(values(seeds, 7, 2), 50, generator("test"))
    monkeypatch.setattr(statistics, "SHARES_AT_ONCE", 30)
    np.testing.assert_allclose(bootstrap_means(values(seeds, 7, 2), 50, generator("test")), at_once, atol=1e-14)


def test_resamples_are_the_same_for_all_columns_so_that_equal_columns_never_differ() -> None:
    outcomes = np.repeat(values(2, 9, 1), 2, axis=2)
    draws = bootstrap_means(outcomes, 100, generator("test"))
    np.testing.assert_array_equal(draws[:, 0], draws[:, 1])
    assert draws.std() > 0


def test_constant_outcomes_have_an_interval_of_no_width() -> None:
    draws = bootstrap_means(np.full((1, 9, 1), 0.25), 100, generator("test"))
    np.testing.assert_allclose(percentile_interval(draws, 0.95).ravel(), [0.25, 0.25], atol=1e-15)


def test_trainings_that_differ_widen_the_interval_where_puzzles_do_not() -> None:
    outcomes = np.array([[[0.0]] * 20, [[1.0]] * 20])
    low, high = percentile_interval(bootstrap_means(outcomes, 400, generator("test")), 0.95).ravel()
    assert (low, high) == pytest.approx((0, 1)), "each of the two seeds is drawn twice a quarter of the time"


def test_the_percentile_interval_cuts_half_of_the_rest_on_either_side() -> None:
    draws = np.arange(101.0)[:, None]
    np.testing.assert_allclose(percentile_interval(draws, 0.9).ravel(), [5, 95])


def test_p_counts_the_resamples_on_the_other_side_of_zero() -> None:
    # 2 of 9 at or below 0: 2 (1 + 2) / (1 + 9) = 0.6; none: 2 / 10; all zero, and even rounding errors: 1.
    draws = np.array([[-1, 0, *[1] * 7], [2] * 9, [0] * 9, [1e-16, *[-1e-17] * 8]]).T
    np.testing.assert_allclose(two_sided_p(draws), [0.6, 0.2, 1, 1])


def test_p_does_not_depend_on_which_of_two_votes_is_subtracted() -> None:
    draws = generator("test").normal(0.5, 1, (200, 4))
    np.testing.assert_array_equal(two_sided_p(draws), two_sided_p(-draws))
