"""What a vote on K candidates achieves, for every K, from one bank of M candidates.

`prefix` lets candidates 1..K vote, as the paper does: one draw per puzzle.  `expected` is the mean over all subsets of
K candidates: the same quantity without the luck of the draw.  Both give numbers per puzzle; means and intervals over
puzzles are those of `cvoting.statistics`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int, UInt8

from cvoting.seeding import generator
from cvoting.voting import Ballot, Composing, Highest, Reference, Vote


@dataclass(frozen=True)
class Outcomes:
    """What answers are worth, by each metric; kept apart from the ballot, so that no vote sees it.

    Attributes:
        candidates: of the answer of each candidate: 1 right, 0 wrong, or a share.
        judge: of an answer that no candidate gave.
    """

    candidates: Float[np.ndarray, "metrics puzzles candidates"]
    judge: Callable[[UInt8[np.ndarray, "puzzles cells"]], Float[np.ndarray, "metrics puzzles"]]

    def of(self, candidates: slice | Int[np.ndarray, "chosen"]) -> "Outcomes":
        """The outcomes of some candidates."""
        return Outcomes(self.candidates[:, :, candidates], self.judge)


@dataclass(frozen=True)
class Subsets:
    """Random subsets of candidates, for votes whose mean over all subsets has no closed form.

    Subset r of every size begins one random order of the candidates, the same for all puzzles: candidates are
    independent draws for each puzzle, so subsets need not be.
    """

    count: int
    seed: int

    def exhausts(self, M: int, K: int) -> bool:
        """Whether `draw` gives every subset, so that its mean is exact."""
        return math.comb(M, K) <= self.count

    def draw(self, M: int, K: int) -> Iterator[Int[np.ndarray, "K"]]:
        """Subsets of K of M candidates, in ascending order: all of them where there are no more than `count`."""
        if self.exhausts(M, K):
            yield from (np.array(subset) for subset in combinations(range(M), K))
        else:
            for r in range(self.count):
                order = generator("candidate subsets", self.seed, M, counter=r).permutation(M)
                yield np.sort(order[:K])


def prefix(vote: Vote, ballot: Ballot, outcomes: Outcomes, K: Sequence[int]) -> Float[np.ndarray, "metrics puzzles K"]:
    """The outcome of a vote of candidates 1..K, for each K."""
    seen = ballot.showing(vote.needs)
    return np.stack([_outcome(vote, seen.of(slice(k)), outcomes.of(slice(k))) for k in K], axis=-1)


def expected(
    vote: Vote, ballot: Ballot, outcomes: Outcomes, K: Sequence[int], subsets: Subsets
) -> Float[np.ndarray, "metrics puzzles K"]:
    """The mean outcome of a vote over all subsets of K candidates, for each K.

    Exact for scores and references: with candidates ordered from the largest score, or for the oracle from the best
    outcome, it is sum_j p_j o_j with the `rank_weights` p; for 0/1 outcomes with c right candidates the oracle's is
    1 - C(M-c, K) / C(M, K).  For majorities it is the mean over `subsets`.

    Args:
        vote: a rule of `VOTES`.
        ballot: the candidates.
        outcomes: theirs, in the same order.
        K: numbers of candidates, each at most M.
        subsets: what majorities are averaged over.
    """
    M = ballot.answer_ids.shape[1]
    if isinstance(vote, Highest):
        order = np.argsort(-ballot.scores[vote.score], axis=1, kind="stable")
        result = np.take_along_axis(outcomes.candidates, order[None], axis=2) @ rank_weights(M, K)
    elif isinstance(vote, Reference) and vote.statistic == "max":
        result = np.sort(outcomes.candidates, axis=2)[:, :, ::-1] @ rank_weights(M, K)
    elif isinstance(vote, Reference):
        result = np.repeat(outcomes.candidates.mean(axis=2)[..., None], len(K), axis=2)
    else:
        seen = ballot.showing(vote.needs)
        means = [
            np.mean([_outcome(vote, seen.of(subset), outcomes.of(subset)) for subset in subsets.draw(M, k)], axis=0)
            for k in K
        ]
        result = np.stack(means, axis=-1)
    # A vote of one candidate is that candidate's answer, whatever the rule: equal to the last bit for all of them.
    result[..., np.asarray(K) == 1] = outcomes.candidates.mean(axis=2)[..., None]
    return result


def rank_weights(M: int, K: Sequence[int]) -> Float[np.ndarray, "M K"]:
    """The probability that the best of K of M candidates, drawn without replacement, is the j-th best of all.

    p_1 = K / M, p_{j+1} = p_j (M - j - K + 1) / (M - j), which is 0 for j > M - K.  Products of numbers of at most 1:
    neither overflow nor cancellation for any M.
    """
    j = np.arange(1, M)[:, None]
    ratios = np.maximum(M - j - np.asarray(K) + 1, 0) / (M - j)
    return np.cumprod(np.concatenate([np.asarray(K)[None] / M, ratios]), axis=0)


def _outcome(vote: Vote, ballot: Ballot, outcomes: Outcomes) -> Float[np.ndarray, "metrics puzzles"]:
    """The outcome of a vote of all candidates of a ballot."""
    if isinstance(vote, Reference):
        return outcomes.candidates.max(axis=2) if vote.statistic == "max" else outcomes.candidates.mean(axis=2)
    if isinstance(vote, Composing):
        return outcomes.judge(vote.compose(ballot))
    selected = vote.select(ballot)
    return np.take_along_axis(outcomes.candidates, selected[None, :, None], axis=2)[:, :, 0]
