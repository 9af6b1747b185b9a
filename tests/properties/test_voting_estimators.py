"""Both estimators against a slow second implementation: plain Python over every subset of the candidates."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvoting.estimators import Outcomes, Subsets, expected, prefix, rank_weights
from cvoting.voting import VOTES, Ballot, Composing, Highest, Reference

CELLS = 3
ALL_SUBSETS = Subsets(count=10**6, seed=0)
SCORES = sorted({name for vote in VOTES.values() for name in vote.needs})


@dataclass
class Candidates:
    """Some puzzles' candidates as lists, and in the form of the library."""

    boards: list[list[list[int]]]
    scores: list[list[list[float]]]
    labels: list[list[int]]

    @cached_property
    def ballot(self) -> Ballot:
        """What votes see; `scores` are by puzzle, then in the order of SCORES."""
        tables = [list(dict.fromkeys(map(tuple, puzzle))) for puzzle in self.boards]
        ids = np.array([[t.index(tuple(b)) for b in puzzle] for t, puzzle in zip(tables, self.boards, strict=True)])
        scores = {name: np.array([puzzle[i] for puzzle in self.scores]) for i, name in enumerate(SCORES)}
        return Ballot.stacked(scores, ids, [np.array(t, dtype=np.uint8) for t in tables])

    @cached_property
    def outcomes(self) -> Outcomes:
        """Whether all cells are right."""
        labels = np.array(self.labels, dtype=np.uint8)
        right = (np.array(self.boards) == labels[:, None]).all(axis=2)
        return Outcomes(right[None].astype(float), lambda a: (a == labels).all(axis=1)[None].astype(float))

    def slow_outcome(self, name: str, puzzle: int, subset: tuple[int, ...]) -> float:
        """What the vote of a subset of candidates is worth: 1 or 0, or a share for `random`."""
        boards, label = [self.boards[puzzle][k] for k in subset], self.labels[puzzle]
        right = [board == label for board in boards]
        if name == "oracle":
            return float(any(right))
        if name == "random":
            return sum(right) / len(right)
        if name == "majority_cell":
            # Counter keeps the order of first appearance, and max takes the first of equals.
            cells = [Counter(column) for column in zip(*boards, strict=True)]
            return float([max(count, key=count.__getitem__) for count in cells] == label)
        if name.startswith("majority"):
            votes: dict[tuple[int, ...], float] = {}
            weights = self.scores[puzzle][SCORES.index("confidence")]
            for k, board in zip(subset, boards, strict=True):
                votes[tuple(board)] = votes.get(tuple(board), 0) + (1 if name == "majority_answer" else weights[k])
            return float(list(max(votes, key=votes.__getitem__)) == label)
        ranked = self.scores[puzzle][SCORES.index(name)]
        return float(right[max(range(len(subset)), key=lambda i: (ranked[subset[i]], -i))])


@st.composite
def candidates(draw: st.DrawFn, most: int = 7) -> Candidates:
    """One or two puzzles, with few different digits and scores, so that there are ties of every kind."""
    M, puzzles = draw(st.integers(1, most)), draw(st.integers(1, 2))
    board = st.lists(st.integers(1, 3), min_size=CELLS, max_size=CELLS)
    # Quarters, so that sums of weights are exact and tie.
    scores = st.lists(st.sampled_from([0.25, 0.5, 0.75]), min_size=M, max_size=M)
    return Candidates(
        [draw(st.lists(board, min_size=M, max_size=M)) for _ in range(puzzles)],
        [[draw(scores) for _ in SCORES] for _ in range(puzzles)],
        [draw(board) for _ in range(puzzles)],
    )


@settings(max_examples=150, deadline=None)
@given(candidates())
def test_expected_is_the_mean_over_all_subsets_for_every_vote_and_K(given_: Candidates) -> None:
    puzzles, M = given_.ballot.answer_ids.shape
    for name, vote in VOTES.items():
        fast = expected(vote, given_.ballot, given_.outcomes, range(1, M + 1), ALL_SUBSETS)[0]
        for puzzle in range(puzzles):
            for K in range(1, M + 1):
                slow = np.mean([given_.slow_outcome(name, puzzle, s) for s in combinations(range(M), K)])
                assert fast[puzzle, K - 1] == pytest.approx(slow, abs=1e-12), (name, K)


