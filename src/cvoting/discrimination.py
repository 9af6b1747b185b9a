"""How well a score tells right candidates from wrong ones.

Within a puzzle, which is all that a vote uses; and between puzzles, where easy and hard puzzles are told apart and no
vote is helped.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from cvoting.statistics import ROUNDING, chunks

#: Numbers held at once, one for each candidate of some puzzles or resamples: bounds the memory.
NUMBERS_AT_ONCE = 2**18


def auroc_within(
    scores: Float[np.ndarray, "puzzles candidates"], correct: Bool[np.ndarray, "puzzles candidates"]
) -> Float[np.ndarray, "puzzles"]:
    """The chance that of a right and a wrong candidate of one puzzle the right one scores more, ties counting half.

    The area under the receiver operating characteristic; NaN where all candidates are right, or all are wrong.
    Source: Mann & Whitney (1947), On a test of whether one of two random variables is stochastically larger than the
    other; Hanley & McNeil (1982), The meaning and use of the area under a receiver operating characteristic curve.

    Args:
        scores: of the candidates, larger is better; never NaN.
        correct: whether each is right.
    """
    pairs = correct.sum(axis=1) * (~correct).sum(axis=1)
    return np.divide(_wins(scores, correct), pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)


def auroc_between(
    scores: Float[np.ndarray, "puzzles candidates"],
    correct: Bool[np.ndarray, "puzzles candidates"],
    shares: Float[np.ndarray, "draws puzzles"],
) -> Float[np.ndarray, "draws"]:
    """The chance that a right candidate of one puzzle scores more than a wrong one of another, ties counting half.

    All such pairs count, one of the puzzles p and q with the weight shares_p shares_q; p != q, so that two copies of a
    puzzle in a resample are no pair.  It is what all pairs of candidates give, less those within a puzzle.  NaN where
    there is no pair.

    Args:
        scores: of the candidates, larger is better; never NaN.
        correct: whether each is right.
        shares: of the puzzles in each resample.  A row of 1 / puzzles is the sample itself.
    """
    right_scores, right_puzzle = _in_order(scores, correct)
    wrong_scores, wrong_puzzle = _in_order(scores, ~correct)
    fewer, no_more = (np.searchsorted(wrong_scores, right_scores, side) for side in ("left", "right"))
    n_right, n_wrong, wins_within = correct.sum(axis=1), (~correct).sum(axis=1), _wins(scores, correct)
    result = np.full(len(shares), np.nan)
    for rows in chunks(len(shares), scores.size, NUMBERS_AT_ONCE):
        some = shares[rows]
        # The weight of the wrong candidates up to each, from none of them on.
        below = np.pad(np.cumsum(some[:, wrong_puzzle], axis=1), ((0, 0), (1, 0)))
        beaten = (below[:, fewer] + below[:, no_more]) / 2
        wins = np.einsum("dr,dr->d", some[:, right_puzzle], beaten) - some**2 @ wins_within
        with_equals = (some @ n_right) * (some @ n_wrong)
        pairs = with_equals - some**2 @ (n_right * n_wrong)
        result[rows] = np.divide(wins, pairs, out=result[rows], where=pairs > ROUNDING * with_equals)
    return result


def spread(
    scores: Float[np.ndarray, "puzzles candidates"], among: Bool[np.ndarray, "puzzles candidates"]
) -> Float[np.ndarray, "puzzles"]:
    """The sample standard deviation of the scores of some candidates of each puzzle.

    sqrt(sum (s - mean)^2 / (n - 1)); NaN for fewer than two of them, or where one of them is infinite.

    Args:
        scores: of the candidates.
        among: which of them count.
    """
    result = np.full(len(scores), np.nan)
    several = among.sum(axis=1) > 1
    with np.errstate(invalid="ignore"):
        result[several] = np.std(scores[several], axis=1, ddof=1, where=among[several])
    return result


def _wins(
    scores: Float[np.ndarray, "puzzles candidates"], correct: Bool[np.ndarray, "puzzles candidates"]
) -> Float[np.ndarray, "puzzles"]:
    """In how many pairs of a right and a wrong candidate of each puzzle the right one scores more, ties counting half.

    With ranks from 0, equal scores sharing the mean of theirs, it is the sum of the ranks of the n right ones less
    n (n - 1) / 2, what they win against each other.
    """
    puzzles, candidates = scores.shape
    wins, places = np.empty(puzzles), np.arange(candidates)
    for rows in chunks(puzzles, candidates, NUMBERS_AT_ONCE):
        order = np.argsort(scores[rows], axis=1)
        ordered, right = (np.take_along_axis(values[rows], order, axis=1) for values in (scores, correct))
        new = np.ones(order.shape, dtype=bool)
        new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        first = np.maximum.accumulate(np.where(new, places, 0), axis=1)
        ends = np.where(np.roll(new, -1, axis=1), places, candidates)
        last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
        n = right.sum(axis=1)
        wins[rows] = ((first + last) * right).sum(axis=1) / 2 - n * (n - 1) / 2
    return wins


def _in_order(
    scores: Float[np.ndarray, "puzzles candidates"], among: Bool[np.ndarray, "puzzles candidates"]
) -> tuple[Float[np.ndarray, "chosen"], Int[np.ndarray, "chosen"]]:
    """The scores of some candidates of all puzzles in ascending order, and the puzzle of each."""
    puzzle, _ = np.nonzero(among)
    order = np.argsort(scores[among])
    return scores[among][order], puzzle[order]
