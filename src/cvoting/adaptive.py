"""Adaptive voting: candidates of a puzzle are drawn one by one, in random order, until one is confident enough.

What that achieves is a mean over all orders of a bank's M candidates, in closed form: drawing without replacement, the
best of the first K is the j-th best of all with the chance p_j of `rank_weights`, whatever the rule to stop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from cvoting.estimators import rank_weights
from cvoting.statistics import ROUNDING


@dataclass(frozen=True)
class Stopping:
    """What rules to stop do on every puzzle: means over the orders of its candidates.

    Attributes:
        drawn: the number of candidates that are drawn.
        stopped: the chance that the rule stops by the last candidate that may be drawn.
        right: by each metric, what the answer is worth: 1 right, 0 wrong.
        right_stopped: the same, where an answer is given only if the rule stops.
    """

    drawn: Float[np.ndarray, "puzzles rules"]
    stopped: Float[np.ndarray, "puzzles rules"]
    right: Float[np.ndarray, "puzzles rules metrics"]
    right_stopped: Float[np.ndarray, "puzzles rules metrics"]

    def of(self, puzzles: Int[np.ndarray, "chosen"]) -> "Stopping":
        """What the rules do on some puzzles."""
        return Stopping(*(values[puzzles] for values in self._values()))

    @staticmethod
    def joined(parts: Sequence["Stopping"], axis: Literal[0, 1]) -> "Stopping":
        """The same rules on the puzzles of all parts (axis 0), or the rules of all parts on the same puzzles (1)."""
        values = zip(*(part._values() for part in parts), strict=True)
        return Stopping(*(np.concatenate(of_parts, axis=axis) for of_parts in values))

    def _values(self) -> tuple[np.ndarray, ...]:
        return self.drawn, self.stopped, self.right, self.right_stopped


def fixed(right: Float[np.ndarray, "puzzles rules metrics"], K: Sequence[int]) -> Stopping:
    """Rules that draw a number of candidates whatever they are.

    Args:
        right: what their answers are worth.
        K: the number of each.
    """
    drawn = np.broadcast_to(np.asarray(K, dtype=float), right.shape[:2])
    return Stopping(drawn, np.ones(drawn.shape), right, right)


def by_threshold(
    scores: Float[np.ndarray, "puzzles candidates"],
    outcomes: Float[np.ndarray, "metrics puzzles candidates"],
    thresholds: Float[np.ndarray, "puzzles rules"],
    K: int,
) -> Stopping:
    """Stop at the first candidate that scores as much as a threshold, or at the K-th; the highest score is the answer.

    Let n candidates reach the threshold, and let o_j be the outcome of the j-th best.  One of the n is among K with the
    chance P_n = p_1 + ... + p_n; the first of them is the answer, as it is the best so far, and is each of them equally
    often.  Otherwise C-voting decides among K others:

        E[right] = P_n (o_1 + ... + o_n) / n + sum_{j > n} p_j o_j.

    Ties go to the candidate of the lowest index, as in `expected`, whose value this is for a threshold of infinity.

    Args:
        scores: of the candidates, larger is better.
        outcomes: of their answers, by each metric.
        thresholds: of each puzzle, of each rule.
        K: the most that are drawn, at most M.
    """
    M = scores.shape[1]
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered = np.moveaxis(np.take_along_axis(outcomes, order[None], axis=2), 0, 2)
    p = rank_weights(M, [K])[:, 0]
    reaching = (scores[:, None] >= thresholds[:, :, None]).sum(axis=2)
    stopped = _up_to(p[None])[0][reaching]
    mean = np.take_along_axis(_up_to(ordered), reaching[..., None], axis=1) / np.maximum(reaching, 1)[..., None]
    beyond = _up_to((p[:, None] * ordered)[:, ::-1])[:, ::-1]
    right_stopped = stopped[..., None] * mean
    right = right_stopped + np.take_along_axis(beyond, reaching[..., None], axis=1)
    return Stopping(number_drawn(M, K)[reaching], stopped, right, right_stopped)


def number_drawn(M: int, K: int) -> Float[np.ndarray, "{M}+1"]:
    """The mean number of candidates drawn until one of n of M comes, or K, for n = 0..M.

    sum_{k < K} C(M-n, k) / C(M, k) = (M+1) / (n+1) (1 - C(M+1-K, n+1) / C(M+1, n+1)): from K where none is wanted to 1
    where all are.  The last factor is the chance that one of n + 1 of M + 1 is among K, a sum of `rank_weights`.
    """
    return (M + 1) / np.arange(1, M + 2) * np.cumsum(rank_weights(M + 1, [K])[:, 0])


def thresholds_for(
    scores: Float[np.ndarray, "puzzles candidates"], targets: Sequence[float], K: int
) -> Float[np.ndarray, "targets"]:
    """The highest thresholds, each a score of these puzzles, at which no more are drawn on average than the targets.

    A threshold at or below the j-th best score of a puzzle saves number_drawn[j-1] - number_drawn[j] of its K, for each
    such j: scores from the highest on, until they have saved enough.  Labels are not asked for.

    Args:
        scores: of the candidates of the puzzles to choose by.
        targets: mean numbers of candidates, from 1 on; infinity is the threshold of K and more.
        K: the most that are drawn.
    """
    puzzles, M = scores.shape
    ordered = -np.sort(-scores, axis=1).ravel()
    saved = np.tile(-np.diff(number_drawn(M, K)) / puzzles, puzzles)
    order = np.argsort(-ordered, kind="stable")
    wanted = K - np.asarray(targets, dtype=float)
    place = np.searchsorted(np.cumsum(saved[order]), wanted - ROUNDING * K)
    return np.where(wanted > 0, ordered[order[np.minimum(place, len(order) - 1)]], np.inf)


def crossed_thresholds(
    scores: Float[np.ndarray, "puzzles candidates"], half: Int[np.ndarray, "puzzles"], targets: Sequence[float], K: int
) -> Float[np.ndarray, "puzzles targets"]:
    """Thresholds of every puzzle that are chosen on the puzzles of the other half.

    Args:
        scores: of the candidates.
        half: 0 or 1, to which half a puzzle belongs; no half is empty.
        targets, K: as of `thresholds_for`.
    """
    chosen = np.stack([thresholds_for(scores[half == other], targets, K) for other in (1, 0)])
    return chosen[half]


def _up_to(values: Float[np.ndarray, "rows M *rest"]) -> Float[np.ndarray, "rows M+1 *rest"]:
    """The sums of the first n values of each row, for n = 0..M."""
    return np.concatenate([np.zeros_like(values[:, :1]), np.cumsum(values, axis=1)], axis=1)
