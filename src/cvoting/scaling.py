"""What accuracy costs: the best of some numbers of candidates and steps for each cost, and what each of the two gains.

A cell is a number of candidates K with a number of steps T; its accuracy is a mean over puzzles.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cvoting.statistics import ROUNDING, quotient


@dataclass(frozen=True)
class Grid:
    """Cells in ascending order of what they cost.

    Attributes:
        K: candidates of each cell.
        T: steps of each.
        cost: of each, in FLOP per puzzle.
    """

    K: Int[np.ndarray, "cells"]
    T: Int[np.ndarray, "cells"]
    cost: Int[np.ndarray, "cells"]

    def place(self, K: int, T: int) -> int:
        """The cell of K candidates and T steps."""
        (found,) = np.flatnonzero((self.K == K) & (self.T == T))
        return int(found)

    def no_dearer(self, cells: Int[np.ndarray, "some"]) -> Int[np.ndarray, "some"]:
        """The last of the cells that cost as little as each of some."""
        return np.searchsorted(self.cost, self.cost[cells], side="right") - 1


def best_so_far(accuracy: Float[np.ndarray, "*draws cells"]) -> Int[np.ndarray, "*draws cells"]:
    """For each cell, in ascending order of cost, the most accurate of those up to it; of equal ones the first.

    Args:
        accuracy: of each cell; differences of `ROUNDING` count as none.
    """
    steps = np.round(accuracy / ROUNDING)
    best = np.maximum.accumulate(steps, axis=-1)
    better = np.ones(steps.shape, dtype=bool)
    better[..., 1:] = best[..., 1:] > best[..., :-1]
    return np.maximum.accumulate(np.where(better, np.arange(steps.shape[-1]), 0), axis=-1)


def front(grid: Grid, accuracy: Float[np.ndarray, "cells"]) -> Int[np.ndarray, "front"]:
    """The iso-compute front: the cells more accurate than all that cost no more, in ascending order of cost.

    Args:
        grid: the cells.
        accuracy: of each.
    """
    return np.unique(best_so_far(accuracy)[grid.no_dearer(np.arange(len(grid.cost)))])


def cross_judged(
    one: Float[np.ndarray, "*draws cells"], other: Float[np.ndarray, "*draws cells"], up_to: Int[np.ndarray, "budgets"]
) -> Float[np.ndarray, "*draws budgets"]:
    """The accuracy of choosing the best cell up to a budget: each half answers with the choice of the other.

    sum_h S_h[argmax_c S_h'[c]], S_h the sum over the puzzles of a half h, h' the other half.  The best of many cells
    is partly the luckiest, so what the puzzles that chose it say of it is too high; these did not choose.

    Args:
        one, other: the sum over the puzzles of each half, divided by the number of all puzzles.
        up_to: for each budget the last cell that it buys.
    """
    judged = np.zeros((*one.shape[:-1], len(up_to)))
    for judge, chooser in ((one, other), (other, one)):
        judged += np.take_along_axis(judge, best_so_far(chooser)[..., up_to], axis=-1)
    return judged


#: What `shares_of_the_gain` gives, in its order.
GAINS = (
    "gain", "depth_alone", "breadth_alone", "interaction", "depth", "breadth", "depth_share", "breadth_share",
)  # fmt: skip


def shares_of_the_gain(
    start: Float[np.ndarray, "draws"],
    deep: Float[np.ndarray, "draws"],
    broad: Float[np.ndarray, "draws"],
    both: Float[np.ndarray, "draws"],
) -> Float[np.ndarray, "draws gains"]:
    """How much more steps (depth) and more candidates (breadth) raise the accuracy; see `GAINS`.

    What each gains alone leaves an interaction: one may be worth more where the other is there already, or less.
    `depth` and `breadth` are the mean over the two orders in which they can be added, the Shapley value:

        gain = both - start = depth + breadth
        depth = ((deep - start) + (both - broad)) / 2,  breadth = ((broad - start) + (both - deep)) / 2

    The shares are those divided by the gain; NaN where there is none.
    Source: Shapley (1953), A value for n-person games.

    Args:
        start: the accuracy of the fewest steps and candidates.
        deep, broad: of the most steps with the fewest candidates, and of the fewest steps with the most candidates.
        both: of the most steps and candidates.
    """
    gain, depth_alone, breadth_alone = both - start, deep - start, broad - start
    interaction = gain - depth_alone - breadth_alone
    depth, breadth = depth_alone + interaction / 2, breadth_alone + interaction / 2
    there = np.where(gain > ROUNDING, gain, 0)
    shares = quotient(depth, there), quotient(breadth, there)
    return np.stack([gain, depth_alone, breadth_alone, interaction, depth, breadth, *shares], axis=-1)
