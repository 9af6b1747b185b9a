"""Parameters of the datasets of mazes."""

import math
from dataclasses import dataclass
from typing import Literal

from cvoting.params.core import ParameterError, key
from cvoting.params.splits import Splits
from cvoting.tasks.maze import Maze

#: Rows and columns of the published mazes.
MAZE_HARD_GRID = (30, 30)


@dataclass(frozen=True, kw_only=True)
class GeneratedMaze:
    """Mazes made by `data.maze_generator`; every product says that they are generated."""

    kind: Literal["generated_maze"] = key("a seeded generator")
    wall_fraction: tuple[float, float] = key(
        "smallest and largest share of walls, any number of walls between them equally often to begin with "
        "(Maze-hard: 0.277 to 0.45)",
        above=0,
        below=1,
    )
    path_cells: tuple[int, int] = key(
        "fewest and most cells of a shortest path, S and G included (Maze-hard: 110 to 154)", minimum=2
    )
    shortest_paths: int = key(
        "fewest shortest paths of a maze; in Maze-hard every maze has several", default=2, minimum=1
    )
    seed: int = key("seed of the generator", minimum=0)
    splits: Splits = key("puzzles per split")

    @property
    def files(self) -> tuple[str, ...]:
        """The source files it is made from: none."""
        return ()

    def walls(self, cells: int) -> range:
        """The numbers of walls of mazes of so many cells."""
        low, high = self.wall_fraction
        return range(math.ceil(low * cells), math.floor(high * cells) + 1)

    def task_problems(self, task: Maze) -> list[str]:
        """What the task has no room for."""
        problems = []
        if not self.walls(task.cells):
            low, high = self.wall_fraction
            problems.append(
                f"source.wall_fraction = {[low, high]}: expected a whole number of walls between "
                f"{low * task.cells:.2f} and {high * task.cells:.2f}, of {task.cells} cells"
            )
        if self.path_cells[0] > task.cells:
            problems.append(f"source.path_cells = {list(self.path_cells)}: expected at most the {task.cells} cells")
        return problems

    def __post_init__(self) -> None:
        ranges = {"wall_fraction": self.wall_fraction, "path_cells": self.path_cells}
        problems = [
            f"{name} = {list(ends)}: expected the smaller number first"
            for name, ends in ranges.items()
            if ends[0] > ends[1]
        ]
        if problems:
            raise ParameterError(problems)


@dataclass(frozen=True, kw_only=True)
class MazeHard:
    """The published Maze-hard files, 1,000 training and 1,000 test mazes; validation mazes are held out of training."""

    kind: Literal["maze_hard"] = key("Hugging Face CSV files of HRM's authors")
    train_file: Literal["maze_hard_train"] = key("name of the training file in data.sources")
    test_file: Literal["maze_hard_test"] = key("name of the test file in data.sources")
    seed: int = key("seed of the draws", minimum=0)
    splits: Splits = key("puzzles per split; train and validation share 1,000 mazes, test has 1,000 of its own")

    @property
    def files(self) -> tuple[str, ...]:
        """Names in data.sources of the files it is made from."""
        return self.train_file, self.test_file

    def task_problems(self, task: Maze) -> list[str]:
        """What the task has no room for."""
        if task.grid == MAZE_HARD_GRID:
            return []
        return [f"task.grid = {list(task.grid)}: expected {list(MAZE_HARD_GRID)}, the grid of the maze_hard mazes"]
