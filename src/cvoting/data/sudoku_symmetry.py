"""Which Sudoku boards are equal up to symmetry: up to the group "shuffles" of the task.

A board is a graph of rows, columns and digits, joined by the givens.  Colour refinement (Weisfeiler and Leman, 1968)
gives each of them a 64-bit colour that no symmetry changes: a hash of the colours it meets.  Boards of different
colours are different; of boards with the same colours a search tells whether they are equal.  It marks a row, column or
digit of one board, tries in turn each one of the other board that has the same colour, and refines again.

A symmetry has the form of `Sudoku.random_symmetries`: `tokens[board[cells]]` is the transformed board.  Transposition
is kept out of the colours: where the task allows it, both sides of a board are looked at.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int, UInt8, UInt64

from cvoting.data.audit import distinct
from cvoting.tasks.sudoku import BLANK, Sudoku

#: Rounds of refinement.  With fewer, the search has more to do.
ROUNDS = 4
#: Boards that are refined at a time.
BATCH = 512
#: What marks a row, column or digit.
MARK = np.uint64(0xD1B54A32D192ED03)

Symmetry = tuple[Int[np.ndarray, "cells"], UInt8[np.ndarray, "vocabulary"]]


class Colours(NamedTuple):
    """The colours of each board's rows, columns and digits."""

    rows: UInt64[np.ndarray, "boards digits"]
    columns: UInt64[np.ndarray, "boards digits"]
    digits: UInt64[np.ndarray, "boards digits"]

    def marked(self, kind: int, places: Int[np.ndarray, "copies"]) -> "Colours":
        """Copies of one board's colours: in each, the row (kind 0), column (1) or digit (2) at one place is marked."""
        copies = [np.repeat(colours, len(places), axis=0) for colours in self]
        copies[kind][np.arange(len(places)), places] ^= MARK
        return Colours(*copies)

    def of(self, board: int) -> "Colours":
        """The colours of one board."""
        return Colours(*(colours[board : board + 1] for colours in self))


def symmetry_classes(task: Sudoku, questions: UInt8[np.ndarray, "puzzles cells"]) -> Int[np.ndarray, "puzzles"]:
    """A number for each board: the same for two exactly if a symmetry maps one to the other.

    Args:
        task: size of the boxes.
        questions: boards.
    """
    fingerprints, sorted_boards = fingerprint(task, questions)
    first, look = distinct(sorted_boards)
    classes = np.arange(len(first))
    by_fingerprint: dict[int, list[int]] = {}
    for i, board in enumerate(first):
        known = by_fingerprint.setdefault(int(fingerprints[board]), [])
        for other in known:
            if find_symmetry(task, questions[first[other]], questions[board]):
                classes[i] = other
                break
        else:
            known.append(i)
    return classes[look]


def fingerprint(
    task: Sudoku, questions: UInt8[np.ndarray, "puzzles cells"]
) -> tuple[UInt64[np.ndarray, "puzzles"], UInt8[np.ndarray, "puzzles cells"]]:
    """A number that no symmetry changes, and the board with its lines and digits in the order of their colours.

    Boards that are equal up to symmetry have the same number, but may look different where colours tie; boards that
    look the same are equal up to symmetry.
    """
    numbers, looks = np.empty(len(questions), np.uint64), np.empty_like(questions)
    for start in range(0, len(questions), BATCH):
        batch = slice(start, start + BATCH)
        sides = _sides(task, questions[batch])
        colours = [refine(task, side, _plain(task, len(side))) for side in sides]
        hashes = np.stack([_mix(*(_mix(part).sum(axis=1) for part in side)) for side in colours])
        numbers[batch] = hashes.sum(axis=0)
        shown = np.stack([_apply(sort_by_colour(task, c), s) for c, s in zip(colours, sides, strict=True)])
        looks[batch] = shown[hashes.argmin(axis=0), np.arange(len(sides[0]))]
    return numbers, looks


def find_symmetry(
    task: Sudoku, first: UInt8[np.ndarray, "cells"], second: UInt8[np.ndarray, "cells"]
) -> Symmetry | None:
    """Cells and tokens with `tokens[first[cells]] == second`; None when there are none.

    Args:
        task: size of the boxes.
        first, second: boards.
    """
    start = refine(task, first[None], _plain(task, 1))
    cell = np.arange(task.cells)[None]
    for side, cells in zip(_sides(task, second[None]), _sides(task, cell), strict=True):
        found = _search(task, (first[None], side), (start, refine(task, side, _plain(task, 1))))
        if found:
            (first_cells, first_tokens), (second_cells, second_tokens) = found
            # Both boards look the same when sorted: sort the first one, and undo the sorting of the second.
            return (
                first_cells[np.argsort(cells[0][second_cells])],
                np.argsort(second_tokens).astype(np.uint8)[first_tokens],
            )
    return None


