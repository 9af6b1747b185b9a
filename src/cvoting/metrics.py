"""What an answer is worth."""

import numpy as np
from jaxtyping import Bool, Float, UInt8

#: By what an answer is right or wrong: every position to predict right (the paper's metric), or every cell (HRM's).
METRICS = ("board", "all_cells")


def judge(
    answers: UInt8[np.ndarray, "puzzles *candidates cells"],
    labels: UInt8[np.ndarray, "puzzles *one cells"],
    asked: Bool[np.ndarray, "puzzles *one cells"],
) -> tuple[dict[str, Bool[np.ndarray, "puzzles *candidates"]], Float[np.ndarray, "puzzles *candidates"]]:
    """For each of `METRICS` whether answers are right, and the share of the positions to predict that are right.

    Args:
        answers: tokens.
        labels: tokens; they broadcast over candidates.
        asked: the positions to predict, likewise.
    """
    right = answers == labels
    correct = {"board": (right | ~asked).all(axis=-1), "all_cells": right.all(axis=-1)}
    return correct, (right & asked).sum(axis=-1) / asked.sum(axis=-1)
