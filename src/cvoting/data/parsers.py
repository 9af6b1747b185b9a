"""Readers of puzzle files.

Every error names the file and the line, says what was found there and what was expected.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
from jaxtyping import UInt8

from cvoting.data.boards import PuzzleFile, Row, look_up, parse_board, read_puzzles, token_table
from cvoting.data.puzzles import Puzzles
from cvoting.tasks.base import Task
from cvoting.tasks.sudoku import BLANK, Sudoku

CSV_HEADER = ["source", "question", "answer", "rating"]
ROYLE_CLUES = 17


def read_hugging_face_csv(path: str | Path, task: Task, source: str, judge: bool = True) -> Puzzles:
    """The puzzles of a CSV file of HRM's authors: the columns source, question, answer and rating.

    Args:
        path: the file.
        task: reads the boards and knows what a valid answer is.
        source: what the puzzles say of their origin.
        judge: whether a wrong answer is an error; an audit reads them all and counts the wrong ones.

    Raises:
        DataError: for a wrong header, a truncated row, a board of the wrong length or with foreign characters, a rating
            that is no number, an answer that breaks the rules or contradicts its question, or a file without puzzles.
    """
    file = PuzzleFile(path)
    with _open(path) as stream:
        lines = _csv_rows(stream, file)
        _, header = next(lines, (1, []))
        if header != CSV_HEADER:
            raise file.error(1, f"header {','.join(header)[:80]!r}, expected {','.join(CSV_HEADER)!r}")
        rows = (Row(line, fields[1], fields[2], fields[3]) for line, fields in _of_width(lines, len(CSV_HEADER), file))
        return read_puzzles(task, rows, file, "original", source, judge)


def read_own_csv(path: str | Path, task: Task, source: str, judge: bool = True) -> Puzzles:
    """The puzzles of a user's own CSV file: columns question and answer, and rating if there is one, in any order.

    A question must not stand there twice: of two splits drawn from the file, each could have one of them.

    Args:
        path: the file; a byte-order mark, as Excel writes it, is passed over.
        task: reads the boards and knows what a valid answer is.
        source: what the puzzles say of their origin.
        judge: whether a wrong answer or a question that stands there twice is an error.

    Raises:
        DataError: when there is no such file or column, and as `read_hugging_face_csv`.
    """
    file = PuzzleFile(path, "correct the file")
    try:
        stream = _open(path)
    except FileNotFoundError as error:
        raise file.error(1, "no such file, expected CSV with the columns question and answer") from error
    with stream:
        lines = _csv_rows(stream, file)
        _, header = next(lines, (1, []))
        header = [name.removeprefix("\xef\xbb\xbf") for name in header]
        if header.count("question") != 1 or header.count("answer") != 1 or header.count("rating") > 1:
            raise file.error(
                1, f"header {','.join(header)[:80]!r}, expected the columns question and answer, once each"
            )
        question, answer = header.index("question"), header.index("answer")
        rating = header.index("rating") if "rating" in header else None
        rows = (
            Row(line, fields[question], fields[answer], None if rating is None else fields[rating])
            for line, fields in _of_width(lines, len(header), file)
        )
        return read_puzzles(task, _each_once(rows, file) if judge else rows, file, "own", source, judge)


def read_rrn_csv(content: bytes, name: str, task: Task, source: str, judge: bool = True) -> Puzzles:
    """The puzzles of a CSV file of RRN's authors: question and answer, no header, '0' for a blank.

    Args:
        content: of the file.
        name: what errors call it.
        task: reads the boards and knows what a valid answer is.
        source: what the puzzles say of their origin.
        judge: whether a wrong answer is an error.

    Raises:
        DataError: as `read_hugging_face_csv`.
    """
    file = PuzzleFile(name)
    lines = _csv_rows(io.StringIO(content.decode("latin-1"), newline=""), file)
    rows = (Row(line, fields[0], fields[1], None) for line, fields in _of_width(lines, 2, file))
    return read_puzzles(task, rows, file, "original", source, judge)


def read_royle_list(path: str | Path, task: Sudoku) -> UInt8[np.ndarray, "puzzles cells"]:
    """The questions of Royle's list: one board per line, '0' for a blank, 17 clues each.

    Hyphens after a board are ignored: line 18 of the published file ends in a stray "--".

    Raises:
        DataError: for a board of the wrong length or with foreign characters, another number of clues, a digit twice in
            a row, column or box, or a file without puzzles.
    """
    file = PuzzleFile(path)
    with open(path, encoding="latin-1") as stream:
        texts = [text.rstrip("\n").rstrip("-") for text in stream]
    if not texts:
        raise file.error(1, "no puzzle, expected one board per line")
    questions = look_up(texts, token_table(task), task.cells)
    if questions is None:
        questions = np.stack([parse_board(task, text, file, i, "board") for i, text in enumerate(texts, start=1)])
    clues = np.sum(questions != BLANK, axis=-1)
    for i in np.flatnonzero(clues != ROYLE_CLUES)[:1].tolist():
        raise file.error(i + 1, f"{clues[i]} clues, expected {ROYLE_CLUES}")
    for i in np.flatnonzero(~task.consistent(questions))[:1].tolist():
        raise file.error(i + 1, f"a row, column or box holds a digit twice ({task.format(questions[i])})")
    return questions


def _open(path: str | Path) -> TextIO:
    """A CSV file as text."""
    # Latin-1 gives every byte a character, so that a foreign one is found in its row and not by the decoder.
    return open(path, encoding="latin-1", newline="")


def _csv_rows(stream: Iterable[str], file: PuzzleFile) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each row, the header's too."""
    rows = csv.reader(stream)
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        raise file.error(rows.line_num, f"{error}, expected comma-separated values") from error


def _of_width(lines: Iterator[tuple[int, list[str]]], width: int, file: PuzzleFile) -> Iterator[tuple[int, list[str]]]:
    """The rows, as long as each has so many fields."""
    for line, fields in lines:
        if len(fields) != width:
            raise file.error(line, f"{len(fields)} fields, expected {width}")
        yield line, fields


def _each_once(rows: Iterator[Row], file: PuzzleFile) -> Iterator[Row]:
    """The rows, as long as each has a question of its own; the two ways to write a blank are one."""
    seen: dict[str, int] = {}
    for row in rows:
        first = seen.setdefault(row.question.replace("0", "."), row.line)
        if first != row.line:
            raise file.error(row.line, f"question of line {first} again, expected each once")
        yield row
