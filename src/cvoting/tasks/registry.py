"""The tasks by name.  Only `__main__`, the rules and tests read this; library functions receive a task."""

from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

TASKS = {"sudoku": Sudoku, "maze": Maze}