@settings(max_examples=150, deadline=None)
@given(candidates(most=12))
def test_prefix_is_the_vote_of_the_first_candidates_for_every_vote_and_K(given_: Candidates) -> None:
    puzzles, M = given_.ballot.answer_ids.shape
    for name, vote in VOTES.items():
        fast = prefix(vote, given_.ballot, given_.outcomes, range(1, M + 1))[0]
        slow = [[given_.slow_outcome(name, p, tuple(range(K))) for K in range(1, M + 1)] for p in range(puzzles)]
        np.testing.assert_allclose(fast, slow, atol=1e-12, err_msg=name)


@settings(max_examples=50, deadline=None)
@given(candidates(most=12))
def test_both_estimators_agree_where_all_candidates_vote_and_every_vote_where_one_does(given_: Candidates) -> None:
    M = given_.ballot.answer_ids.shape[1]
    one = []
    for vote in VOTES.values():
        means = expected(vote, given_.ballot, given_.outcomes, [1, M], Subsets(3, 0))
        np.testing.assert_allclose(means[..., 1], prefix(vote, given_.ballot, given_.outcomes, [M])[..., 0], atol=1e-12)
        one.append(means[..., 0])
    assert all(np.array_equal(value, one[0]) for value in one), "equal to the last bit, so that differences are 0"


@settings(max_examples=50, deadline=None)
@given(candidates(most=12))
def test_no_vote_that_selects_beats_the_oracle_whose_curve_never_falls(given_: Candidates) -> None:
    K = range(1, given_.ballot.answer_ids.shape[1] + 1)
    for estimate in (prefix, lambda *a: expected(*a, Subsets(5, 0))):
        oracle = estimate(VOTES["oracle"], given_.ballot, given_.outcomes, K)
        assert (np.diff(oracle, axis=-1) >= -1e-12).all()
        for vote in VOTES.values():
            # A mean over a few subsets, as of a majority, has its own luck; the oracle's is over all.
            if not isinstance(vote, Composing | Reference) and (estimate is prefix or isinstance(vote, Highest)):
                assert (estimate(vote, given_.ballot, given_.outcomes, K) <= oracle + 1e-12).all()


@given(st.integers(1, 60), st.data())
def test_the_oracle_is_one_minus_the_chance_of_wrong_candidates_only(M: int, data: st.DataObject) -> None:
    K, right = data.draw(st.integers(1, M)), data.draw(st.integers(0, M))
    outcomes = Outcomes((np.arange(M) < right).astype(float)[None, None], lambda answers: np.zeros((1, 1)))
    ballot = Ballot({}, np.zeros((1, M), dtype=int), np.zeros((1, 1), dtype=np.uint8))
    value = expected(VOTES["oracle"], ballot, outcomes, [K], ALL_SUBSETS).item()
    assert value == pytest.approx(float(1 - Fraction(comb(M - right, K), comb(M, K))), abs=1e-13)


@pytest.mark.parametrize("K", [1, 2, 7, 64, 1000, 2048, 4095, 4096])
def test_rank_weights_of_4096_candidates_are_exact_to_rounding(K: int) -> None:
    M = 4096
    weights = rank_weights(M, [K])[:, 0]
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert (weights >= 0).all()
    assert (weights[M - K + 1 :] == 0).all()
    for j in {1, 2, 3, 10, 100, M - K + 1}:
        if 1 <= j <= M - K + 1:
            exact = Fraction(comb(M - j, K - 1), comb(M, K))
            assert weights[j - 1] == pytest.approx(float(exact), rel=1e-10)


def test_subsets_estimate_what_all_subsets_give() -> None:
    rng = np.random.Generator(np.random.Philox(1))
    boards = rng.integers(1, 3, (40, 6, CELLS)).tolist()
    scores = rng.choice([0.25, 0.5, 0.75], (40, len(SCORES), 6)).tolist()
    many = Candidates(boards, scores, rng.integers(1, 3, (40, CELLS)).tolist())
    for name in ("majority_answer", "majority_cell", "majority_confidence"):
        exact, few = (
            expected(VOTES[name], many.ballot, many.outcomes, [3], subsets).mean()
            for subsets in (ALL_SUBSETS, Subsets(12, 0))
        )
        # 40 puzzles x 12 of 20 subsets: a standard error of less than 0.5 / sqrt(40 x 12) = 0.023.
        assert abs(exact - few) < 0.07, name
