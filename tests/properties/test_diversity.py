"""Ties and distinct answers against slow second implementations: all subsets of the candidates, exact fractions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvoting.diversity import distinct_expected, distinct_prefix, tied_expected, tied_prefix

#: Few different values, so that there are ties of every kind; one candidate's probabilities may be 0.
PUZZLES = st.integers(1, 7).flatmap(
    lambda M: st.lists(
        st.lists(st.sampled_from([-np.inf, 0.25, 0.5, 0.75]), min_size=M, max_size=M), min_size=1, max_size=3
    )
)


def subsets(values: Sequence[float]) -> Iterator[tuple[int, list[list[float]]]]:
    """K and what all subsets of K candidates hold, for each K."""
    return ((K, [list(chosen) for chosen in combinations(values, K)]) for K in range(1, len(values) + 1))


def ties(values: list[float]) -> bool:
    """Whether the largest value comes more than once."""
    return values.count(max(values)) > 1


@settings(max_examples=200, deadline=None)
@given(PUZZLES)
def test_expected_is_the_mean_over_all_subsets(puzzles: list[list[float]]) -> None:
    values, K = np.array(puzzles), range(1, len(puzzles[0]) + 1)
    tied, distinct = tied_expected(values, K), distinct_expected(np.round(4 * np.maximum(values, 0)).astype(int), K)
    for p, puzzle in enumerate(puzzles):
        for k, chosen in subsets(puzzle):
            assert tied[p, k - 1] == pytest.approx(np.mean([ties(values) for values in chosen]), abs=1e-12)
            assert distinct[p, k - 1] == pytest.approx(np.mean([len(set(values)) for values in chosen]), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(PUZZLES)
def test_prefix_is_of_the_first_candidates(puzzles: list[list[float]]) -> None:
    values, K = np.array(puzzles), range(1, len(puzzles[0]) + 1)
    tied, distinct = tied_prefix(values, K), distinct_prefix(np.round(4 * np.maximum(values, 0)).astype(int), K)
    assert tied.tolist() == [[ties(puzzle[:k]) for k in K] for puzzle in puzzles]
    assert distinct.tolist() == [[len(set(puzzle[:k])) for k in K] for puzzle in puzzles]


@settings(max_examples=50, deadline=None)
@given(PUZZLES)
def test_both_estimators_agree_where_all_candidates_are_taken_and_one_is_alone(puzzles: list[list[float]]) -> None:
    values, M = np.array(puzzles), len(puzzles[0])
    ids = np.round(4 * np.maximum(values, 0)).astype(int)
    np.testing.assert_allclose(tied_expected(values, [1, M])[:, 1], tied_prefix(values, [M])[:, 0], atol=1e-12)
    np.testing.assert_allclose(distinct_expected(ids, [1, M])[:, 1], distinct_prefix(ids, [M])[:, 0], atol=1e-12)
    for one in (tied_prefix(values, [1]), tied_expected(values, [1])):
        np.testing.assert_allclose(one, 0, atol=1e-15)
    for one in (distinct_prefix(ids, [1]), distinct_expected(ids, [1])):
        np.testing.assert_allclose(one, 1, atol=1e-15)


@pytest.mark.parametrize("K", [1, 2, 7, 64, 1000, 2048, 4095, 4096])
@pytest.mark.parametrize("levels", [1, 3, 200, 4096])
def test_of_4096_candidates_both_are_exact_to_rounding(K: int, levels: int) -> None:
    M = 4096
    values = np.random.Generator(np.random.Philox(levels)).permutation(np.arange(M) % levels)
    counts = [count for _, count in sorted(Counter(values.tolist()).items())]
    tied = sum(
        (comb(B, K) - comb(B - n, K) - n * comb(B - n, K - 1) for B, n in zip(accumulate(counts), counts, strict=True))
    )
    assert tied_expected(values[None].astype(float), [K]).item() == pytest.approx(
        float(Fraction(tied, comb(M, K))), abs=1e-11
    )
    distinct = sum(1 - Fraction(comb(M - n, K), comb(M, K)) for n in counts)
    assert distinct_expected(values[None], [K]).item() == pytest.approx(float(distinct), rel=1e-11)
