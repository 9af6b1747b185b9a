"""Puzzles of a user, solved by a trained model: C-voting over K candidates, and how the candidates split."""

from collections.abc import Mapping, Sequence
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


def default_steps(model: RecurrentModel, about: Mapping[str, Any]) -> tuple[int, str]:
    """The steps that the model is usually evaluated with, and why these.

    Args:
        model: the checkpoint's.
        about: the checkpoint's description.

    Raises:
        SolveError: when the checkpoint does not say how it was trained.
    """
    T_train = about.get("training", {}).get("T_train")
    if not isinstance(T_train, int):
        raise SolveError("the checkpoint does not say with how many steps it was trained: give them with --steps")
    factor = model.evaluation_factor
    times = {1: "as many", 2: "twice as many"}.get(factor, f"{factor} times as many")
    return T_train * factor, f"{times} as in training"


def describe(task: Task, solution: Solution) -> str:
    """The answer of the most confident candidate as a picture, what it is worth, and how the candidates split."""
    candidates, distinct_answers = int(solution.counts.sum()), len(solution.answers)
    column, *confidences = confidence_column(solution.confidence[:LISTED].tolist())
    lines = [draw(task, solution.answer), ""]
    lines += [f"confidence {column.removesuffix('confidence')}{confidences[0]}; {_verdict(task, solution)}"]
    lines += [f"candidates: {candidates}, distinct answers: {distinct_answers}"]
    lines += [f"  candidates  {column}  constraints"]
    states = np.where((solution.answers == no_answer(task)).any(axis=1), "incomplete", "violated")
    states = np.where(solution.satisfied, "satisfied", states)
    ties = np.diff(solution.confidence, prepend=np.inf) == 0
    for count, confidence, state, tied in zip(solution.counts, confidences, states, ties, strict=False):
        same = " (as confident as the row above)" if tied else ""
        lines += [f"  {count:>10}  {confidence:>{len(column)}}  {state}{same}"]
    if distinct_answers > LISTED:
        others = f"other answers: {distinct_answers - LISTED}, satisfied: {int(solution.satisfied[LISTED:].sum())}"
        lines += [f"  {solution.counts[LISTED:].sum():>10}  {'':>{len(column)}}  {others}"]
    return "\n".join(lines)


def confidence_column(values: Sequence[float]) -> list[str]:
    """A heading and some confidences, with four decimals, or by what they lack of 1 where these do not tell them apart.

    Confidences close to 1 differ in what they lack of it, which is exact in floating point; it gets as many digits as
    tell all of them apart.
    """
    distinct = len(set(values))
    decimals = [f"{value:.4f}" for value in values]
    if len(set(decimals)) == distinct and "1.0000" not in decimals:
        return ["confidence", *decimals]
    lacking = ([f"{1 - value:.{digits}e}" for value in values] for digits in range(1, 17))
    return ["1 - confidence", *next(texts for texts in lacking if len(set(texts)) == distinct)]


def draw(task: Task, tokens: UInt8[np.ndarray, "cells"]) -> str:
    """A board or maze as a picture, with '?' for what is no answer."""
    missing = tokens == no_answer(task)
    characters = task.format(np.where(missing, np.uint8(task.blank), tokens))
    return task.draw("".join(UNANSWERED if gap else c for gap, c in zip(missing, characters, strict=True)))


def _verdict(task: Task, solution: Solution) -> str:
    """What the selected answer is worth, and what is wrong with it."""
    if missing := int((solution.answer == no_answer(task)).sum()):
        cells = "1 cell" if missing == 1 else f"{missing} cells"
        return f"it is incomplete: what the model predicts in {cells} ({UNANSWERED}) is not an answer"
    problem = task.violation(solution.question, solution.answer)
    verdict = f"it violates the constraints: {problem}" if problem else "it satisfies the constraints"
    remark = task.remark(solution.question, solution.answer)
    return f"{verdict}; {remark}" if remark else verdict
