"""Sudoku with boxes of any size: encoding, positions to predict, validity, symmetries.

A board of b x c boxes (b rows, c columns each) has N = b * c digits and N x N cells, read row by row.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Int, UInt8

from cvoting.params.core import ParameterError, key
from cvoting.tasks.base import cell_name, difference

BLANK = 0


@dataclass(frozen=True, kw_only=True)
class Sudoku:
    """The task; also its parameter block.  Tokens: 0 = blank, 1..N = digits; class = digit - 1."""

    name: Literal["sudoku"] = key("the task")
    box: tuple[int, int] = key("rows and columns of a box; [3, 3] in the paper, [2, 3] makes 6x6 boards", minimum=1)

    #: An answer's token is its class plus this.
    first_answer_token: ClassVar[int] = 1
    #: The token of a cell that the question leaves open.
    blank: ClassVar[int] = BLANK
    #: What `judge` says of answers.
    metrics: ClassVar[tuple[str, ...]] = ("board", "all_cells")
    #: What `random_symmetries` draws from, smallest group first.
    symmetry_groups: ClassVar[tuple[str, ...]] = ("none", "digits", "shuffles")

    def __post_init__(self) -> None:
        if not 2 <= self.digits <= 16:
            raise ParameterError(
                [f"box = {list(self.box)}: expected 2 to 16 digits (rows x columns), got {self.digits}"]
            )

    @property
    def digits(self) -> int:
        """N, the number of digits and of cells in a row, a column and a box."""
        return self.box[0] * self.box[1]

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the board."""
        return self.digits, self.digits

    @property
    def cells(self) -> int:
        """Number of cells of a board."""
        return self.digits**2

    @property
    def vocabulary(self) -> int:
        """Number of tokens of a question: the blank and the digits."""
        return self.digits + 1

    @property
    def classes(self) -> int:
        """Number of classes of an answer's cell: the digits."""
        return self.digits

    @cached_property
    def units(self) -> UInt8[np.ndarray, "3 digits cells"]:
        """For rows, columns and boxes: the cells (0..cells-1) of each unit."""
        rows, columns = self.box
        cell = np.arange(self.cells, dtype=np.uint8).reshape(self.grid)
        boxes = cell.reshape(columns, rows, rows, columns).swapaxes(1, 2).reshape(self.digits, self.digits)
        return np.stack([cell, cell.T, boxes])

    def positions_to_predict(self, questions: UInt8[np.ndarray, "*batch cells"]) -> Bool[np.ndarray, "*batch cells"]:
        """The blank cells: the set L of the paper (Section 4)."""
        return questions == BLANK

    def valid(self, answers: UInt8[np.ndarray, "*batch cells"]) -> Bool[np.ndarray, "*batch"]:
        """Whether every row, column and box holds each digit once."""
        complete = np.sort(answers[..., self.units], axis=-1) == np.arange(1, self.digits + 1)
        return np.asarray(complete.all(axis=(-3, -2, -1)))

    def consistent(self, questions: UInt8[np.ndarray, "*batch cells"]) -> Bool[np.ndarray, "*batch"]:
        """Whether no row, column or box of the givens holds a digit twice."""
        ordered = np.sort(questions[..., self.units], axis=-1)
        twice = (ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] != BLANK)
        return np.asarray(~twice.any(axis=(-3, -2, -1)))

    def contradiction(self, question: UInt8[np.ndarray, "cells"]) -> str | None:
        """The first digit that stands twice in a row, column or box, or else a blank that no digit fits; or None."""
        for kind, units in zip(("row", "column", "box"), self.units, strict=True):
            for number, unit in enumerate(units, start=1):
                for digit in range(1, self.digits + 1):
                    places = unit[question[unit] == digit].tolist()
                    if len(places) > 1:
                        first, second = (cell_name(self.grid, place) for place in places[:2])
                        found = f"{len(places)} times the digit {self.format(question)[places[0]]}"
                        return f"{found} in {kind} {number} ({first} and {second})"
        for cell in np.flatnonzero(question == BLANK).tolist():
            around = question[self.units[(self.units == cell).any(axis=-1)]]
            if len(np.unique(around[around != BLANK])) == self.digits:
                return f"no digit fits in {cell_name(self.grid, cell)}: its row, column and box hold all {self.digits}"
        return None

    def answers_question(
        self, answers: UInt8[np.ndarray, "*batch cells"], questions: UInt8[np.ndarray, "*batch cells"]
    ) -> Bool[np.ndarray, "*batch"]:
        """Whether an answer keeps every given of its question."""
        kept = (answers == questions) | self.positions_to_predict(questions)
        return np.asarray(kept.all(axis=-1))

    def violation(self, question: UInt8[np.ndarray, "cells"], answer: UInt8[np.ndarray, "cells"]) -> str | None:
        """The first given that an answer changes, else a digit that stands twice, else a blank; or None."""
        if changed := difference(self, question, answer, ~self.positions_to_predict(question)):
            return changed
        if problem := self.contradiction(answer):
            return problem
        blanks = np.flatnonzero(answer == BLANK).tolist()
        return f"{cell_name(self.grid, blanks[0])} is left blank" if blanks else None

    def remark(self, question: UInt8[np.ndarray, "cells"], answer: UInt8[np.ndarray, "cells"]) -> str | None:
        """Nothing: a board is right or wrong."""

    def judge(
        self,
        answers: UInt8[np.ndarray, "*batch cells"],
        questions: UInt8[np.ndarray, "*batch cells"],
        labels: UInt8[np.ndarray, "*batch cells"],
    ) -> dict[str, Bool[np.ndarray, "*batch"]]:
        """Whether every position to predict is right (`board`, the paper's metric), and whether every cell (HRM's).

        Args:
            answers, questions, labels: tokens, one row per answer.
        """
        right = answers == labels
        board = (right | ~self.positions_to_predict(questions)).all(axis=-1)
        return {"board": np.asarray(board), "all_cells": np.asarray(right.all(axis=-1))}

    def parse(self, text: str) -> UInt8[np.ndarray, "cells"]:
        """The tokens of a board written as one character per cell: '0' or '.' blank, then 1..9, A..G.

        Raises:
            ValueError: with what was found, for a wrong length or character.
        """
        if len(text) != self.cells:
            raise ValueError(f"{len(text)} characters, expected {self.cells} ({self.digits} x {self.digits} cells)")
        alphabet = {".": BLANK, **{c: i for i, c in enumerate("0123456789ABCDEFG"[: self.vocabulary])}}
        strangers = sorted(set(text) - set(alphabet))
        if strangers:
            at = text.index(strangers[0])
            raise ValueError(f"character {strangers[0]!r} at position {at + 1}, expected one of {''.join(alphabet)}")
        return np.array([alphabet[c] for c in text], dtype=np.uint8)

    def format(self, tokens: UInt8[np.ndarray, "cells"]) -> str:
        """The inverse of `parse`, with '.' for a blank."""
        return "".join(".123456789ABCDEFG"[t] for t in tokens)

    def draw(self, characters: str) -> str:
        """A board with lines between its boxes, from one character per cell."""
        N, (height, width) = self.digits, self.box
        lines = [characters[start : start + N] for start in range(0, self.cells, N)]
        drawn = [" | ".join(" ".join(line[at : at + width]) for at in range(0, N, width)) for line in lines]
        rule = "-+-".join(["-" * (2 * width - 1)] * height)
        return f"\n{rule}\n".join("\n".join(drawn[at : at + height]) for at in range(0, N, height))

    def random_symmetries(
        self, count: int, group: str, rng: np.random.Generator
    ) -> tuple[Int[np.ndarray, "count cells"], UInt8[np.ndarray, "count vocabulary"]]:
        """Transformations that keep a puzzle valid and its solution its solution.

        `tokens[board[cells]]` is the transformed board, of questions and answers alike.

        Args:
            count: how many to draw, independently and uniformly.
            group: "none"; "digits" relabels the digits; "shuffles" also permutes rows within bands, columns within
                stacks, bands and stacks, and transposes (square boxes only): the group of HRM's Sudoku builder.
            rng: the source of randomness.

        Raises:
            ValueError: for an unknown group.
        """
        if group not in self.symmetry_groups:
            raise ValueError(f"symmetry group {group!r}: expected one of {', '.join(self.symmetry_groups)}")
        cells = np.broadcast_to(np.arange(self.cells), (count, self.cells))
        tokens = np.broadcast_to(np.arange(self.vocabulary, dtype=np.uint8), (count, self.vocabulary))
        if group in ("digits", "shuffles"):
            tokens = tokens.copy()
            tokens[:, 1:] = rng.permuted(tokens[:, 1:], axis=1)
        if group == "shuffles":
            rows, columns = self.box
            row = _line_permutations(count, bands=columns, lines=rows, rng=rng)
            column = _line_permutations(count, bands=rows, lines=columns, rng=rng)
            cells = row[:, :, None] * self.digits + column[:, None, :]
            if rows == columns:
                transpose = rng.random(count) < 0.5
                cells = np.where(transpose[:, None, None], cells.swapaxes(1, 2), cells)
            cells = cells.reshape(count, self.cells)
        return cells, tokens


def _line_permutations(count: int, bands: int, lines: int, rng: np.random.Generator) -> Int[np.ndarray, "count digits"]:
    """Permutations of rows (or columns) that permute `bands` bands of `lines` lines and the lines within each."""
    band = rng.permuted(np.broadcast_to(np.arange(bands), (count, bands)), axis=1)
    line = rng.permuted(np.broadcast_to(np.arange(lines), (count, bands, lines)), axis=2)
    return (band[:, :, None] * lines + line).reshape(count, bands * lines)
