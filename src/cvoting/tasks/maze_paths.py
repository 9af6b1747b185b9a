"""Paths through the open cells of a grid: the one that labels follow, how many are as short, and what counts as one.

Cells are numbered row by row; paths go from cell to cell down, left, right and up.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Bool

#: The neighbours of every cell, in the order in which labels look at them.
Neighbours = tuple[tuple[int, ...], ...]


@lru_cache
def neighbours(grid: tuple[int, int]) -> Neighbours:
    """For each cell of a grid the cells below, to the left, to the right, and above, where there are such."""
    rows, columns = grid
    moves = ((1, 0), (0, -1), (0, 1), (-1, 0))
    return tuple(
        tuple((r + i) * columns + c + j for i, j in moves if 0 <= r + i < rows and 0 <= c + j < columns)
        for r in range(rows)
        for c in range(columns)
    )


def breadth_first_path(passable: Sequence[bool], start: int, goal: int, grid: tuple[int, int]) -> list[int]:
    """The shortest path that the labels of Maze-hard show.

    A breadth-first search from the start looks at neighbours in the order down, left, right, up; every cell is entered
    from the cell that discovered it first.  Source: the published files, of which all 2,000 labels follow this rule.

    Args:
        passable: for each cell whether a path may use it.
        start, goal: the ends.
        grid: rows and columns.

    Returns:
        The cells from the start to the goal, both included; none where there is no path.
    """
    around, parents, frontier = neighbours(grid), {start: start}, [start]
    while frontier and goal not in parents:
        discovered = []
        for cell in frontier:
            for neighbour in around[cell]:
                if passable[neighbour] and neighbour not in parents:
                    parents[neighbour] = cell
                    discovered.append(neighbour)
        frontier = discovered
    if goal not in parents:
        return []
    path = [goal]
    while path[-1] != start:
        path.append(parents[path[-1]])
    return path[::-1]


def count_shortest_paths(passable: Sequence[bool], start: int, goal: int, grid: tuple[int, int]) -> int:
    """The number of shortest paths from the start to the goal; 0 where there is none.

    n(start) = 1, n(cell) = sum of n over the neighbours that are one step nearer to the start.
    """
    around, known, counts = neighbours(grid), {start}, {start: 1}
    while counts and goal not in counts:
        known |= counts.keys()
        further: dict[int, int] = {}
        for cell, count in counts.items():
            for neighbour in around[cell]:
                if passable[neighbour] and neighbour not in known:
                    further[neighbour] = further.get(neighbour, 0) + count
        counts = further
    return counts.get(goal, 0)


def has_path_shape(
    paths: Bool[np.ndarray, "*batch cells"], ends: Bool[np.ndarray, "*batch cells"], grid: tuple[int, int]
) -> Bool[np.ndarray, "*batch"]:
    """Whether each end has one neighbour in a set of cells and every other cell of the set has two.

    Such a set is a path between its two ends, and perhaps rings of cells apart from it.
    """
    board = paths.reshape(*paths.shape[:-1], *grid)
    degree = np.zeros(board.shape, np.uint8)
    degree[..., 1:, :] += board[..., :-1, :]
    degree[..., :-1, :] += board[..., 1:, :]
    degree[..., 1:] += board[..., :-1]
    degree[..., :-1] += board[..., 1:]
    right = degree.reshape(paths.shape) + ends == 2
    return np.asarray((right | ~paths).all(axis=-1))


def length_from(path: Bool[np.ndarray, "cells"], start: int, grid: tuple[int, int]) -> int:
    """The number of cells on the path that begins at `start`, in a set that `has_path_shape`."""
    around, before, cell, length = neighbours(grid), start, start, 1
    while True:
        onwards = [n for n in around[cell] if path[n] and n != before]
        if not onwards:
            return length
        before, cell, length = cell, onwards[0], length + 1
