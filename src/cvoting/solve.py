"""Puzzles of a user, solved by a trained model: C-voting over K candidates, and how the candidates split."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, UInt8

from cvoting.bank_from_answers import distinct, no_answer
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
#: How a cell is drawn for which a model predicted what is no answer.
UNANSWERED = "?"


class SolveError(CvotingError, ValueError):
    """A checkpoint that cannot answer."""


@dataclass(frozen=True)
class Solution:
    """Distinct answers to a question, the one of the most confident candidate first.

    Attributes:
        question: tokens.
        answers: tokens; cells that are not asked for are those of the question, and what is no answer is `no_answer`.
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
    """The steps that the model is usually evaluated with.

    Args:
        model: the checkpoint's.
        about: the checkpoint's description.

    Raises:
        SolveError: when the checkpoint does not say how it was trained.
    """
    T_train = about.get("training", {}).get("T_train")
    if not isinstance(T_train, int):
        raise SolveError("the checkpoint does not say with how many steps it was trained: give them with --steps")
    return T_train * model.evaluation_factor


def describe(task: Task, solution: Solution) -> str:
    """The answer of the most confident candidate as a grid, what it is worth, and how the candidates split."""
    candidates, distinct_answers = int(solution.counts.sum()), len(solution.answers)
    lines = [draw(task, solution.answer), ""]
    lines += [f"confidence {solution.confidence[0]:.4f}; {_verdict(task, solution)}"]
    lines += [f"candidates: {candidates}, distinct answers: {distinct_answers}"]
    lines += ["  candidates  confidence  constraints"]
    states = np.where((solution.answers == no_answer(task)).any(axis=1), "incomplete", "violated")
    states = np.where(solution.satisfied, "satisfied", states)
    rows = zip(solution.counts.tolist(), solution.confidence.tolist(), states.tolist(), strict=True)
    lines += [f"  {count:>10}  {confidence:>10.4f}  {state}" for count, confidence, state in list(rows)[:LISTED]]
    if distinct_answers > LISTED:
        others = f"other answers: {distinct_answers - LISTED}, satisfied: {int(solution.satisfied[LISTED:].sum())}"
        lines += [f"  {solution.counts[LISTED:].sum():>10}  {'':>10}  {others}"]
    return "\n".join(lines)


def draw(task: Task, tokens: UInt8[np.ndarray, "cells"]) -> str:
    """A board or maze, one line per row; lines between the boxes of a Sudoku, and '?' for what is no answer."""
    missing, (rows, columns) = tokens == no_answer(task), task.grid
    characters = task.format(np.where(missing, np.uint8(task.blank), tokens))
    text = "".join(UNANSWERED if gap else character for gap, character in zip(missing, characters, strict=True))
    lines = [text[row * columns : (row + 1) * columns] for row in range(rows)]
    if not isinstance(task, Sudoku):
        return "\n".join(lines)
    height, width = task.box
    drawn = [" | ".join(" ".join(line[at : at + width]) for at in range(0, columns, width)) for line in lines]
    rule = "-+-".join(["-" * (2 * width - 1)] * (columns // width))
    bands = ["\n".join(drawn[at : at + height]) for at in range(0, rows, height)]
    return f"\n{rule}\n".join(bands)


def _verdict(task: Task, solution: Solution) -> str:
    """What the selected answer is worth, and what is wrong with it."""
    if solution.satisfied[0]:
        return "it satisfies the constraints"
    if missing := int((solution.answer == no_answer(task)).sum()):
        cells = "1 cell" if missing == 1 else f"{missing} cells"
        return f"it is incomplete: what the model predicts in {cells} ({UNANSWERED}) is not an answer"
    problem = (
        task.contradiction(solution.answer)
        if isinstance(task, Sudoku)
        else "not one simple path of free cells from S to G"
    )
    return f"it violates the constraints: {problem}"
