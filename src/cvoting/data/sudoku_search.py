"""The compiled search on Sudoku boards: fills blanks, counts solutions, digs holes.

Backtracking that first places every digit there is no choice about (a cell with one digit left, or a digit with one
cell left in a row, column or box), then branches on the cell with the fewest digits left.  Sets of digits are bit
masks: bit d - 1 stands for digit d.  All compiled functions live in this file, because numba's cache on disk notices
only changes of the file whose function is called.
"""

from collections.abc import Callable
from typing import NamedTuple, no_type_check

import numba
import numpy as np
from jaxtyping import Int, UInt8, UInt64

#: What `_propagate` returns in place of a cell to branch on.
COMPLETE, DEAD_END = -1, -2


class Layout(NamedTuple):
    """The 3N units of a board of N digits: its rows, columns and boxes."""

    units: Int[np.ndarray, "cells 3"]  # the units of each cell
    members: Int[np.ndarray, "3*digits digits"]  # the cells of each unit


class Work(NamedTuple):
    """What a search changes, and takes back."""

    board: UInt8[np.ndarray, "cells"]  # 0 for a blank
    allowed: Int[np.ndarray, "cells"]  # digits a cell may hold, whatever its units hold
    used: Int[np.ndarray, "3*digits"]  # digits each unit holds
    trail: Int[np.ndarray, "cells"]  # the cells filled since the start, in order


def compiled(function: Callable) -> Callable:
    """Compile a function with numba, keeping the machine code on disk where there is a place to write it."""
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder can be written
        return numba.njit(function)


@compiled
@no_type_check
def count_completions(layout: Layout, board: np.ndarray, allowed: np.ndarray, limit: int, state: np.ndarray) -> int:
    """Count the ways to fill the blanks of a board, up to `limit`; on reaching it, `board` is left as filled last.

    Args:
        layout: the units.
        board: uint8 [cells]; 0 for a blank.
        allowed: int64 [cells], the digits each cell may hold.
        limit: when to stop counting.
        state: uint64 [1], state of the random numbers that order the branches.
    """
    digits = layout.members.shape[1]
    work = Work(board, allowed, np.zeros(3 * digits, np.int64), np.empty(board.size, np.int64))
    for cell in range(board.size):
        if board[cell]:
            bit = 1 << (board[cell] - 1)
            if bit & ~_options(layout, work, cell):
                return 0
            _toggle(layout, work, cell, bit)
    # The branches taken: where, with how many cells filled before, and with which digits still to be tried.
    cells, marks, rest = np.empty((3, board.size), np.int64)
    depth, filled, found = 0, 0, 0
    while True:
        filled, cell = _propagate(layout, work, filled)
        if cell >= 0:
            cells[depth], marks[depth], rest[depth] = cell, filled, _options(layout, work, cell)
            depth += 1
        elif cell == COMPLETE:
            found += 1
            if found == limit:
                return found
        while depth > 0 and rest[depth - 1] == 0:
            depth -= 1
        if depth == 0:
            return found
        while filled > marks[depth - 1]:
            filled -= 1
            _clear(layout, work, work.trail[filled])
        bit = _random_bit(rest[depth - 1], state)
        rest[depth - 1] ^= bit
        filled = _fill(layout, work, filled, cells[depth - 1], bit)


@compiled
@no_type_check
def make_board(layout: Layout, givens: int, state: np.ndarray, question: np.ndarray, answer: np.ndarray) -> int:
    """Fill a board at random, then blank its cells in random order, each one unless it would allow a second solution.

    A cell that must stay once must stay ever after, since fewer givens allow more solutions; so after one pass no given
    can be spared.

    Args:
        layout: the units.
        givens: stop when so many are left; 0 never stops early.
        state: uint64 [1], state of the random numbers.
        question, answer: uint8 [cells], written.

    Returns:
        The number of givens left.
    """
    every_digit = (1 << layout.members.shape[1]) - 1
    allowed = np.full(answer.size, every_digit)
    answer[:] = 0
    count_completions(layout, answer, allowed, 1, state)
    question[:] = answer
    board = np.empty_like(question)
    order = np.arange(answer.size)
    left = answer.size
    for i in range(answer.size):
        if left == givens:
            break
        j = i + _random_below(answer.size - i, state)
        order[i], order[j] = order[j], order[i]
        cell = order[i]
        # The known solution is the only one if there is none with another digit in this cell.
        allowed[cell] = every_digit ^ (1 << (answer[cell] - 1))
        question[cell] = 0
        board[:] = question
        if count_completions(layout, board, allowed, 1, state):
            question[cell] = answer[cell]
        else:
            left -= 1
        allowed[cell] = every_digit
    return left


