"""The kinds of datasets by name.  Only `__main__`, the rules and tests read this; importing it imports no numba."""

from collections.abc import Callable

from cvoting.data import (
    csv_sudoku,
    generated_maze,
    generated_sudoku,
    maze_hard,
    rrn_sudoku_hard,
    satnet_sudoku,
    sudoku_extreme,
    sudoku_hard,
)
from cvoting.data.puzzles import Puzzles

#: kind of `source` -> build(name, task, source, raw) -> the puzzles of each split.
SOURCES: dict[str, Callable[..., dict[str, Puzzles]]] = {
    "csv_sudoku": csv_sudoku.build,
    "generated_maze": generated_maze.build,
    "generated_sudoku": generated_sudoku.build,
    "maze_hard": maze_hard.build,
    "rrn_sudoku_hard": rrn_sudoku_hard.build,
    "satnet_sudoku": satnet_sudoku.build,
    "sudoku_extreme": sudoku_extreme.build,
    "sudoku_hard": sudoku_hard.build,
}
