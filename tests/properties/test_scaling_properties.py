"""What holds for any accuracies: shares sum to the gain, and the front rises and is no worse than its judges say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cvoting.scaling import GAINS, Grid, best_so_far, cross_judged, front, shares_of_the_gain

accuracies = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
#: Of each cell the cost, and what the two halves of ten puzzles each answer right.
cells = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)


def gains_of(*corners: float) -> dict[str, float]:
    """The gains of one grid, by name."""
    return dict(zip(GAINS, shares_of_the_gain(*(np.array([corner]) for corner in corners))[0], strict=True))


@given(start=accuracies, deep=accuracies, broad=accuracies, both=accuracies)
def test_depth_and_breadth_sum_to_the_gain_and_their_shares_to_one(start, deep, broad, both) -> None:
    numbers = gains_of(start, deep, broad, both)
    close = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_allclose(numbers["depth"] + numbers["breadth"], both - start, **close)
    alone = numbers["depth_alone"] + numbers["breadth_alone"]
    np.testing.assert_allclose(alone + numbers["interaction"], both - start, **close)
    if both > start:
        np.testing.assert_allclose(numbers["depth_share"] + numbers["breadth_share"], 1, **close)
    if deep == start and both == broad:
        np.testing.assert_allclose(numbers["depth"], 0, **close)
    swapped = gains_of(start, broad, deep, both)
    np.testing.assert_allclose(numbers["depth"], swapped["breadth"], **close)


@given(of_cells=cells)
def test_the_front_rises_with_cost_and_nothing_that_costs_no_more_is_better(of_cells) -> None:
    cost, one, other = np.array(sorted(of_cells)).T
    accuracy = (one + other) / 10
    grid = Grid(np.ones_like(cost), np.arange(len(cost)), cost)
    chosen = front(grid, accuracy)
    assert (np.diff(cost[chosen]) > 0).all()
    assert (np.diff(accuracy[chosen]) > 0).all()
    for place in range(len(cost)):
        reachable = accuracy[cost <= cost[place]].max()
        assert accuracy[chosen[cost[chosen] <= cost[place]]].max() == reachable
    assert set(chosen) == {
        c for c in range(len(cost))
        if not any(accuracy[d] >= accuracy[c] and (cost[d], d) < (cost[c], c) for d in range(len(cost)))
        and not any(accuracy[d] > accuracy[c] and cost[d] == cost[c] for d in range(len(cost)))
    }  # fmt: skip


@given(of_cells=cells)
def test_puzzles_that_did_not_choose_never_think_more_of_the_choice(of_cells) -> None:
    cost, one, other = np.array(sorted(of_cells)).T
    accuracy, places = (one + other) / 10, np.arange(len(cost))
    judged = cross_judged(one / 10, other / 10, places)
    assert (judged <= accuracy[best_so_far(accuracy)] + 1e-12).all()
    assert (judged >= 0).all()