@compiled
@no_type_check
def _propagate(layout: Layout, work: Work, filled: int) -> tuple[int, int]:
    """Place what is forced; the number of cells filled, and the cell to branch on, or COMPLETE, or DEAD_END."""
    every_digit = (1 << layout.members.shape[1]) - 1
    while True:
        before, branch, fewest = filled, COMPLETE, every_digit + 1
        for cell in range(work.board.size):
            if work.board[cell]:
                continue
            options = _options(layout, work, cell)
            if options == 0:
                return filled, DEAD_END
            if options & (options - 1) == 0:
                filled = _fill(layout, work, filled, cell, options)
            elif fewest > 2:
                size = _size(options)
                if size < fewest:
                    branch, fewest = cell, size
        if filled > before:
            continue
        if branch == COMPLETE:
            return filled, COMPLETE
        for unit in range(layout.members.shape[0]):
            once, twice = 0, 0
            for cell in layout.members[unit]:
                if work.board[cell] == 0:
                    options = _options(layout, work, cell)
                    twice |= once & options
                    once |= options
            if once | work.used[unit] != every_digit:
                return filled, DEAD_END
            single = once & ~twice
            for cell in layout.members[unit]:
                if single and work.board[cell] == 0:
                    options = single & _options(layout, work, cell)
                    if options & (options - 1):
                        return filled, DEAD_END  # one cell would have to hold two digits
                    if options:
                        filled = _fill(layout, work, filled, cell, options)
        if filled == before:
            return filled, branch


@compiled
@no_type_check
def _options(layout: Layout, work: Work, cell: int) -> int:
    """The digits a blank may hold."""
    row, column, box = layout.units[cell]
    return work.allowed[cell] & ~(work.used[row] | work.used[column] | work.used[box])


@compiled
@no_type_check
def _fill(layout: Layout, work: Work, filled: int, cell: int, bit: int) -> int:
    """Place a digit so that it can be taken back; the new number of cells filled."""
    _toggle(layout, work, cell, bit)
    digit = 0
    while bit:
        bit >>= 1
        digit += 1
    work.board[cell] = digit
    work.trail[filled] = cell
    return filled + 1


@compiled
@no_type_check
def _toggle(layout: Layout, work: Work, cell: int, bit: int) -> None:
    """Note in a cell's units that they hold a digit, or that they no longer do."""
    for unit in layout.units[cell]:
        work.used[unit] ^= bit


@compiled
@no_type_check
def _clear(layout: Layout, work: Work, cell: int) -> None:
    """Take a digit back."""
    _toggle(layout, work, cell, 1 << (work.board[cell] - 1))
    work.board[cell] = 0


@compiled
@no_type_check
def _size(mask: int) -> int:
    """Number of digits in a set."""
    size = 0
    while mask:
        mask &= mask - 1
        size += 1
    return size


@compiled
@no_type_check
def _random_bit(mask: int, state: UInt64[np.ndarray, "1"]) -> int:
    """A random digit of a set, as a mask."""
    for _ in range(_random_below(_size(mask), state)):
        mask &= mask - 1
    return mask & -mask


@compiled
@no_type_check
def _random_below(bound: int, state: UInt64[np.ndarray, "1"]) -> int:
    """A random number from 0 to bound - 1, by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) % np.uint64(bound))
