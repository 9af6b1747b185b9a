"""The gap between random choice and the oracle: how much of it a vote closes, and on which puzzles there is one.

A vote can only gain where some candidates of a puzzle are right and some wrong.  What it gains there, as a share of
what can be gained, compares votes across models and tasks whose accuracies differ.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from cvoting.statistics import ROUNDING, quotient
from cvoting.table_files import NO_VOTE, ORACLE

#: The place of the votes among the axes of the outcomes of votes (`cvoting.pools.Pool`).
VOTES = -4


def gap_closed(
    means: Float[np.ndarray, "*draws votes estimators outcomes K"], votes: Sequence[str]
) -> Float[np.ndarray, "*draws votes estimators outcomes K"]:
    """The share of the gap that each vote closes: (vote - random) / (oracle - random), of means over the same puzzles.

    0 for random choice and 1 for the oracle; below 0 for a vote that is worse than random choice, and above 1 for a
    composed answer that is better than every candidate's.  NaN where there is no gap, or no reference among the votes.

    Args:
        means: what the votes achieve.
        votes: their names.
    """
    if not {NO_VOTE, ORACLE} <= set(votes):
        return np.full(means.shape, np.nan)
    random, oracle = (np.take(means, [votes.index(name)], axis=VOTES) for name in (NO_VOTE, ORACLE))
    gap = np.where(oracle - random > ROUNDING, oracle - random, 0)
    return quotient(means - random, np.broadcast_to(gap, means.shape))


def with_gap(
    values: Float[np.ndarray, "training_seeds puzzles votes estimators outcomes K"], votes: Sequence[str]
) -> Bool[np.ndarray, "puzzles estimators outcomes K"]:
    """The puzzles where the oracle is better than random choice: those with right and wrong candidates.

    Args:
        values: what the votes achieve on each puzzle.
        votes: their names, the references among them.
    """
    random, oracle = (values[:, :, votes.index(name)] for name in (NO_VOTE, ORACLE))
    return (oracle - random > ROUNDING).any(axis=0)
