"""A seeded generator of Sudoku boards with one solution, and the solver it is built on.

Boards may have boxes of any size the task knows; with 16 digits and few givens a board can take seconds.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import UInt8

from cvoting.data.puzzles import DataError
from cvoting.data.sudoku_search import Layout, count_completions, make_board
from cvoting.tasks.sudoku import Sudoku

#: Counts up whenever the same seed would give other boards.
GENERATOR_VERSION = 1

#: How many boards are dug before a number of givens counts as out of reach.
ATTEMPTS = 10_000


def generate(
    task: Sudoku, givens: int | None, rng: np.random.Generator
) -> tuple[UInt8[np.ndarray, "cells"], UInt8[np.ndarray, "cells"]]:
    """A random board with one solution: its question and its answer.

    Args:
        task: size of the boxes.
        givens: how many cells are given; None: as many as are left when none can be spared.
        rng: the source of randomness; 64 bits of it are drawn per attempt.

    Raises:
        DataError: when no attempt reached so few givens.
    """
    question, answer = np.empty((2, task.cells), np.uint8)
    fewest = task.cells
    for _ in range(ATTEMPTS):
        state = rng.integers(0, 2**64, size=1, dtype=np.uint64)
        left = make_board(_layout(task), givens or 0, state, question, answer)
        if givens is None or left == givens:
            return question, answer
        fewest = min(fewest, left)
    raise DataError(
        f"{givens} givens on a board of {task.box[0]}x{task.box[1]} boxes: the fewest of {ATTEMPTS} attempts were "
        f"{fewest}: ask for more givens"
    )


def count_solutions(task: Sudoku, board: UInt8[np.ndarray, "cells"], limit: int = 2) -> int:
    """The number of solutions of a board, counted up to `limit`: by default 0, 1, or 2 for several."""
    return _complete(task, board.copy(), limit)


def solve(task: Sudoku, board: UInt8[np.ndarray, "cells"]) -> UInt8[np.ndarray, "cells"]:
    """The only solution of a board.

    Raises:
        DataError: when there is none, or more than one.
    """
    solutions = count_solutions(task, board)
    if solutions != 1:
        raise DataError(f"{task.format(board)}: {'several solutions' if solutions else 'no solution'}, expected one")
    answer = board.copy()
    _complete(task, answer, 1)
    return answer


def _complete(task: Sudoku, board: UInt8[np.ndarray, "cells"], limit: int) -> int:
    if board.shape != (task.cells,) or board.max() > task.digits:
        raise ValueError(f"board {board!r}: expected {task.cells} cells from 0 to {task.digits}")
    allowed = np.full(task.cells, (1 << task.digits) - 1)
    return count_completions(_layout(task), board, allowed, limit, np.zeros(1, np.uint64))


@lru_cache
def _layout(task: Sudoku) -> Layout:
    members = task.units.reshape(-1, task.digits).astype(np.int64)
    units = np.empty((task.cells, 3), np.int64)
    for unit, cells in enumerate(members):
        units[cells, unit // task.digits] = unit
    return Layout(units, members)
