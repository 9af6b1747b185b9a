"""How alike K of a puzzle's M candidates are: ties of the best score, and distinct answers.

Both are known of candidates 1..K (`prefix`), and exactly as a mean over all subsets of K candidates (`expected`), as
what votes achieve is in `cvoting.estimators`.  Both means are sums over candidates of the chance C(M-j, K-1) / C(M, K),
that one candidate is among the K and j - 1 others are not: the `rank_weights` p_j, which neither overflow nor cancel.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, Shaped

from cvoting.estimators import rank_weights


def tied_prefix(scores: Float[np.ndarray, "puzzles candidates"], K: Sequence[int]) -> Float[np.ndarray, "puzzles K"]:
    """1 where several of candidates 1..K share the largest score, so that only their order decides; else 0."""
    seen = [scores[:, :k] for k in K]
    return np.stack([(s == s.max(axis=1, keepdims=True)).sum(axis=1) > 1 for s in seen], axis=1).astype(float)


def tied_expected(scores: Float[np.ndarray, "puzzles candidates"], K: Sequence[int]) -> Float[np.ndarray, "puzzles K"]:
    """The share of the subsets of K candidates in which several share the largest score.

    With groups g of n_g candidates of equal score, and B_g candidates of that score or less, it is
    sum_g [C(B_g, K) - C(B_g - n_g, K) - n_g C(B_g - n_g, K-1)] / C(M, K).  The first two terms add up to 1, so that it
    is one minus the chance of a single best candidate, sum_g n_g p_j with j = M - (B_g - n_g): all others score less.

    Args:
        scores: of the candidates, larger is better.
        K: numbers of candidates, each at most M.
    """
    M = scores.shape[1]
    single = _counted(M - 1 - _first_of_equals(scores))
    # The weights add up to 1: exactly 0 without ties, where every rank is taken once.
    return (1 - single) @ rank_weights(M, K)


def distinct_prefix(
    answer_ids: Int[np.ndarray, "puzzles candidates"], K: Sequence[int]
) -> Float[np.ndarray, "puzzles K"]:
    """The number of distinct answers of candidates 1..K."""
    changes = [np.diff(np.sort(answer_ids[:, :k], axis=1), axis=1) != 0 for k in K]
    return np.stack([1 + change.sum(axis=1) for change in changes], axis=1).astype(float)


def distinct_expected(
    answer_ids: Int[np.ndarray, "puzzles candidates"], K: Sequence[int]
) -> Float[np.ndarray, "puzzles K"]:
    """The mean number of distinct answers over all subsets of K candidates.

    With n_a candidates of answer a it is sum_a 1 - C(M - n_a, K) / C(M, K), and 1 - C(M - n, K) / C(M, K) =
    sum_{j <= n} p_j: the j-th candidate of an answer is among the K and those before it are not.

    Args:
        answer_ids: equal for candidates of the same answer.
        K: numbers of candidates, each at most M.
    """
    M = answer_ids.shape[1]
    return _counted(np.arange(M) - _first_of_equals(answer_ids)) @ rank_weights(M, K)


def _first_of_equals(values: Shaped[np.ndarray, "puzzles candidates"]) -> Int[np.ndarray, "puzzles candidates"]:
    """For each place of the values in ascending order, the first place of an equal value."""
    ordered = np.sort(values, axis=1)
    new = np.concatenate([np.ones((len(values), 1), dtype=bool), ordered[:, 1:] != ordered[:, :-1]], axis=1)
    return np.maximum.accumulate(np.where(new, np.arange(values.shape[1]), 0), axis=1)


def _counted(ranks: Int[np.ndarray, "puzzles candidates"]) -> Int[np.ndarray, "puzzles candidates"]:
    """How many candidates of each puzzle have each rank, from 0 for p_1."""
    puzzles, M = ranks.shape
    places = ranks + M * np.arange(puzzles)[:, None]
    return np.bincount(places.ravel(), minlength=puzzles * M).reshape(puzzles, M)
