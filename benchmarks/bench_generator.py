"""Puzzle generators: boards with one solution, and mazes whose start and goal are far apart."""

from collections.abc import Callable

import numpy as np

from cvoting.data import maze_generator, sudoku_generator
from cvoting.params.mazes import GeneratedMaze
from cvoting.params.reading import read_study
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku
from harness import ROOT, Row, Settings, Work, compare
from yardsticks import looping

#: Boxes, givens (None: as few as possible), and boards at a time.
SUDOKUS = (((2, 3), 14, 500), ((3, 3), 30, 200), ((3, 3), None, 200))
MAZES = 20


def measure(settings: Settings) -> list[Row]:
    """Puzzles per second; the compilation of the search comes before."""
    sudokus = SUDOKUS[:1] if settings.quick else SUDOKUS
    works = [sudoku(box, givens, 2 if settings.quick else count) for box, givens, count in sudokus]
    works.append(maze("params.yaml", 2 if settings.quick else MAZES))
    return compare(works, [looping(settings)], settings)


def sudoku(box: tuple[int, int], givens: int | None, count: int) -> Work:
    """Boards of Sudoku, the same in every call.

    Args:
        box: rows and columns of a box.
        givens: of each board.
        count: boards.
    """
    task = Sudoku(name="sudoku", box=box)
    side = box[0] * box[1]
    what = f"Sudoku {side}x{side}, {'minimal' if givens is None else givens} givens"
    return Work(what, lambda: _each(lambda rng: sudoku_generator.generate(task, givens, rng), count), count, "puzzles")


def maze(study: str, count: int) -> Work:
    """Mazes of a study's dataset, the same in every call.

    Args:
        study: a file of parameters with generated mazes.
        count: mazes.
    """
    datasets = read_study(ROOT / study).datasets.values()
    block = next(block for block in datasets if isinstance(block.source, GeneratedMaze))
    task, source = block.task, block.source
    assert isinstance(task, Maze)
    what = f"maze {task.grid[0]}x{task.grid[1]}, {source.path_cells[0]} to {source.path_cells[1]} cells on the path"
    return Work(what, lambda: _each(lambda rng: maze_generator.generate(task, source, rng), count), count, "puzzles")


def _each(generate: Callable[[np.random.Generator], object], count: int) -> None:
    for number in range(count):
        generate(np.random.Generator(np.random.Philox(number)))
