"""Readers of the published puzzle files.

Every error names the file and the line, says what was found there and what was expected.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from cvoting.data.puzzles import DataError, Puzzles
from cvoting.tasks.base import Task
from cvoting.tasks.sudoku import BLANK, Sudoku

CSV_HEADER = ["source", "question", "answer", "rating"]
ROYLE_CLUES = 17


def read_hugging_face_csv(path: str | Path, task: Task, source: str) -> Puzzles:
    """The puzzles of a CSV file of HRM's authors: the columns source, question, answer and rating.

    Args:
        path: the file.
        task: reads the boards and knows what a valid answer is.
        source: what the puzzles say of their origin.

    Raises:
        DataError: for a wrong header, a truncated row, a board of the wrong length or with foreign characters, a rating
            that is no number, an answer that breaks the rules or contradicts its question, or a file without puzzles.
    """
    lines, questions, answers, ratings = [], [], [], []
    for line, (_, question, answer, rating) in _rows(path):
        lines.append(line)
        questions.append(_board(task, question, path, line, "question"))
        answers.append(_board(task, answer, path, line, "answer"))
        if not re.fullmatch("[0-9]{1,9}", rating):
            raise _error(path, line, f"rating {rating[:40]!r}, expected a whole number")
        ratings.append(int(rating))
    if not lines:
        raise _error(path, 1, "no puzzle after the header")
    puzzles = Puzzles(np.stack(questions), np.stack(answers), "original", source, np.array(ratings))
    checks = {
        "answer contradicts its question": task.answers_question(puzzles.answers, puzzles.questions),
        "answer breaks the rules of the task": task.valid(puzzles.answers),
    }
    for problem, right in checks.items():
        for i in np.flatnonzero(~right)[:1].tolist():
            pair = f"question {task.format(puzzles.questions[i])}, answer {task.format(puzzles.answers[i])}"
            raise _error(path, lines[i], f"{problem} ({pair})")
    return puzzles


def read_royle_list(path: str | Path, task: Sudoku) -> UInt8[np.ndarray, "puzzles cells"]:
    """The questions of Royle's list: one board per line, '0' for a blank, 17 clues each.

    Hyphens after a board are ignored: line 18 of the published file ends in a stray "--".

    Raises:
        DataError: for a board of the wrong length or with foreign characters, another number of clues, a digit twice in
            a row, column or box, or a file without puzzles.
    """
    with open(path, encoding="latin-1") as file:
        boards = [_board(task, text.rstrip("\n").rstrip("-"), path, i, "board") for i, text in enumerate(file, start=1)]
    if not boards:
        raise _error(path, 1, "no puzzle, expected one board per line")
    questions = np.stack(boards)
    clues = np.sum(questions != BLANK, axis=-1)
    for i in np.flatnonzero(clues != ROYLE_CLUES)[:1].tolist():
        raise _error(path, i + 1, f"{clues[i]} clues, expected {ROYLE_CLUES}")
    for i in np.flatnonzero(~task.consistent(questions))[:1].tolist():
        raise _error(path, i + 1, f"a row, column or box holds a digit twice ({task.format(questions[i])})")
    return questions


def _rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each row after the header."""
    # Latin-1 gives every byte a character, so that a foreign one is found in its row and not by the decoder.
    with open(path, encoding="latin-1", newline="") as file:
        rows = csv.reader(file)
        try:
            header = next(rows, [])
            if header != CSV_HEADER:
                raise _error(path, 1, f"header {','.join(header)[:80]!r}, expected {','.join(CSV_HEADER)!r}")
            for row in rows:
                if len(row) != len(CSV_HEADER):
                    raise _error(path, rows.line_num, f"{len(row)} fields, expected {len(CSV_HEADER)}")
                yield rows.line_num, row
        except csv.Error as error:
            raise _error(path, rows.line_num, f"{error}, expected comma-separated values") from error


def _board(task: Task, text: str, path: str | Path, line: int, what: str) -> UInt8[np.ndarray, "cells"]:
    """The tokens of a board, or an error that says where it stands."""
    try:
        return task.parse(text)
    except ValueError as error:
        raise _error(path, line, f"{what}: {error}") from error


def _error(path: str | Path, line: int, problem: str) -> DataError:
    return DataError(f"{path}, line {line}: {problem}; the file is damaged or another: fetch it again")
