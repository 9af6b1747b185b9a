"""AUROC and spread of a few candidates by hand."""

import numpy as np
import pytest

from cvoting import discrimination
from cvoting.discrimination import auroc_between, auroc_within, spread
from cvoting.seeding import generator

#: Two puzzles of two candidates, each with a right one.
SCORES = np.array([[0.6, 0.4], [0.7, 0.9]])
CORRECT = np.array([[True, False], [True, False]])


def test_two_right_and_two_wrong_candidates_with_a_tie() -> None:
    scores, correct = np.array([[0.9, 0.5, 0.5, 0.1]]), np.array([[True, True, False, False]])
    # Of the pairs (0.9, 0.5), (0.9, 0.1), (0.5, 0.5) and (0.5, 0.1) three are won and one is tied.
    np.testing.assert_array_equal(auroc_within(scores, correct), [3.5 / 4])
    np.testing.assert_array_equal(auroc_within(scores, ~correct), [0.5 / 4])


def test_a_puzzle_without_a_pair_has_no_auroc() -> None:
    scores = np.array([[0.1, 0.2], [0.1, 0.2], [0.1, 0.2]])
    correct = np.array([[True, True], [False, False], [False, True]])
    np.testing.assert_array_equal(auroc_within(scores, correct), [np.nan, np.nan, 1])
    np.testing.assert_array_equal(auroc_within(scores[:, :1], correct[:, :1]), [np.nan] * 3)


def test_equal_scores_tell_nothing_and_minus_infinity_is_a_score() -> None:
    correct = np.array([[True, False, True]])
    np.testing.assert_array_equal(auroc_within(np.full((1, 3), 0.5), correct), [0.5])
    # Right -inf against wrong -inf is half, right 0 wins.
    np.testing.assert_array_equal(auroc_within(np.array([[-np.inf, -np.inf, 0.0]]), correct), [1.5 / 2])


def test_between_two_puzzles_a_right_one_meets_only_the_wrong_one_of_the_other() -> None:
    # 0.6 against 0.9 is lost, 0.7 against 0.4 is won; within the puzzles one is won and one lost, which does not count.
    np.testing.assert_allclose(auroc_between(SCORES, CORRECT, np.array([[0.5, 0.5]])), [0.5])
    # With 0.4 instead of 0.9 the first is won too; with 0.6 it is tied.
    for wrong, expected in [(0.4, 1), (0.6, 0.75)]:
        scores = np.array([[0.6, 0.4], [0.7, wrong]])
        np.testing.assert_allclose(auroc_between(scores, CORRECT, np.array([[0.5, 0.5]])), [expected])


def test_pairs_of_puzzles_weigh_the_product_of_their_shares() -> None:
    scores = np.array([[0.6, 0.4], [0.7, 0.9], [0.3, 0.5]])
    correct = np.array([[True, False], [True, False], [True, False]])
    # Right of p against wrong of q: (1, 2) lost, (1, 3) won; (2, 1) won, (2, 3) won; (3, 1) lost, (3, 2) lost.
    # With shares 1/2, 1/4, 1/4: won 1/8 + 1/8 + 1/16 of 2 (1/8 + 1/8 + 1/16).
    shares = np.array([[2, 1, 1], [1, 1, 1], [1, 2, 1]]) / [[4], [3], [4]]
    # Shares 1/4, 1/2, 1/4: won 1/16 + 1/8 + 1/8, of 2 (1/8 + 1/8 + 1/16).
    np.testing.assert_allclose(auroc_between(scores, correct, shares), [1 / 2, 3 / 6, 1 / 2])
    # Without the third: only (1, 2) and (2, 1) are left; without the first: (2, 3) won, (3, 2) lost.
    np.testing.assert_allclose(auroc_between(scores, correct, np.array([[0.9, 0.1, 0]])), [1 / 2])


def test_one_puzzle_without_a_right_candidate_still_meets_the_others() -> None:
    scores, correct = np.array([[0.6, 0.8], [0.7, 0.9]]), np.array([[False, False], [True, True]])
    # 0.7 beats 0.6 and loses to 0.8; 0.9 beats both.
    np.testing.assert_allclose(auroc_between(scores, correct, np.array([[0.5, 0.5]])), [3 / 4])


def test_without_a_pair_of_different_puzzles_there_is_no_auroc_between() -> None:
    shares = np.array([[1, 0], [0, 1], [0.5, 0.5], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(auroc_between(SCORES, CORRECT, shares), [np.nan, np.nan, 0.5, 0.5])
    for all_alike in (np.ones_like(CORRECT), np.zeros_like(CORRECT)):
        np.testing.assert_array_equal(auroc_between(SCORES, all_alike, shares), [np.nan] * 4)


@pytest.mark.parametrize("seed", range(3))
def test_results_do_not_depend_on_how_many_are_held_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = generator("made-up scores", seed)
    scores, correct = rng.random((7, 5)), rng.random((7, 5)) < 0.5
    shares = rng.multinomial(7, np.ones(7) / 7, size=9) / 7
    within, between = auroc_within(scores, correct), auroc_between(scores, correct, shares)
    monkeypatch.setattr(discrimination, "NUMBERS_AT_ONCE", 12)
    np.testing.assert_array_equal(auroc_within(scores, correct), within)
    np.testing.assert_allclose(auroc_between(scores, correct, shares), between, rtol=1e-12)


def test_a_score_of_4096_candidates_that_orders_them_all_is_perfect_and_exact() -> None:
    correct = generator("made-up answers").random((3, 4096)) < 0.3
    scores = np.where(correct, 1.0, 0.0) + np.linspace(0, 0.5, 4096)
    np.testing.assert_array_equal(auroc_within(scores, correct), [1, 1, 1])
    np.testing.assert_array_equal(auroc_within(-scores, correct), [0, 0, 0])


def test_spread_is_that_of_the_marked_candidates() -> None:
    scores = np.array([[1.0, 3, 100], [1, 3, 5], [1, 2, 3], [1, 2, 3]])
    among = np.array([[True, True, False], [True, True, True], [False, True, False], [False, False, False]])
    # sqrt((1 + 1) / 1); sqrt((4 + 0 + 4) / 2); of one and of none there is no spread.
    np.testing.assert_allclose(spread(scores, among), [np.sqrt(2), 2, np.nan, np.nan])


def test_infinite_scores_have_no_spread_but_where_they_do_not_count() -> None:
    scores = np.array([[-np.inf, 1.0, 3.0], [-np.inf, 1.0, 3.0]])
    among = np.array([[True, True, True], [False, True, True]])
    np.testing.assert_allclose(spread(scores, among), [np.nan, np.sqrt(2)])
    np.testing.assert_allclose(spread(scores[:1], ~among[:1]), [np.nan])
