"""Puzzles of a user, solved by a trained model: C-voting over K candidates, and how the candidates split."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, UInt8

from cvoting.bank_from_answers import distinct
from cvoting.data.puzzles import Puzzles
from cvoting.errors import CvotingError
from cvoting.models.base import RecurrentModel
from cvoting.params.core import ParameterError
from cvoting.params.rollouts import RolloutPlan
from cvoting.rollouts import roll_out_candidates
from cvoting.tasks.base import Task
from cvoting.tasks.sudoku import Sudoku

#: Candidates computed at once.
CHUNK = 64
#: Answers that a description lists.
LISTED = 5


class SolveError(CvotingError, ValueError):
    """A checkpoint that cannot answer."""


@dataclass(frozen=True)
class Solution:
    """Distinct answers to a question, the one of the most confident candidate first.

    Attributes:
        question: tokens.
        answers: tokens; cells that are not asked for are those of the question.
        counts: candidates that gave each answer.
        confidence: of the most confident of them: mean top-1 probability over the positions to predict.
        satisfied: whether an answer keeps the givens and satisfies the task's constraints.
    """

    question: UInt8[np.ndarray, "cells"]
    answers: UInt8[np.ndarray, "answers cells"]
    counts: np.ndarray
    confidence: Float[np.ndarray, "answers"]
    satisfied: Bool[np.ndarray, "answers"]

    @property
    def answer(self) -> UInt8[np.ndarray, "cells"]:
        """What C-voting selects (Section 4); of equally confident candidates the first."""
        return self.answers[0]


def solve(
    model: RecurrentModel,
    task: Task,
    question: UInt8[np.ndarray, "cells"],
    candidates: int,
    steps: int,
    seed: int,
    device: torch.device,
) -> Solution:
    """Answer one question.

    Args:
        model: with the weights to use.
        task: of the question.
        question: tokens, without a contradiction.
        candidates: K.
        steps: T.
        seed: of the initial states; with the same, a bank of the question holds these candidates.
        device: where to compute.

    Raises:
        ParameterError: for a number of steps that the model cannot make.
        SolveError: when the model is not sure about anything, having diverged.
    """
    plan = RolloutPlan(T_eval=steps, candidates=candidates, chunk=CHUNK)
    if problems := model.params.step_problems(steps):
        raise ParameterError([f"steps: {problem}" for problem in problems])
    # Only the label would tell more than the question; nothing here reads it.
    puzzle = Puzzles(question[None], question[None], "own", "given")
    end, _ = roll_out_candidates(model.to(device).eval(), task, puzzle, plan, seed, device)
    confidence = end.scores["confidence"][0]
    if not np.isfinite(confidence).all():
        raise SolveError("a confidence is not a number: the weights of the checkpoint are no trained model's")
    table, ids = distinct(np.where(task.positions_to_predict(question), end.answers[0], question))
    best = np.array([np.where(ids == i, confidence, -1.0).argmax() for i in range(len(table))])
    order = np.lexsort((best, -confidence[best]))
    answers = table[order]
    return Solution(
        question=question,
        answers=answers,
        counts=np.bincount(ids)[order],
        confidence=confidence[best[order]],
        satisfied=task.valid(answers) & task.answers_question(answers, np.broadcast_to(question, answers.shape)),
    )


def default_steps(model: RecurrentModel, about: Mapping[str, Any]) -> int:
    """Twice the recurrent steps of the training, where the model can make them.

    Args:
        model: the checkpoint's.
        about: the checkpoint's description.

    Raises:
        SolveError: when the checkpoint does not say how it was trained.
    """
    T_train = about.get("training", {}).get("T_train")
    if not isinstance(T_train, int):
        raise SolveError("the checkpoint does not say with how many steps it was trained: give them with --steps")
    return T_train if model.params.step_problems(2 * T_train) else 2 * T_train


def describe(task: Task, solution: Solution) -> str:
    """The answer of the most confident candidate as a grid, what it is worth, and how the candidates split."""
    candidates, distinct_answers = int(solution.counts.sum()), len(solution.answers)
    verdict = "it satisfies the constraints" if solution.satisfied[0] else _complaint(task, solution)
    lines = [draw(task, solution.answer), f"confidence {solution.confidence[0]:.4f}; {verdict}"]
    lines += [f"candidates: {candidates}, distinct answers: {distinct_answers}"]
    lines += ["  candidates  confidence  constraints"]
    for count, confidence, satisfied in list(zip(*_columns(solution), strict=True))[:LISTED]:
        lines += [f"  {count:>10}  {confidence:>10.4f}  {'satisfied' if satisfied else 'violated'}"]
    if distinct_answers > LISTED:
        rest = f"{solution.counts[LISTED:].sum()} candidates, {int(solution.satisfied[LISTED:].sum())} satisfied"
        lines += [f"  and {distinct_answers - LISTED} more answers ({rest})"]
    return "\n".join(lines)


def draw(task: Task, tokens: UInt8[np.ndarray, "cells"]) -> str:
    """A board or maze, one line per row; lines between the boxes of a Sudoku."""
    text, (rows, columns) = task.format(tokens), task.grid
    lines = [text[row * columns : (row + 1) * columns] for row in range(rows)]
    if not isinstance(task, Sudoku):
        return "\n".join(lines)
    height, width = task.box
    drawn = [" | ".join(" ".join(line[at : at + width]) for at in range(0, columns, width)) for line in lines]
    rule = "-+-".join(["-" * (2 * width - 1)] * (columns // width))
    bands = ["\n".join(drawn[at : at + height]) for at in range(0, rows, height)]
    return f"\n{rule}\n".join(bands)


def _columns(solution: Solution) -> tuple[list[int], list[float], list[bool]]:
    return solution.counts.tolist(), solution.confidence.tolist(), solution.satisfied.tolist()


def _complaint(task: Task, solution: Solution) -> str:
    """What is wrong with the first answer."""
    problem = task.contradiction(solution.answer) if isinstance(task, Sudoku) else "not one simple path from S to G"
    return f"it violates the constraints: {problem}"
