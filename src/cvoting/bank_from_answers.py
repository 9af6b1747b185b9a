"""A bank from arrays of answers and scores: rollouts made by any program, ready for every vote and table."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float, Float16, Int, Integer, UInt8

from cvoting.bank import Bank, BankHeader, Reading
from cvoting.data.puzzles import Puzzles
from cvoting.errors import CvotingError
from cvoting.metrics import judge_candidates
from cvoting.tasks.base import Task


class AnswersError(CvotingError, ValueError):
    """Answers or scores that cannot be a bank."""


def no_answer(task: Task) -> int:
    """The token of a cell for which a model predicted what is no answer: the one behind those of answers."""
    return task.first_answer_token + task.classes


def bank_from_answers(
    header: BankHeader,
    task: Task,
    puzzles: Puzzles,
    answers: Integer[np.ndarray, "puzzles candidates cells"],
    scores: Mapping[str, np.ndarray],
    steps: Mapping[int, Reading] | None = None,
    unanswered: bool = False,
    logits: Float[np.ndarray, "..."] | None = None,
) -> Bank:
    """The bank of some puzzles whose candidates answered and scored as given; its answers are judged here.

    Args:
        header: what the bank is of.
        task: says which cells are asked for.
        puzzles: in the order of the answers.
        answers: tokens, as in `puzzles.answers` (a model's class plus `task.first_answer_token`).
        scores: per name [puzzles, candidates], larger is better.  Votes look for the names of `voting.VOTES`.
        steps: what candidates were at earlier steps, made by `reading_from_answers`.
        unanswered: whether cells may hold `no_answer(task)`, which is always wrong.
        logits: [puzzles, kept, cells, tokens], of the first candidates, for calibration; -inf for tokens that a model
            never predicts.

    Raises:
        AnswersError: for other shapes than the puzzles', tokens that no answer has, or a score or logit that is not a
            number.
    """
    tables, answer_ids, reading = _judged(task, puzzles, answers, scores, unanswered)
    kept, ranks = ([], []) if logits is None else _kept(task, puzzles, answers, logits)
    return Bank(
        header=header,
        puzzles=puzzles.hashes,
        questions=puzzles.questions,
        labels=puzzles.answers,
        answers=tables,
        answer_ids=answer_ids,
        scores=reading.scores,
        correct=reading.correct,
        cell_accuracy=reading.cell_accuracy,
        steps=dict(steps or {}),
        logits=kept,
        ranks=ranks,
    )


def reading_from_answers(
    task: Task,
    puzzles: Puzzles,
    answers: Integer[np.ndarray, "puzzles candidates cells"],
    scores: Mapping[str, np.ndarray],
    unanswered: bool = False,
) -> Reading:
    """What candidates that answered and scored as given were at a step; arguments and errors as `bank_from_answers`."""
    return _judged(task, puzzles, answers, scores, unanswered)[2]


def compact(
    logits: Float[np.ndarray, "puzzles kept cells tokens"],
    asked: Bool[np.ndarray, "puzzles cells"],
    labels: UInt8[np.ndarray, "puzzles cells"],
) -> tuple[list[Float16[np.ndarray, "kept _ tokens"]], list[UInt8[np.ndarray, "kept _"]]]:
    """Logits as a bank keeps them: at the positions to predict, minus the largest of the cell, in 16 bits, sorted.

    They are in descending order, and of equal ones the token that appears first is first; beside them the place of the
    label's.  That is all that calibration asks for, and tells nobody the board.  The largest is 0 and the least -65504,
    for -inf.  To first order the error of a probability p is at most 2**-11 p (|log p| + H), with H the entropy of the
    cell's probabilities.

    Args:
        logits: of every cell.
        asked: the positions to predict.
        labels: the tokens that are right.

    Raises:
        AnswersError: when one is not a number, or no token of a cell is possible.
    """
    best = logits.max(axis=-1, keepdims=True)
    if not np.isfinite(best).all():
        puzzle, candidate, cell, _ = np.argwhere(~np.isfinite(best))[0]
        raise AnswersError(
            f"logits of cell {cell + 1} of candidate {candidate + 1} of puzzle {puzzle + 1}: the largest is "
            f"{best[puzzle, candidate, cell, 0]}, expected a number: the model diverged (train it again)"
        )
    least = np.finfo(np.float16).min
    small = np.maximum(logits - best, least).astype(np.float16)
    kept, ranks = [], []
    for of_puzzle, cells, label in zip(small, asked, labels, strict=True):
        order = np.argsort(-of_puzzle[:, cells], axis=-1, kind="stable")
        kept.append(np.take_along_axis(of_puzzle[:, cells], order, axis=-1))
        ranks.append((order == label[cells][:, None]).argmax(axis=-1).astype(np.uint8))
    return kept, ranks


def distinct(
    answers: UInt8[np.ndarray, "candidates cells"],
) -> tuple[UInt8[np.ndarray, "distinct cells"], Int[np.ndarray, "candidates"]]:
    """The distinct answers of a puzzle, in order of appearance, and which of them each candidate gave."""
    table, first, ids = np.unique(answers, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return table[order], np.argsort(order)[ids.reshape(-1)]


def _kept(
    task: Task, puzzles: Puzzles, answers: np.ndarray, logits: Float[np.ndarray, "..."]
) -> tuple[list[Float16[np.ndarray, "kept _ tokens"]], list[UInt8[np.ndarray, "kept _"]]]:
    """The logits as a bank keeps them, refused where they are not of its puzzles."""
    least = (len(puzzles), 1, puzzles.questions.shape[1], task.first_answer_token + task.classes)
    found, candidates = logits.shape, answers.shape[1]
    of_puzzles = len(found) == 4 and found[0] == least[0] and found[2] == least[2]
    if not of_puzzles or not 1 <= found[1] <= candidates or found[3] < least[3]:
        raise AnswersError(
            f"logits of shape {found}: expected ({least[0]} puzzles, 1 to {candidates} candidates, {least[2]} cells, "
            f"{least[3]} tokens or more): give one for each token from 0 on, -inf for those that are no answer"
        )
    return compact(logits, task.positions_to_predict(puzzles.questions), puzzles.answers)


def _judged(
    task: Task, puzzles: Puzzles, answers: np.ndarray, scores: Mapping[str, np.ndarray], unanswered: bool
) -> tuple[list[np.ndarray], np.ndarray, Reading]:
    """The tables of distinct answers, who gave which, and what they are worth."""
    _check(task, puzzles, answers, scores, unanswered)
    tables, ids = zip(*map(distinct, answers.astype(np.uint8)), strict=True)
    answer_ids = np.stack(ids)
    judged = judge_candidates(task, tables, answer_ids, puzzles.questions, puzzles.answers)
    numbers = {name: np.asarray(values, dtype=np.float64) for name, values in scores.items()}
    return list(tables), answer_ids, Reading(numbers, *judged)


def _check(
    task: Task, puzzles: Puzzles, answers: np.ndarray, scores: Mapping[str, np.ndarray], unanswered: bool
) -> None:
    """Refuse what is no bank."""
    found, wanted = answers.shape, (len(puzzles), answers.shape[1], puzzles.questions.shape[1])
    if found != wanted or 0 in found:
        raise AnswersError(
            f"answers of shape {found}: expected (puzzles, candidates, cells) with {wanted[0]} puzzles of {wanted[2]} "
            "cells and at least one candidate: give one answer per puzzle and candidate"
        )
    low, high = task.first_answer_token, task.first_answer_token + task.classes - 1
    strangers = answers[(answers < low) | (answers > high + unanswered)]
    if strangers.size:
        raise AnswersError(
            f"token {strangers[0]} in an answer: expected {low} to {high} (class + task.first_answer_token)"
        )
    if not scores:
        raise AnswersError("no scores: expected at least one, such as confidence: a vote selects by a score")
    for name, values in scores.items():
        if np.shape(values) != found[:2]:
            raise AnswersError(f"{name} of shape {np.shape(values)}: expected {found[:2]}, (puzzles, candidates)")
        if np.isnan(values).any():
            puzzle, candidate = np.argwhere(np.isnan(values))[0]
            raise AnswersError(
                f"{name} of candidate {candidate + 1} of puzzle {puzzle + 1} is not a number: the model "
                "diverged (train it again), or the puzzle has no position to predict (leave it out)"
            )
