"""Intervals and tests: what of a number would change with other puzzles, or with another training.

A number is the mean over puzzles of one outcome per puzzle.  The puzzle is the unit that is drawn at random; candidates
share their puzzle's difficulty, so no interval counts them.
"""

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

#: Puzzles times resamples held at once: bounds the memory of the bootstrap.
SHARES_AT_ONCE = 2**21
#: Differences this small are rounding errors of sums in another order.
ROUNDING = 1e-12


def wilson(successes: int, n: int, level: float) -> tuple[float, float]:
    """Wilson's score interval of a share.

    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), z the normal quantile of (1 + level) / 2.
    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference.

    Args:
        successes: how many of n independent trials succeeded.
        n: number of trials, at least 1.
        level: confidence level.
    """
    z, p = ndtri((1 + level) / 2), successes / n
    half = z * math.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    centre, scale = p + z**2 / (2 * n), 1 + z**2 / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def bootstrap_means(
    values: Float[np.ndarray, "training_seeds puzzles columns"], resamples: int, rng: np.random.Generator
) -> Float[np.ndarray, "resamples columns"]:
    """Means of resampled outcomes; a resample is the same for all columns, so that their differences are paired.

    A resample draws the puzzles with replacement and, where there are several, the training seeds too: every drawn seed
    meets every drawn puzzle, as in the data.
    Source: Owen (2007), The pigeonhole bootstrap.

    Args:
        values: the outcome of each puzzle in each column (a vote and a K), for each training seed.
        resamples: how many.
        rng: the source of randomness.
    """
    seeds, puzzles, columns = values.shape
    of_seeds = seed_shares(seeds, resamples, rng)
    means = np.empty((resamples, columns))
    for rows, shares in puzzle_shares(puzzles, resamples, rng):
        means[rows] = sum(of_seeds[rows, s, None] * (shares @ values[s]) for s in range(seeds))
    return means


def seed_shares(seeds: int, resamples: int, rng: np.random.Generator) -> Float[np.ndarray, "resamples seeds"]:
    """The share of each training seed in each resample; 1 where there is but one, which takes nothing from `rng`.

    Args:
        seeds: how many there are, and how many a resample draws with replacement.
        resamples: how many.
        rng: the source of randomness.
    """
    if seeds == 1:
        return np.ones((resamples, 1))
    return rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples) / seeds


def puzzle_shares(
    puzzles: int, resamples: int, rng: np.random.Generator
) -> Iterator[tuple[slice, Float[np.ndarray, "draws puzzles"]]]:
    """The share of each puzzle in each resample, a chunk of resamples at a time, with the resamples that it is.

    For numbers that are no mean over puzzles: weigh what each puzzle holds by its share.  How many are drawn at once
    (`SHARES_AT_ONCE`) changes no share.

    Args:
        puzzles: how many there are, and how many a resample draws with replacement.
        resamples: how many.
        rng: the source of randomness.
    """
    for rows in chunks(resamples, puzzles, SHARES_AT_ONCE):
        size = rows.stop - rows.start
        yield rows, rng.multinomial(puzzles, np.full(puzzles, 1 / puzzles), size=size) / puzzles


def chunks(rows: int, width: int, numbers: int) -> Iterator[slice]:
    """Consecutive slices of `rows` rows of `width` numbers, each of at most `numbers` numbers or of a single row."""
    at_once = max(1, numbers // width)
    for start in range(0, rows, at_once):
        yield slice(start, min(start + at_once, rows))


def quotient(
    numerator: Float[np.ndarray | np.float64, "*shape"], denominator: Float[np.ndarray | np.float64, "*shape"]
) -> Float[np.ndarray, "*shape"]:
    """A quotient, such as a mean, and NaN where it is one by 0, such as the mean of nothing."""
    return np.divide(numerator, denominator, out=np.full(denominator.shape, np.nan), where=denominator > 0)


def drawn_anew(training_seeds: int) -> str:
    """What the bootstrap draws anew, in words, where there are so many training seeds."""
    return "training seeds and puzzles" if training_seeds > 1 else "puzzles only"


def percentile_interval(
    draws: Float[np.ndarray, "resamples *columns"], level: float
) -> Float[np.ndarray, "2 *columns"]:
    """The lower and upper end of the bootstrap's percentile interval."""
    return np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)


def defined_interval(draws: Float[np.ndarray, "resamples *columns"], level: float) -> Float[np.ndarray, "2 *columns"]:
    """The percentile interval of the draws in which a number is defined, not NaN; NaN where it is in none."""
    defined = ~np.isnan(draws)
    always, sometimes = defined.all(axis=0), defined.any(axis=0) & ~defined.all(axis=0)
    bounds = np.full((2, *draws.shape[1:]), np.nan)
    bounds[:, always] = percentile_interval(draws[:, always], level)
    if sometimes.any():
        bounds[:, sometimes] = np.nanquantile(draws[:, sometimes], [(1 - level) / 2, (1 + level) / 2], axis=0)
    return bounds


def two_sided_p(draws: Float[np.ndarray, "resamples *columns"]) -> Float[np.ndarray, "*columns"]:
    """The bootstrap's p-value of no difference: twice the share of resampled differences on the other side of 0.

    p = min(1, 2 (1 + min(#{d <= 0}, #{d >= 0})) / (1 + resamples)): never 0, and at least 2 / (1 + resamples).
    Source: Davison & Hinkley (1997), Bootstrap methods and their application, Section 4.4.
    """
    draws = np.where(np.abs(draws) < ROUNDING, 0, draws)
    other_side = np.minimum((draws <= 0).sum(axis=0), (draws >= 0).sum(axis=0))
    return np.minimum(1, 2 * (1 + other_side) / (1 + len(draws)))
