"""Boards from text, a chunk of rows at a time: a look-up in a table for all of them in place of a call for each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8

from cvoting.data.puzzles import DataError, Origin, Puzzles
from cvoting.tasks.base import Task

#: Rows that are converted and judged at a time.
CHUNK = 2**14
#: In the table of a task, what stands for a character that no board has.
STRANGER = 255
RATING = re.compile("[0-9]{1,9}")


@dataclass(frozen=True)
class PuzzleFile:
    """A file that is read, as errors name it, and what they advise."""

    path: str | Path
    advice: str = "the file is damaged or another: fetch it again"

    def error(self, line: int, problem: str) -> DataError:
        """The error for something wrong in a line, counted from 1."""
        return DataError(f"{self.path}, line {line}: {problem}; {self.advice}")


class Row(NamedTuple):
    """The text of a puzzle and the line it ends in; the rating is None in files without ratings."""

    line: int
    question: str
    answer: str
    rating: str | None


def read_puzzles(
    task: Task, rows: Iterable[Row], file: PuzzleFile, origin: Origin, source: str, judge: bool = True
) -> Puzzles:
    """The puzzles of some rows.

    Args:
        task: reads the boards and knows what a valid answer is.
        rows: of Latin-1 text; all with a rating, or none.
        file: where they come from, for errors.
        origin, source: what the puzzles say of themselves.
        judge: whether a wrong answer is an error.

    Raises:
        DataError: for the first row with a board of the wrong length or with foreign characters, a rating that is no
            number, or an answer that breaks the rules or contradicts its question; or when there is no row.
    """
    table = token_table(task)
    parts = []
    for chunk in _chunks(rows):
        part = _convert(task, table, chunk, file)
        if judge:
            _judge(task, part[0], part[1], chunk, file)
        parts.append(part)
    if not parts:
        raise file.error(1, "no puzzle, expected at least one")
    questions, answers, ratings = (list(column) for column in zip(*parts, strict=True))
    rated = ratings[0] is not None
    return Puzzles(
        np.concatenate(questions), np.concatenate(answers), origin, source, np.concatenate(ratings) if rated else None
    )


def parse_board(task: Task, text: str, file: PuzzleFile, line: int, what: str) -> UInt8[np.ndarray, "cells"]:
    """The tokens of one board, or an error that says where it stands.

    Raises:
        DataError: for a wrong length or character.
    """
    try:
        return task.parse(text)
    except ValueError as error:
        raise file.error(line, f"{what}: {error}") from error


def token_table(task: Task) -> UInt8[np.ndarray, "256"]:
    """The token of each Latin-1 character, STRANGER for those that no board has."""
    table = np.full(256, STRANGER, np.uint8)
    for code in range(256):
        with suppress(ValueError):
            table[code] = task.parse(chr(code) * task.cells)[0]
    return table


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows in lists; those before a row that cannot be read come before its error, for theirs is the first."""
    chunk: list[Row] = []
    problem = None
    try:
        for row in rows:
            chunk.append(row)
            if len(chunk) == CHUNK:
                yield chunk
                chunk = []
    except DataError as error:
        problem = error
    if chunk:
        yield chunk
    if problem:
        raise problem


def _convert(
    task: Task, table: UInt8[np.ndarray, "256"], chunk: list[Row], file: PuzzleFile
) -> tuple[UInt8[np.ndarray, "rows cells"], UInt8[np.ndarray, "rows cells"], np.ndarray | None]:
    """Questions, answers and ratings of a chunk."""
    _, questions, answers, ratings = zip(*chunk, strict=True)
    asked, answered = (look_up(texts, table, task.cells) for texts in (questions, answers))
    rated = [rating for rating in ratings if rating is not None]
    if asked is None or answered is None or not all(map(RATING.fullmatch, rated)):
        pairs = zip(*(_convert_row(task, row, file) for row in chunk), strict=True)
        asked, answered = (np.stack(boards) for boards in pairs)
    return asked, answered, np.array(list(map(int, rated))) if rated else None


def look_up(
    texts: Sequence[str], table: UInt8[np.ndarray, "256"], cells: int
) -> UInt8[np.ndarray, "rows cells"] | None:
    """The tokens of boards; None when there is something to say about one of them."""
    if set(map(len, texts)) != {cells}:
        return None
    tokens = table[np.frombuffer("".join(texts).encode("latin-1"), np.uint8)]
    return None if (tokens == STRANGER).any() else tokens.reshape(-1, cells)


def _convert_row(
    task: Task, row: Row, file: PuzzleFile
) -> tuple[UInt8[np.ndarray, "cells"], UInt8[np.ndarray, "cells"]]:
    """Question and answer of a row by themselves, or the error of this row."""
    question = parse_board(task, row.question, file, row.line, "question")
    answer = parse_board(task, row.answer, file, row.line, "answer")
    if row.rating is not None and not RATING.fullmatch(row.rating):
        raise file.error(row.line, f"rating {row.rating[:40]!r}, expected a whole number")
    return question, answer


def _judge(
    task: Task,
    questions: UInt8[np.ndarray, "rows cells"],
    answers: UInt8[np.ndarray, "rows cells"],
    chunk: list[Row],
    file: PuzzleFile,
) -> None:
    """Raise for the first wrong answer of a chunk."""
    kept, valid = task.answers_question(answers, questions), task.valid(answers)
    for i in np.flatnonzero(~(kept & valid))[:1].tolist():
        problem = "answer breaks the rules of the task" if kept[i] else "answer contradicts its question"
        pair = f"question {task.format(questions[i])}, answer {task.format(answers[i])}"
        raise file.error(chunk[i].line, f"{problem} ({pair})")
