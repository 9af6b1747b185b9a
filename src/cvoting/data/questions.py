"""Questions that a user writes: one on the command line, or a file of them."""

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


def read_questions(task: Task, path: Path) -> list[UInt8[np.ndarray, "cells"]]:
    """The questions of a file: one per line, or one row per line; lines without a character do not count.

    Args:
        task: reads the characters.
        path: the file.

    Raises:
        QuestionError: for a file that cannot be read or holds none, and as of `parse_question` for the first bad one.
    """
    try:
        written = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        problem = f"not a readable file ({error.strerror})"
        raise QuestionError(f"{path}: {problem}: name a text file with one puzzle per line") from error
    except UnicodeDecodeError as error:
        raise QuestionError(f"{path}: not a text file, expected one puzzle per line") from error
    rows, columns = task.grid
    numbered = ((number, _trimmed(task, line, columns)) for number, line in enumerate(written, start=1))
    lines = [(number, line) for number, line in numbered if line]
    if not lines:
        raise QuestionError(f"{path}: no puzzle, expected one per line")
    if any(len(line) != columns for _, line in lines):
        return [parse_question(task, line, f"{path}, line {number}") for number, line in lines]
    if len(lines) % rows:
        expected = f"whole puzzles of {rows} rows, or one puzzle of {task.cells} characters per line"
        raise QuestionError(f"{path}: {len(lines)} lines of {columns} characters, expected {expected}")
    boards = [lines[start : start + rows] for start in range(0, len(lines), rows)]
    return [
        parse_question(task, "/".join(line for _, line in board), f"{path}, lines {board[0][0]} to {board[-1][0]}")
        for board in boards
    ]


def parse_question(task: Task, text: str, where: str) -> UInt8[np.ndarray, "cells"]:
    """The tokens of one question; spaces around its rows do not count, but those that are cells of a maze do.

    Args:
        task: reads the characters.
        text: the question, row by row, its rows joined or separated by '/' or line breaks.
        where: names the question in errors.

    Raises:
        QuestionError: when it has another size or characters, contradicts itself, or asks for nothing.
    """
    rows, columns = task.grid
    lines = re.split(r"/|\r?\n", text.strip("\r\n/"))
    if len(lines) == 1:
        line = _trimmed(task, lines[0], task.cells)
        if len(line) != task.cells:
            raise QuestionError(f"{where}: {len(line)} characters, expected {task.cells} ({rows} rows of {columns})")
        lines = [line[start : start + columns] for start in range(0, task.cells, columns)]
    lines = [_trimmed(task, line, columns) for line in lines]
    if len(lines) != rows:
        raise QuestionError(f"{where}: {len(lines)} rows, expected {rows} (of {columns} characters each)")
    known = _alphabet(task)
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


def _alphabet(task: Task) -> dict[str, int]:
    """The characters of questions and their tokens."""
    table = enumerate(token_table(task))
    return {chr(code): int(token) for code, token in table if token < min(task.vocabulary, STRANGER)}


def _trimmed(task: Task, line: str, width: int) -> str:
    """A line without spaces around it; where a space is a cell, without those beyond its width."""
    return line[:width] + line[width:].rstrip() if " " in _alphabet(task) else line.strip()


def _search(task: Task, question: UInt8[np.ndarray, "cells"]) -> str | None:
    """What a search finds that a glance did not: that no board satisfies the constraints."""
    if not isinstance(task, Sudoku) or task.digits > SEARCHED:
        return None
    # Not at the top: numba takes long to import.
    from cvoting.data.sudoku_generator import count_solutions

    return None if count_solutions(task, question, limit=1) else "no board with these givens satisfies the constraints"
