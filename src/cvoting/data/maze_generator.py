"""A seeded generator of mazes like the published ones: walls anywhere, and S and G far apart.

In Maze-hard walls are independent of each other, and S and G are a random pair of free cells whose shortest path has
at least 110 cells: plain rejection reproduces the quantiles of its path lengths and wall fractions.  Here a maze with
one far pair is taken as readily as one with many, which finds mazes fifty times as fast, with paths a little nearer to
the lower limit.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int, UInt8, UInt64

from cvoting.data.puzzles import DataError
from cvoting.params.mazes import GeneratedMaze
from cvoting.tasks.maze import FREE, GOAL, START, WALL, Maze

#: Counts up whenever the same seed would give other mazes.
GENERATOR_VERSION = 1

#: Wall patterns that are searched side by side.
PATTERNS = 256
#: How many times as many are tried before such mazes count as out of reach.
ATTEMPTS = 1_000


def generate(
    task: Maze, source: GeneratedMaze, rng: np.random.Generator
) -> tuple[UInt8[np.ndarray, "cells"], UInt8[np.ndarray, "cells"]]:
    """A random maze and its label.

    Args:
        task: rows and columns, and the rule of the labels.
        source: walls, path lengths and numbers of shortest paths.
        rng: the source of randomness.

    Raises:
        DataError: when no attempt gave such a maze.
    """
    for _ in range(ATTEMPTS):
        for question in _candidates(task, source, rng):
            if source.shortest_paths == 1 or task.shortest_paths(question) >= source.shortest_paths:
                return question, task.solve(question)
    raise DataError(
        f"mazes of {task.grid[0]}x{task.grid[1]} cells with walls on {source.wall_fraction[0]} to "
        f"{source.wall_fraction[1]} of them, {source.path_cells[0]} to {source.path_cells[1]} cells on the path and at "
        f"least {source.shortest_paths} shortest paths: none among {ATTEMPTS * PATTERNS:,} patterns of walls: ask for "
        "shorter paths or other walls"
    )


def _candidates(task: Maze, source: GeneratedMaze, rng: np.random.Generator) -> Iterator[UInt8[np.ndarray, "cells"]]:
    """Of some random patterns of walls, each with a random S, those that have a place for G, with a random one."""
    walls = source.walls(task.cells)
    counts = rng.integers(walls.start, walls.stop, size=(PATTERNS, 1))
    order = np.argsort(rng.random((PATTERNS, task.cells)), axis=1)
    questions = np.full((PATTERNS, task.cells), FREE, np.uint8)
    np.put_along_axis(questions, order, np.where(np.arange(task.cells) < counts, WALL, FREE).astype(np.uint8), axis=1)
    # The last cell of an order is free: not every cell is a wall.
    starts = order[:, -1]
    np.put_along_axis(questions, starts[:, None], np.uint8(START), axis=1)
    far = _far_cells(questions, starts, task.grid, source.path_cells)
    for pattern in np.flatnonzero(far.any(axis=1)):
        bits = far[pattern][:, None] >> np.arange(task.grid[1], dtype=np.uint64) & np.uint64(1)
        questions[pattern, rng.choice(np.flatnonzero(bits))] = GOAL
        yield questions[pattern]


def _far_cells(
    questions: UInt8[np.ndarray, "patterns cells"],
    starts: Int[np.ndarray, "patterns"],
    grid: tuple[int, int],
    path_cells: tuple[int, int],
) -> UInt64[np.ndarray, "patterns rows"]:
    """The cells to which a shortest path from the start has a number of cells in a range; column c is bit c of its row.

    All patterns are flooded from their starts together, one step at a time.
    """
    column = np.uint64(1) << np.arange(grid[1], dtype=np.uint64)
    unseen = ((questions == FREE).reshape(-1, *grid) * column).sum(axis=2, dtype=np.uint64)
    front = np.zeros_like(unseen)
    front[np.arange(len(starts)), starts // grid[1]] = column[starts % grid[1]]
    far, one = np.zeros_like(unseen), np.uint64(1)
    for length in range(2, path_cells[1] + 1):
        reached = front << one | front >> one
        reached[:, 1:] |= front[:, :-1]
        reached[:, :-1] |= front[:, 1:]
        front = reached & unseen
        if not front.any():
            break
        unseen ^= front
        if length >= path_cells[0]:
            far |= front
    return far
