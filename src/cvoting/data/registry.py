"""The kinds of datasets by name.  Only `__main__`, the rules and tests read this; importing it imports no numba."""

from cvoting.data import generated_sudoku, sudoku_extreme, sudoku_hard

#: kind of `source` -> build(name, task, source, raw) -> the puzzles of each split.
SOURCES = {
    "generated_sudoku": generated_sudoku.build,
    "sudoku_extreme": sudoku_extreme.build,
    "sudoku_hard": sudoku_hard.build,
}