def refine(task: Sudoku, boards: UInt8[np.ndarray, "boards cells"], colours: Colours) -> Colours:
    """The colours after some rounds in which everything takes in the colours of what it meets.

    A given is a hash of its row, column and digit, and of all givens in its box; a row is a hash of itself, its givens
    and the rows of its band; a column likewise; a digit is a hash of itself and of where it is given.
    """
    height, width = task.box
    count, size = len(boards), task.digits
    rows, columns, digits = colours
    given = (boards != BLANK).reshape(count, size, size)
    # Where a cell finds its digit among those of all boards; a blank's is number 0.
    slot = boards.reshape(count, size, size) + (size + 1) * np.arange(count)[:, None, None]
    for _ in range(ROUNDS):
        digit = np.pad(digits, ((0, 0), (1, 0))).reshape(-1)[slot]
        cells = given * _mix(rows[:, :, None], columns[:, None, :], digit)
        boxes = cells.reshape(count, width, height, height, width).sum(axis=(2, 4))
        cells = given * _mix(cells, boxes.repeat(height, axis=1).repeat(width, axis=2))
        places = np.zeros(count * (size + 1), np.uint64)
        np.add.at(places, slot.reshape(-1), cells.reshape(-1))
        rows = _mix(rows, cells.sum(axis=2), _bands(rows, height).repeat(height, axis=1))
        columns = _mix(columns, cells.sum(axis=1), _bands(columns, width).repeat(width, axis=1))
        digits = _mix(digits, places.reshape(count, size + 1)[:, 1:])
    return Colours(rows, columns, digits)


def sort_by_colour(
    task: Sudoku, colours: Colours
) -> tuple[Int[np.ndarray, "boards cells"], UInt8[np.ndarray, "boards vocabulary"]]:
    """For each board the symmetry that puts lines and digits in the order of their colours, as far as bands allow."""
    rows, columns = _line_order(colours.rows, task.box[0]), _line_order(colours.columns, task.box[1])
    cells = rows[:, :, None] * task.digits + columns[:, None, :]
    tokens = np.pad(_ranks(colours.digits) + 1, ((0, 0), (1, 0))).astype(np.uint8)
    return cells.reshape(len(cells), task.cells), tokens


def _search(
    task: Sudoku, boards: tuple[np.ndarray, np.ndarray], colours: tuple[Colours, Colours]
) -> tuple[Symmetry, Symmetry] | None:
    """Symmetries that make two boards look the same and respect their colours; None when there are none."""
    if any((np.sort(a) != np.sort(b)).any() for a, b in zip(*colours, strict=True)):
        return None
    first, second = (sort_by_colour(task, c) for c in colours)
    if (_apply(first, boards[0]) == _apply(second, boards[1])).all():
        return (first[0][0], first[1][0]), (second[0][0], second[1][0])
    tied = _largest_tie(task, boards[0], colours[0])
    if tied is None:
        return None
    kind, place = tied
    marked = refine(task, boards[0], colours[0].marked(kind, np.array([place])))
    candidates = np.flatnonzero(colours[1][kind][0] == colours[0][kind][0, place])
    tried = refine(task, boards[1].repeat(len(candidates), axis=0), colours[1].marked(kind, candidates))
    for i in range(len(candidates)):
        if found := _search(task, boards, (marked, tried.of(i))):
            return found
    return None


def _largest_tie(task: Sudoku, board: np.ndarray, colours: Colours) -> tuple[int, int] | None:
    """Kind and place of a row, column or digit that shares its colour with the most others; None when none does.

    Only those with givens count: the others are interchangeable, and the search never has to choose between them.  The
    largest tie goes first, because marks of different kinds settle more than many of one kind: on a full board a marked
    row and a marked column tell a digit apart, while all rows marked tell nothing of the columns.
    """
    given = (board != BLANK).reshape(task.grid)
    occupied = given.any(axis=1), given.any(axis=0), np.isin(np.arange(1, task.digits + 1), board)
    ties = [(colours[kind] == colours[kind].T).sum(axis=1) * occupied[kind] for kind in range(3)]
    kind, place = np.unravel_index(np.argmax(ties), (3, task.digits))
    return (int(kind), int(place)) if ties[kind][place] > 1 else None


def _plain(task: Sudoku, count: int) -> Colours:
    """The colours before any refinement."""
    return Colours(*np.zeros((3, count, task.digits), np.uint64))


def _sides(task: Sudoku, boards: np.ndarray) -> list[np.ndarray]:
    """The boards, and where boxes are square also the transposed ones."""
    if task.box[0] != task.box[1]:
        return [boards]
    return [boards, boards.reshape(-1, *task.grid).swapaxes(1, 2).reshape(boards.shape)]


def _apply(symmetries: tuple[np.ndarray, np.ndarray], boards: np.ndarray) -> np.ndarray:
    """Each board transformed by its symmetry."""
    cells, tokens = symmetries
    return np.take_along_axis(tokens, np.take_along_axis(boards, cells, axis=1), axis=1)


def _line_order(colours: np.ndarray, lines: int) -> np.ndarray:
    """Rows or columns in the order of their bands' colours and their own; `lines` of them make a band."""
    return np.lexsort((colours, _ranks(_bands(colours, lines)).repeat(lines, axis=1)), axis=1)


def _bands(colours: np.ndarray, lines: int) -> np.ndarray:
    """A colour for each band of lines."""
    return _mix(colours).reshape(len(colours), -1, lines).sum(axis=2)


def _ranks(colours: np.ndarray) -> np.ndarray:
    """The rank of each colour on its board; of equal colours the first comes first."""
    return np.argsort(np.argsort(colours, axis=1, kind="stable"), axis=1)


def _mix(*parts: np.ndarray) -> np.ndarray:
    """A hash of some arrays, element by element: the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    z = np.zeros(1, np.uint64)
    for part in parts:
        z = (z ^ part) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return z
