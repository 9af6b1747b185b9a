"""What an answer is worth."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from cvoting.tasks.base import Task

#: The outcome that is a share; the metrics of the task are 0 or 1.
CELL_ACCURACY = "cell_accuracy"


def judge(
    task: Task,
    answers: UInt8[np.ndarray, "puzzles *candidates cells"],
    questions: UInt8[np.ndarray, "puzzles *one cells"],
    labels: UInt8[np.ndarray, "puzzles *one cells"],
) -> tuple[dict[str, Bool[np.ndarray, "puzzles *candidates"]], Float[np.ndarray, "puzzles *candidates"]]:
    """For each of the task's metrics whether answers are right, and the share of the positions to predict that are.

    Args:
        task: the judge.
        answers: tokens.
        questions, labels: tokens; they broadcast over candidates.
    """
    questions, labels = (np.broadcast_to(tokens, answers.shape) for tokens in (questions, labels))
    asked = task.positions_to_predict(questions)
    shares = ((answers == labels) & asked).sum(axis=-1) / asked.sum(axis=-1)
    return task.judge(answers, questions, labels), shares


def judge_candidates(
    task: Task,
    answers: Sequence[UInt8[np.ndarray, "_ cells"]],
    answer_ids: Int[np.ndarray, "puzzles candidates"],
    questions: UInt8[np.ndarray, "puzzles cells"],
    labels: UInt8[np.ndarray, "puzzles cells"],
) -> tuple[dict[str, Bool[np.ndarray, "puzzles candidates"]], Float[np.ndarray, "puzzles candidates"]]:
    """As `judge`, for candidates of whom many give the same answer; each answer is judged once.

    Args:
        task: the judge.
        answers: for each puzzle its table of distinct answers.
        answer_ids: the row of the puzzle's table that a candidate answered.
        questions, labels: tokens.
    """
    judged = [
        judge(task, table[None], question[None, None], label[None, None])
        for table, question, label in zip(answers, questions, labels, strict=True)
    ]

    def of_candidates(values: Iterable[np.ndarray]) -> np.ndarray:
        return np.stack([value[0, ids] for value, ids in zip(values, answer_ids, strict=True)])

    correct = {metric: of_candidates(found[metric] for found, _ in judged) for metric in task.metrics}
    return correct, of_candidates(shares for _, shares in judged)
