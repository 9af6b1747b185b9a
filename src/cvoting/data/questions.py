"""Questions that a user writes: one on the command line, or a file with one per line."""

import re
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from cvoting.data.boards import STRANGER, token_table
from cvoting.errors import CvotingError
from cvoting.tasks.base import Task
from cvoting.tasks.sudoku import Sudoku

#: Digits of the largest boards whose solutions are searched for; a larger one might take hours.
SEARCHED = 9


class QuestionError(CvotingError, ValueError):
    """A question that cannot be answered as it is written."""


def read_questions(task: Task, text: str | None, path: Path | None) -> list[UInt8[np.ndarray, "cells"]]:
    """The questions of a text, or else of a file with one per line; lines without a character do not count.

    Args:
        task: reads the characters.
        text: one question, row by row, its rows joined or separated by '/' or line breaks.
        path: a file of such questions, each in one line.

    Raises:
        QuestionError: for the first that has another size or characters, contradicts itself, or asks for nothing.
    """
    if text is not None:
        return [parse_question(task, text, "the puzzle")]
    try:
        lines = Path(path or "").read_text().splitlines()
    except UnicodeDecodeError as error:
        raise QuestionError(f"{path}: not a text file, expected one puzzle per line") from error
    questions = [parse_question(task, line, f"{path}, line {n}") for n, line in enumerate(lines, start=1) if line]
    if not questions:
        raise QuestionError(f"{path}: no puzzle, expected one per line")
    return questions


def parse_question(task: Task, text: str, where: str) -> UInt8[np.ndarray, "cells"]:
    """The tokens of one question; arguments as of `read_questions`.

    Args:
        where: names the question in errors.

    Raises:
        QuestionError: as of `read_questions`.
    """
    rows, columns = task.grid
    lines = re.split(r"/|\r?\n", text.strip("\r\n/"))
    if len(lines) == 1:
        lines = [text[start : start + columns] for start in range(0, len(text), columns)]
        if len(text) != task.cells:
            raise QuestionError(f"{where}: {len(text)} characters, expected {task.cells} ({rows} rows of {columns})")
    if len(lines) != rows:
        raise QuestionError(f"{where}: {len(lines)} rows, expected {rows} (of {columns} characters each)")
    known = {chr(code): token for code, token in enumerate(token_table(task)) if token < min(task.vocabulary, STRANGER)}
    for row, line in enumerate(lines, start=1):
        if len(line) != columns:
            raise QuestionError(f"{where}: {len(line)} characters in row {row}, expected {columns}")
        for column, character in enumerate(line, start=1):
            if character not in known:
                choices = " ".join(map(repr, known))
                raise QuestionError(f"{where}: {character!r} in row {row}, column {column}, expected one of {choices}")
    question = np.array([known[character] for character in "".join(lines)], dtype=np.uint8)
    if problem := task.contradiction(question) or _search(task, question):
        raise QuestionError(f"{where} has no answer: {problem}")
    if not task.positions_to_predict(question).any():
        raise QuestionError(f"{where} leaves no cell open: nothing to solve")
    return question


def _search(task: Task, question: UInt8[np.ndarray, "cells"]) -> str | None:
    """What a search finds that a glance did not: that no board satisfies the constraints."""
    if not isinstance(task, Sudoku) or task.digits > SEARCHED:
        return None
    # Not at the top: numba takes long to import.
    from cvoting.data.sudoku_generator import count_solutions

    return None if count_solutions(task, question, limit=1) else "no board with these givens satisfies the constraints"
