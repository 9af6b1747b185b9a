"""Rules to stop on a few candidates by hand, and what holds for every rule."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvoting.adaptive import Stopping, by_threshold, crossed_thresholds, fixed, number_drawn, thresholds_for
from cvoting.agreement import by_agreement
from cvoting.estimators import Outcomes, Subsets, expected
from cvoting.seeding import generator
from cvoting.voting import VOTES, Ballot

#: The best of four candidates is wrong, and so is the worst.
SCORES, RIGHT = np.array([[0.3, 0.8, 0.9, 0.6]]), np.array([[[0.0, 1.0, 0.0, 1.0]]])
SEEDS = st.integers(0, 2**32 - 1)


def made_up(seed: int, puzzles: int = 6, M: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, with ties, answers and outcomes."""
    rng = generator("made-up candidates", seed)
    ids = rng.integers(0, 5, (puzzles, M))
    return (
        rng.random((puzzles, M)).round(1),
        ids,
        (rng.random((2, puzzles, 5)) < 0.5)[:, np.arange(puzzles)[:, None], ids] + 0.0,
    )


def test_two_of_four_candidates_reach_the_threshold() -> None:
    found = by_threshold(SCORES, RIGHT, np.array([[0.8]]), 2)
    # The first reaches it with 1/2, only the second with 1/2 2/3 = 1/3.
    assert found.stopped.item() == pytest.approx(5 / 6)
    assert found.drawn.item() == pytest.approx(1 * 1 / 2 + 2 * 1 / 2)
    # 0.9 and 0.8 stop equally often, and 0.8 is right; of 0.3 and 0.6, drawn in 1/6, C-voting takes 0.6: right too.
    assert found.right_stopped.item() == pytest.approx(5 / 12)
    assert found.right.item() == pytest.approx(5 / 12 + 1 / 6)


def test_where_all_may_be_drawn_a_threshold_that_one_reaches_always_stops() -> None:
    found = by_threshold(SCORES, RIGHT, np.array([[0.8, 0.85, 0.95]]), 4)
    # Two of four come at (4 + 1) / (2 + 1) on average, one at 5 / 2; none is waited for in vain until the last.
    np.testing.assert_allclose(found.drawn, [[5 / 3, 5 / 2, 4]])
    np.testing.assert_allclose(found.stopped, [[1, 1, 0]])
    # One of 0.9 and 0.8; 0.9; C-voting, which takes 0.9.
    np.testing.assert_allclose(found.right[..., 0], [[1 / 2, 0, 0]])
    np.testing.assert_allclose(found.right_stopped[..., 0], [[1 / 2, 0, 0]])


def test_the_number_drawn_until_one_of_n_of_four_comes() -> None:
    # Of n = 0, 1, ..., 4: a second is drawn with the chance that the first is none of them.
    np.testing.assert_allclose(number_drawn(4, 2), [2, 1 + 3 / 4, 1 + 2 / 4, 1 + 1 / 4, 1])
    np.testing.assert_allclose(number_drawn(4, 4), [4, 5 / 2, 5 / 3, 5 / 4, 1])
    np.testing.assert_allclose(number_drawn(4, 1), np.ones(5))


def test_two_of_four_candidates_agree() -> None:
    # A, A, B, C of which B is the most confident and C more so than A.
    scores, ids = np.array([[0.3, 0.2, 0.9, 0.5]]), np.array([[7, 7, 1, 4]])
    right = np.array([[ids[0] == answer] for answer in (7, 1, 4)]) + 0.0
    found = by_agreement(scores, ids, right, [2], 2)
    # Of the 6 pairs one is A, A; three of the others hold B, and two are A, C.
    assert found.drawn.item() == 2
    assert found.stopped.item() == pytest.approx(1 / 6)
    np.testing.assert_allclose(found.right[0, 0], [1 / 6, 3 / 6, 2 / 6])
    np.testing.assert_allclose(found.right_stopped[0, 0], [1 / 6, 0, 0])
    found = by_agreement(scores, ids, right, [2], 3)
    # Of the 4 sets of three, two hold both A; the first two are A, A in 1/6.  The other two hold B.
    assert found.drawn.item() == pytest.approx(2 * 1 / 6 + 3 * 5 / 6)
    np.testing.assert_allclose(found.right[0, 0], [1 / 2, 1 / 2, 0], atol=1e-15)
    found = by_agreement(scores, ids, right, [2], 4)
    # Both A come among the first two, three or four in 1/6, 3/6 - 1/6 and 1 - 3/6.
    assert found.drawn.item() == pytest.approx(2 / 6 + 3 * 2 / 6 + 4 * 3 / 6)
    np.testing.assert_allclose(found.right_stopped[0, 0], [1, 0, 0], atol=1e-15)


def test_a_fixed_number_is_always_drawn_and_always_answered() -> None:
    right = np.array([[[0.5], [0.75]]])
    found = fixed(right, [1, 4])
    assert (found.drawn.tolist(), found.stopped.tolist()) == ([[1, 4]], [[1, 1]])
    assert found.right is found.right_stopped


