"""Adaptive voting by agreement: candidates of a puzzle are drawn until some answer has been given m times.

What that achieves is a mean over all orders of a bank's candidates.  It needs the chance F(k) that no answer comes m
times among k candidates, which is built up answer by answer: with an answer of n candidates added to N others,

    F'(k) = sum_{i < m} h(i, k) F(k - i),   h(i, k) = C(n, i) C(N, k-i) / C(N+n, k),

where the hypergeometric h is the chance that i of the k are of that answer.  All numbers are chances, so none overflows
and nothing cancels.  Answers of fewer than m candidates restrict nothing; only the others cost time.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from cvoting.adaptive import Stopping
from cvoting.estimators import rank_weights
from cvoting.statistics import ROUNDING, chunks

#: Chances held at once, of the sets of candidates that are looked at together: bounds the memory.
CHANCES_AT_ONCE = 2**14


def by_agreement(
    scores: Float[np.ndarray, "puzzles candidates"],
    answer_ids: Int[np.ndarray, "puzzles candidates"],
    outcomes: Float[np.ndarray, "metrics puzzles candidates"],
    agreements: Sequence[int],
    K: int,
) -> Stopping:
    """Stop when some answer has been given m times, which is the answer; or at the K-th, where C-voting decides.

    Exact, but for what C-voting adds more rarely than `ROUNDING`.

    Args:
        scores: of the candidates, larger is better; ties go to the lowest index.
        answer_ids: equal for candidates of the same answer.
        outcomes: of their answers, by each metric; equal for candidates of the same answer.
        agreements: the m of each rule.
        K: the most that are drawn, at most M.
    """
    metrics, puzzles, M = outcomes.shape
    order = np.argsort(-scores, axis=1, kind="stable")
    ids, ordered = np.take_along_axis(answer_ids, order, axis=1), np.take_along_axis(outcomes, order[None], axis=2)
    logs = np.cumsum(np.log(np.maximum(np.arange(M + 1), 1)))
    rows = [[_of_puzzle(ids[p], ordered[:, p], m, K, logs) for m in agreements] for p in range(puzzles)]
    numbers = np.array(rows).reshape(puzzles, len(agreements), 2 + 2 * metrics)
    return Stopping(numbers[..., 0], numbers[..., 1], numbers[..., 2 : 2 + metrics], numbers[..., 2 + metrics :])


def _of_puzzle(
    ids: Int[np.ndarray, "candidates"],
    outcomes: Float[np.ndarray, "metrics candidates"],
    m: int,
    K: int,
    logs: Float[np.ndarray, "_"],
) -> Float[np.ndarray, "numbers"]:
    """What `Stopping` says of one puzzle and rule, in its order; candidates are ordered from the highest score."""
    _, first, own, counts = np.unique(ids, return_index=True, return_inverse=True, return_counts=True)
    worth = np.concatenate([np.ones((1, len(counts))), outcomes[:, first]])
    none, agreed = _none_and_agreed(counts[None], worth, m, K, logs)
    stopped, *right_stopped = agreed[:, 0, :K] @ (1 / (len(ids) - np.arange(K)))
    right = right_stopped + _undecided(own, outcomes, m, K, logs, none[0, K])
    # Chances, but for the rounding of logarithms.
    return np.append(none[0, :K].sum(), np.minimum([stopped, *right, *right_stopped], 1))


def _undecided(
    ids: Int[np.ndarray, "candidates"],
    outcomes: Float[np.ndarray, "metrics candidates"],
    m: int,
    K: int,
    logs: Float[np.ndarray, "_"],
    none: float,
) -> Float[np.ndarray, "metrics"]:
    """What C-voting adds where nothing is agreed on by the K-th candidate, the chance of which is `none`.

    The best of the K ranks a..b with the chance that all K rank from a on, less that of from b + 1 on, in both of which
    nothing is agreed on; so runs a..b of candidates of equal outcomes are taken together.
    """
    p, result = rank_weights(len(ids), [K])[:, 0], np.zeros(len(outcomes))
    beyond = np.append(np.cumsum(p[::-1])[::-1], 0)
    ends = np.append(np.flatnonzero((np.diff(outcomes, axis=1) != 0).any(axis=0)) + 1, len(ids))
    for some in chunks(len(ends), m * (K + 1), CHANCES_AT_ONCE):
        if none < ROUNDING:
            break
        counts = np.stack([np.bincount(ids[end:], minlength=ids.max() + 1) for end in ends[some]])
        rest = beyond[ends[some]] * _none_and_agreed(counts, np.empty((0, counts.shape[1])), m, K, logs)[0][:, K]
        result -= outcomes[:, ends[some] - 1] @ np.diff(rest, prepend=none)
        none = rest[-1]
    return result


def _none_and_agreed(
    counts: Int[np.ndarray, "sets answers"],
    worth: Float[np.ndarray, "metrics answers"],
    m: int,
    K: int,
    logs: Float[np.ndarray, "_"],
) -> tuple[Float[np.ndarray, "sets {K}+1"], Float[np.ndarray, "metrics sets {K}+1"]]:
    """F(k), and what the next candidate is worth if it is the m-th of an answer, times the number of those left.

    The latter is A(k) = sum_a worth_a (n_a - m + 1) P(m - 1 of a and fewer than m of each other among k), which follows

        A'(k) = sum_{i < m} h(i, k) A(k - i) + worth (n - m + 1) h(m-1, k) F(k - m + 1).

    Args:
        counts: the number of candidates of each answer, in some sets of candidates.
        worth: the answer's outcome, by each metric.
        m: how often an answer is to be given.
        K: the largest k.
        logs: of the factorials.
    """
    k, i, each = np.arange(K + 1), np.arange(m)[:, None], np.arange(len(counts))[:, None, None]
    many = counts.max(axis=0) >= m
    N = counts[:, ~many].sum(axis=1)[:, None, None]
    none, agreed = (k <= N[:, 0]).astype(float), np.zeros((len(worth), len(counts), K + 1))
    for a in np.flatnonzero(many):
        n, total = counts[:, a, None, None], N + counts[:, a, None, None]
        possible = (k - i >= 0) & (k - i <= N) & (i <= n)
        others = np.where(possible, k - i, 0)
        h = logs[n] - logs[i] - logs[np.maximum(n - i, 0)] + logs[N] - logs[others] - logs[N - others]
        h = np.exp(np.where(possible, h - (logs[total] - logs[k] - logs[np.maximum(total - k, 0)]), -np.inf))
        ways, left = h * none[each, others], np.maximum(n[:, 0] - m + 1, 0)
        agreed = (h * agreed[:, each, others]).sum(axis=2) + worth[:, a, None, None] * left * ways[:, m - 1]
        none, N = ways.sum(axis=1), total
    return none, agreed
