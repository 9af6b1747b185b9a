"""Augmentation by symmetries of the task, drawn anew each time puzzles are used and never stored."""

import numpy as np
from jaxtyping import UInt8

from cvoting.tasks.base import Task


def augment(
    task: Task,
    questions: UInt8[np.ndarray, "puzzles cells"],
    answers: UInt8[np.ndarray, "puzzles cells"],
    group: str,
    rng: np.random.Generator,
) -> tuple[UInt8[np.ndarray, "puzzles cells"], UInt8[np.ndarray, "puzzles cells"]]:
    """Each puzzle transformed by a symmetry of its own, questions and answers by the same one.

    Args:
        task: knows its symmetries.
        questions, answers: tokens, one row per puzzle; they are left as they are.
        group: one of the task's symmetry groups.
        rng: the source of randomness.
    """
    cells, tokens = task.random_symmetries(len(questions), group, rng)

    def transform(boards: np.ndarray) -> np.ndarray:
        return np.take_along_axis(tokens, np.take_along_axis(boards, cells, axis=1), axis=1)

    return transform(questions), transform(answers)
