"""What audits the puzzles of each task.  Only `__main__` and tests read this."""

from collections.abc import Callable
from typing import Any

from cvoting.data.audit import Auditor
from cvoting.data.maze_audit import MazeAuditor
from cvoting.data.sudoku_audit import SudokuAuditor

#: Name of a task -> its auditor, which is made from the task.
AUDITORS: dict[str, Callable[[Any], Auditor]] = {"sudoku": SudokuAuditor, "maze": MazeAuditor}