def test_thresholds_of_two_puzzles_of_two_candidates() -> None:
    scores = np.array([[0.5, 0.9], [0.7, 0.3]])
    # Of a puzzle's two candidates 2, 1.5 and 1 are drawn if none, one and both reach: each saves 0.25 of the mean 2.
    targets = [1.0, 1.25, 1.4, 1.6, 1.75, 1.99, 2.0, 3.0]
    assert thresholds_for(scores, targets, 2).tolist() == [0.3, 0.5, 0.5, 0.7, 0.9, 0.9, inf, inf]


def test_equal_scores_are_reached_together() -> None:
    # One candidate of 0.5 saves 1/2 and no threshold lies between it and the other, whose 1/2 is not asked for.
    assert thresholds_for(np.array([[0.5, 0.5]]), [1.5], 2).tolist() == [0.5]
    assert thresholds_for(np.full((5, 7), 0.5), [1.0, 2.0, 3.0, 4.0], 4).tolist() == [0.5, 0.5, 0.5, inf]


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 12))
def test_without_a_demand_any_candidate_is_taken_and_with_an_endless_one_c_voting_decides(seed: int, K: int) -> None:
    scores, ids, outcomes = made_up(seed)
    found = by_threshold(scores, outcomes, np.tile([-inf, inf], (6, 1)), K)
    ballot = Ballot({"confidence": scores}, ids, np.zeros((5, 1), dtype=np.uint8))
    worth = Outcomes(outcomes, lambda answers: outcomes[..., 0])
    votes = {
        name: expected(VOTES[name], ballot, worth, [K], Subsets(1, 0))[..., 0].T for name in ("random", "confidence")
    }
    np.testing.assert_allclose(found.drawn, np.tile([1.0, K], (6, 1)), rtol=1e-12)
    np.testing.assert_allclose(found.stopped, np.tile([1.0, 0], (6, 1)), atol=1e-12)
    np.testing.assert_allclose(found.right[:, 0], votes["random"], atol=1e-12)
    np.testing.assert_allclose(found.right[:, 1], votes["confidence"], atol=1e-12)
    found = by_agreement(scores, ids, outcomes, [1, K + 1], K)
    np.testing.assert_allclose(found.drawn, np.tile([1.0, K], (6, 1)), rtol=1e-12)
    np.testing.assert_allclose(found.stopped, np.tile([1.0, 0], (6, 1)), atol=1e-12)
    np.testing.assert_allclose(found.right[:, 0], votes["random"], atol=1e-12)
    np.testing.assert_allclose(found.right[:, 1], votes["confidence"], atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 12))
def test_whoever_demands_more_draws_more_and_stops_less_often(seed: int, K: int) -> None:
    scores, ids, outcomes = made_up(seed)
    rules = by_threshold(scores, outcomes, np.tile(np.linspace(-0.1, 1.1, 13), (6, 1)), K)
    for found in (rules, by_agreement(scores, ids, outcomes, range(1, 13), K)):
        assert (np.diff(found.drawn, axis=1) >= -1e-12).all()
        assert (np.diff(found.stopped, axis=1) <= 1e-12).all()
        assert ((found.drawn >= 1 - 1e-12) & (found.drawn <= K + 1e-12)).all()
        assert (found.right_stopped <= found.right + 1e-12).all()
        assert (found.right_stopped <= found.stopped[..., None] + 1e-12).all()
        assert (found.right <= found.right_stopped + 1 - found.stopped[..., None] + 1e-12).all()


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(2, 12), st.integers(0, 1))
def test_no_threshold_depends_on_the_half_it_judges(seed: int, K: int, judged: int) -> None:
    scores, _, _ = made_up(seed)
    half, targets = np.arange(6) % 2, [1.0, 1.5, 2.0]
    chosen = crossed_thresholds(scores, half, targets, K)
    assert chosen[half == judged].tolist() == [thresholds_for(scores[half != judged], targets, K).tolist()] * 3
    changed = np.where(half[:, None] == judged, 1 - scores**2, scores)
    again = crossed_thresholds(changed, half, targets, K)
    assert (again[half == judged] == chosen[half == judged]).all()
    assert set(chosen[chosen < inf]) <= set(scores.ravel())


def test_rules_and_puzzles_are_put_together_in_order() -> None:
    scores, ids, outcomes = made_up(0)
    rules = Stopping.joined(
        [by_threshold(scores, outcomes, np.full((6, 1), 0.7), 3), by_agreement(scores, ids, outcomes, [2, 3], 3)],
        axis=1,
    )
    assert rules.right.shape == (6, 3, 2)
    parts = [rules.of(np.arange(2)), rules.of(np.arange(2, 6))]
    for name, values in vars(Stopping.joined(parts, axis=0)).items():
        np.testing.assert_array_equal(values, getattr(rules, name))


def test_without_rules_there_are_no_numbers() -> None:
    scores, ids, outcomes = made_up(0)
    assert by_agreement(scores, ids, outcomes, [], 3).right.shape == (6, 0, 2)
