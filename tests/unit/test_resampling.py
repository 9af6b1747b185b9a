"""Resampled numbers: those of a mean are the voting table's, and what is undefined stays out."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from cvoting import statistics
from cvoting.resampling import Resampled, resampled
from cvoting.seeding import generator
from cvoting.statistics import bootstrap_means, percentile_interval, puzzle_shares

RESAMPLES, LEVEL, SEED = 200, 0.9, 7


def numbers(statistics: list[Callable[[np.ndarray], np.ndarray]], puzzles: int) -> list[Resampled]:
    """Of training seeds 0, 1, ..."""
    return list(resampled(dict(enumerate(statistics)), puzzles, RESAMPLES, LEVEL, SEED))


def mean_of(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The mean over puzzles."""
    return lambda shares: shares @ values


def shares_of(puzzles: int) -> np.ndarray:
    """Those of one training seed."""
    ((_, shares),) = puzzle_shares(puzzles, RESAMPLES, generator("bootstrap", SEED))
    return shares


@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_a_mean_has_the_interval_of_the_bootstrap_of_means(seeds: int) -> None:
    values = generator("made-up outcomes", seeds).random((seeds, 11, 3))
    found = numbers([mean_of(of_seed) for of_seed in values], 11)[-1]
    draws = bootstrap_means(values, RESAMPLES, generator("bootstrap", SEED))
    np.testing.assert_allclose([found.low, found.high], percentile_interval(draws, LEVEL), atol=1e-14)
    np.testing.assert_allclose(found.value, values.mean(axis=(0, 1)), atol=1e-14)


def test_every_training_seed_comes_by_itself_and_then_their_mean() -> None:
    values = generator("made-up outcomes").random((3, 11, 1))
    found = numbers([mean_of(of_seed) for of_seed in values], 11)
    assert [(n.training_seed, n.interval) for n in found] == [
        *((str(seed), "puzzles only") for seed in range(3)),
        ("all", "training seeds and puzzles"),
    ]
    np.testing.assert_allclose([n.value for n in found[:3]], values.mean(axis=1))
    assert [n.training_seed for n in numbers([mean_of(values[0])], 11)] == ["0"]


def test_training_seeds_that_differ_widen_the_interval_of_their_mean_alone() -> None:
    values = generator("made-up outcomes").random((11, 1))
    alike, apart = (numbers([mean_of(values), mean_of(values + gap)], 11) for gap in (0, 10))
    np.testing.assert_array_equal(alike[0].low, apart[0].low)
    np.testing.assert_allclose(alike[2].high - alike[2].low, alike[0].high - alike[0].low)
    assert (apart[2].high - apart[2].low > 5).all()


def test_a_number_that_some_resamples_lack_has_the_interval_of_the_others() -> None:
    values = np.arange(5.0)

    def of_first(shares: np.ndarray) -> np.ndarray:
        """A mean, and the same where the first puzzle was drawn."""
        mean = shares @ values
        return np.stack([mean, np.where(shares[:, 0] > 0, mean, np.nan)], axis=1)

    (found,) = numbers([of_first], 5)
    shares = shares_of(5)
    drawn = shares[:, 0] > 0
    assert 0.5 < drawn.mean() < 0.8, "1 - (4/5)^5 = 0.67"
    every = shares @ values
    low, high = (np.quantile(every, q) for q in (0.05, 0.95))
    low_drawn, high_drawn = (np.quantile(every[drawn], q) for q in (0.05, 0.95))
    np.testing.assert_allclose([found.low, found.high], [[low, low_drawn], [high, high_drawn]])
    assert found.value.tolist() == [2, 2]


def test_what_is_undefined_everywhere_is_empty_without_a_warning() -> None:
    with warnings.catch_warnings(action="error"):
        found = numbers([lambda shares: np.full((len(shares), 2), [1.0, np.nan])] * 2, 5)
    for n in found:
        np.testing.assert_array_equal([n.value, n.low, n.high], [[1, np.nan]] * 3)


def test_training_seeds_of_which_one_lacks_a_number_have_the_mean_of_the_others() -> None:
    values = generator("made-up outcomes").random((2, 7, 1))
    lacking = lambda shares: np.full((len(shares), 1), np.nan)  # noqa: E731
    *_, found = numbers([mean_of(values[0]), lacking, mean_of(values[1])], 7)
    np.testing.assert_allclose(found.value, values.mean(axis=(0, 1)))
    assert found.low < found.value < found.high
    rng = generator("bootstrap", SEED)
    seeds = statistics.seed_shares(3, RESAMPLES, rng)
    ((_, shares),) = puzzle_shares(7, RESAMPLES, rng)
    draws = []
    for of_seeds, of_puzzles in zip(seeds, shares, strict=True):
        weights = of_seeds[[0, 2]]
        if weights.sum():
            draws.append(sum(w * (of_puzzles @ v)[0] for w, v in zip(weights, values, strict=True)) / weights.sum())
    assert len(draws) < RESAMPLES, "in some resamples the lacking seed is all there is"
    np.testing.assert_allclose([found.low[0], found.high[0]], percentile_interval(np.array(draws), LEVEL))


def test_numbers_do_not_depend_on_how_many_resamples_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values = generator("made-up outcomes").random((2, 11, 2))
    once = numbers([mean_of(of_seed) for of_seed in values], 11)
    monkeypatch.setattr(statistics, "SHARES_AT_ONCE", 50)
    for one, two in zip(once, numbers([mean_of(of_seed) for of_seed in values], 11), strict=True):
        np.testing.assert_allclose([one.low, one.high], [two.low, two.high], atol=1e-14)


def test_another_bootstrap_seed_gives_other_intervals_and_the_same_values() -> None:
    statistic = {0: mean_of(generator("made-up outcomes").random((11, 1)))}
    one, two = (next(resampled(statistic, 11, RESAMPLES, LEVEL, seed)) for seed in (0, 1))
    assert one.value == two.value
    assert one.low != two.low
