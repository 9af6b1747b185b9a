"""Numbers that are no means over puzzles, with intervals: any function of how much each puzzle counts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cvoting.seeding import generator
from cvoting.statistics import defined_interval, drawn_anew, puzzle_shares, quotient, seed_shares
from cvoting.table_files import ALL, Row, rounded

#: What some numbers are where puzzle p has the share shares[d, p] of all.
Statistic = Callable[[Float[np.ndarray, "draws puzzles"]], Float[np.ndarray, "draws numbers"]]


@dataclass(frozen=True)
class Resampled:
    """Some numbers of one training seed, or of several.

    Attributes:
        training_seed: a number, or `ALL`.
        interval: what the bootstrap draws anew.
        value: the numbers with every puzzle once; of several training seeds the mean of those where one is defined.
        low, high: bootstrap percentiles, of the resamples in which a number is defined.
    """

    training_seed: str
    interval: str
    value: Float[np.ndarray, "numbers"]
    low: Float[np.ndarray, "numbers"]
    high: Float[np.ndarray, "numbers"]

    def number(self, place: int) -> Row:
        """One of them, with its interval."""
        return rounded({"value": self.value[place], "low": self.low[place], "high": self.high[place]})


def resampled(
    statistics: Mapping[int, Statistic], puzzles: int, resamples: int, level: float, seed: int
) -> Iterator[Resampled]:
    """The numbers of every training seed and, where there are several, their mean.

    A resample draws puzzles with replacement and, for the mean, training seeds too: every drawn seed meets every drawn
    puzzle.  It is the same one for all numbers of a call, and for all calls with as many puzzles and seeds.
    Source: Owen (2007), The pigeonhole bootstrap.

    Args:
        statistics: per training seed the numbers as a function of the puzzles' shares.
        puzzles: how many there are.
        resamples, level, seed: of the bootstrap.
    """
    once = np.full((1, puzzles), 1 / puzzles)
    values = np.stack([statistic(once)[0] for statistic in statistics.values()])
    rng = generator("bootstrap", seed)
    shares_of_seeds = seed_shares(len(statistics), resamples, rng)
    draws = np.empty((len(statistics), resamples, values.shape[1]))
    for rows, shares in puzzle_shares(puzzles, resamples, rng):
        for s, statistic in enumerate(statistics.values()):
            draws[s, rows] = statistic(shares)
    for s, training_seed in enumerate(statistics):
        yield Resampled(str(training_seed), drawn_anew(1), values[s], *defined_interval(draws[s], level))
    if len(statistics) > 1:
        each = np.full((1, len(statistics)), 1 / len(statistics))
        value, mean = _mean(each, values[:, None])[0], _mean(shares_of_seeds, draws)
        yield Resampled(ALL, drawn_anew(len(statistics)), value, *defined_interval(mean, level))


def _mean(
    shares: Float[np.ndarray, "resamples seeds"], draws: Float[np.ndarray, "seeds resamples numbers"]
) -> Float[np.ndarray, "resamples numbers"]:
    """The mean over seeds, by their shares, of those where a number is defined."""
    defined = ~np.isnan(draws)
    total = np.einsum("rs,srn->rn", shares, np.where(defined, draws, 0))
    weight = np.einsum("rs,srn->rn", shares, defined.astype(float))
    return quotient(total, weight)
