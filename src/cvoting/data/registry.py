"""The kinds of datasets by name.  Only `__main__`, the rules and tests read this; importing it imports no numba."""

from collections.abc import Callable

from cvoting.data import generated_sudoku, sudoku_extreme, sudoku_hard
from cvoting.data.puzzles import Puzzles

#: kind of `source` -> build(name, task, source, raw) -> the puzzles of each split.
SOURCES: dict[str, Callable[..., dict[str, Puzzles]]] = {
    "generated_sudoku": generated_sudoku.build,
    "sudoku_extreme": sudoku_extreme.build,
    "sudoku_hard": sudoku_hard.build,
}
