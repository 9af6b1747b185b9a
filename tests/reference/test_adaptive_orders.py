"""Closed forms of rules to stop against running them for every order of a few candidates, and exact fractions."""

import runpy
from fractions import Fraction
from math import comb, inf
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvoting import agreement
from cvoting.adaptive import Stopping, by_threshold, number_drawn, thresholds_for
from cvoting.agreement import by_agreement
from cvoting.seeding import generator

orders = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("adaptive_orders.py"))))
#: Few different scores, so that many tie; the probability of an answer may be 0.
SCORES = st.sampled_from([-inf, 0.25, 0.5, 0.75])
ANSWERS = st.integers(0, 2)


@st.composite
def puzzles(draw: st.DrawFn, most: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Scores, answers and outcomes, by two metrics, of two puzzles' candidates, and K."""
    M = draw(st.integers(1, most))

    def rows(values: st.SearchStrategy) -> np.ndarray:
        return np.array(draw(st.lists(st.lists(values, min_size=M, max_size=M), min_size=2, max_size=2)))

    worth = np.array(
        draw(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=3, max_size=3), min_size=2, max_size=2))
    )
    ids = rows(ANSWERS)
    return rows(SCORES).astype(float), ids, worth[:, ids], draw(st.integers(1, M))


def check(found: Stopping, puzzle: int, rule: int, wanted: list[tuple[float, float, float, float]]) -> None:
    """The numbers of one rule and puzzle are those wanted, by metric."""
    for metric, numbers in enumerate(wanted):
        mine = found.drawn, found.stopped, found.right[..., metric], found.right_stopped[..., metric]
        assert [values[puzzle, rule] for values in mine] == pytest.approx(numbers, abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(puzzles(), st.lists(st.sampled_from([-inf, 0.25, 0.4, 0.5, 0.75, 0.9, inf]), min_size=2, max_size=2))
def test_a_threshold_is_the_mean_over_all_orders(given_: tuple, thresholds: list[float]) -> None:
    scores, _, outcomes, K = given_
    # Two rules, whose thresholds the two puzzles have in turns.
    chosen = np.array([thresholds, thresholds[::-1]])
    found = by_threshold(scores, outcomes, chosen, K)
    for p in range(2):
        for r in range(2):
            rule = orders.confident(scores[p], chosen[p, r])
            check(found, p, r, [orders.mean_over_orders(rule, scores[p], o[p], K) for o in outcomes])


@settings(max_examples=80, deadline=None)
@given(puzzles())
def test_agreement_is_the_mean_over_all_orders(given_: tuple) -> None:
    scores, ids, outcomes, K = given_
    agreements = [1, 2, 3, 5]
    found = by_agreement(scores, ids, outcomes, agreements, K)
    for p in range(2):
        for r, m in enumerate(agreements):
            rule = orders.agreed(ids[p].tolist(), m)
            check(found, p, r, [orders.mean_over_orders(rule, scores[p], o[p], K) for o in outcomes])


@pytest.mark.parametrize("seed", range(20))
def test_six_candidates_with_ties_agree_too(seed: int) -> None:
    rng = generator("made-up candidates", seed)
    scores, ids = rng.choice([0.1, 0.2, 0.3, 0.4], (1, 6)), rng.integers(0, 3, (1, 6))
    outcomes = (rng.random(3) < 0.5).astype(float)[ids][None]
    for K in (2, 3, 4, 6):
        found = by_threshold(scores, outcomes, np.array([[0.2, 0.4]]), K)
        for r, t in enumerate((0.2, 0.4)):
            wanted = orders.mean_over_orders(orders.confident(scores[0], t), scores[0], outcomes[0, 0], K)
            check(found, 0, r, [wanted])
        found = by_agreement(scores, ids, outcomes, [2, 3], K)
        for r, m in enumerate((2, 3)):
            check(
                found, 0, r, [orders.mean_over_orders(orders.agreed(ids[0].tolist(), m), scores[0], outcomes[0, 0], K)]
            )


@settings(max_examples=15, deadline=None)
@given(puzzles(most=4), st.lists(st.floats(1, 4), min_size=1, max_size=3))
def test_thresholds_draw_no_more_than_their_target_and_the_next_higher_one_does(
    given_: tuple, targets: list[float]
) -> None:
    scores, _, _, K = given_
    # A target that is met exactly but for rounding is tested by hand.
    targets = [min(target + 1e-7, float(K)) for target in targets]
    found = thresholds_for(scores, targets, K)
    for threshold, target in zip(found, targets, strict=True):
        assert threshold == (inf if target >= K else orders.threshold_of(scores.tolist(), target, K))


@pytest.mark.parametrize(("M", "K"), [(128, 1), (128, 100), (128, 128), (4096, 64), (1024, 1024)])
def test_the_number_drawn_of_many_candidates_is_exact_to_rounding(M: int, K: int) -> None:
    found = number_drawn(M, K)
    assert len(found) == M + 1
    for n in {1, 2, M // 3, M} if K == M else {0, 1, M // 3, M - 1}:
        exact = sum(Fraction(comb(M - n, k), comb(M, k)) for k in range(min(K, M - n + 1)))
        assert found[n] == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize(("M", "K", "m"), [(128, 64, 3), (128, 128, 8), (4096, 100, 2), (4096, 512, 20)])
def test_agreement_of_many_candidates_is_exact_to_rounding(M: int, K: int, m: int) -> None:
    # One answer is given by a tenth of the candidates, which are the most confident; all others differ.
    n = M // 10
    ids = np.where(np.arange(M) < n, 0, np.arange(M))
    right = (ids == 0).astype(float)
    found = by_agreement(-np.arange(M, dtype=float)[None], ids[None], right[None, None], [m], K)
    few = [[Fraction(comb(n, i) * comb(M - n, k - i), comb(M, k)) for i in range(min(m, k + 1))] for k in range(K + 1)]
    assert found.drawn.item() == pytest.approx(float(sum(map(sum, few[:K]))), rel=1e-9)
    assert found.stopped.item() == pytest.approx(float(1 - sum(few[K])), abs=1e-9)
    assert found.right_stopped.item() == pytest.approx(found.stopped.item(), abs=1e-9)
    # Where nothing is agreed on, C-voting is right if one of the n is among the K.
    assert found.right.item() == pytest.approx(float(1 - few[K][0]), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_agreement_does_not_depend_on_how_many_chances_are_held_at_once(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = generator("made-up candidates", seed)
    scores, ids = rng.random((3, 24)), rng.integers(0, 8, (3, 24))
    outcomes = (rng.random((2, 8)) < 0.5).astype(float)[:, ids]
    once = by_agreement(scores, ids, outcomes, [2, 3, 4], 9)
    monkeypatch.setattr(agreement, "CHANCES_AT_ONCE", 1)
    again = by_agreement(scores, ids, outcomes, [2, 3, 4], 9)
    np.testing.assert_allclose(again.right, once.right, atol=1e-13)
    assert ((once.right - once.right_stopped)[:, 2] > 0.01).any(), "C-voting decides now and then"
