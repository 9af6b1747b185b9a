"""Ties and distinct answers of a few candidates by hand."""

import numpy as np
import pytest

from cvoting.diversity import distinct_expected, distinct_prefix, tied_expected, tied_prefix


def test_ties_at_the_top_of_two_and_three_among_four() -> None:
    scores = np.array([[0.5, 0.9, 0.9, 0.5]])
    # 1, 2: 0.9 alone; 1..3: 0.9 twice.
    assert tied_prefix(scores, [1, 2, 3, 4]).tolist() == [[0, 0, 1, 1]]
    # Pairs: {2,3} and {1,4} tie, of 6.  Triples: {1,2,3} and {2,3,4} tie, {1,2,4} and {1,3,4} have one 0.9.
    np.testing.assert_allclose(tied_expected(scores, [1, 2, 3, 4]), [[0, 2 / 6, 2 / 4, 1]], atol=1e-15)


def test_a_tie_below_the_top_counts_only_where_the_top_is_left_out() -> None:
    scores = np.array([[0.9, 0.5, 0.5]])
    assert tied_prefix(scores, [2, 3]).tolist() == [[0, 0]]
    np.testing.assert_allclose(tied_expected(scores, [2, 3]), [[1 / 3, 0]], atol=1e-15)


def test_different_scores_never_tie_to_the_last_bit() -> None:
    scores = np.random.Generator(np.random.Philox(0)).permuted(np.tile(np.arange(100.0), (5, 1)), axis=1)
    assert (tied_expected(scores, range(1, 101)) == 0).all()
    assert (tied_prefix(scores, range(1, 101)) == 0).all()


def test_equal_scores_always_tie_but_for_one_candidate() -> None:
    assert tied_prefix(np.ones((1, 3)), [1, 2, 3]).tolist() == [[0, 1, 1]]
    np.testing.assert_allclose(tied_expected(np.ones((1, 3)), [1, 2, 3]), [[0, 1, 1]], atol=1e-15)


def test_distinct_answers_of_two_and_three_among_four() -> None:
    answers = np.array([[0, 0, 1, 0]])
    assert distinct_prefix(answers, [1, 2, 3, 4]).tolist() == [[1, 1, 2, 2]]
    # Pairs: 3 of 6 hold the other answer.  Triples: 3 of 4.
    np.testing.assert_allclose(distinct_expected(answers, [1, 2, 3, 4]), [[1, 3 / 2, 7 / 4, 2]], atol=1e-15)


def test_puzzles_are_counted_by_themselves() -> None:
    answers = np.array([[0, 1, 2], [0, 0, 0]])
    assert distinct_prefix(answers, [3]).tolist() == [[3], [1]]
    assert distinct_expected(answers, [1, 2]) == pytest.approx(np.array([[1, 2], [1, 1]]), abs=1e-15)
    scores = np.array([[0.5, 0.5, 0.1], [0.1, 0.5, 0.9]])
    assert tied_prefix(scores, [2]).tolist() == [[1], [0]]
    np.testing.assert_allclose(tied_expected(scores, [2]), [[1 / 3], [0]], atol=1e-15)
