"""Shuffles are drawn uniformly from the whole group, for boards small enough to list it."""

import numpy as np
import pytest
from scipy import stats

from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

#: Per element of the group; with 20 the chance that any of 3,072 is missed is 6e-6.
DRAWS = 20


def frequencies(rows):
    """How often each different row occurs."""
    return np.unique(rows, axis=0, return_counts=True)[1]


def draw(box, count):
    return Sudoku(name="sudoku", box=box).random_symmetries(count, "shuffles", generator("symmetry coverage", *box))


@pytest.mark.parametrize(
    ("box", "places", "relabellings"),
    [
        # Bands! x (rows in a band)!^bands, the same for columns, and times 2 for the transposition of square boxes.
        ((2, 2), (2 * 2**2) ** 2 * 2, 24),
        ((1, 3), 6 * 6, 6),
        ((1, 2), 2 * 2, 2),
    ],
)
def test_every_symmetry_of_a_small_board_is_drawn_and_equally_often(box, places, relabellings):
    cells, tokens = draw(box, DRAWS * places * relabellings)
    for rows, size in (
        (cells, places),
        (tokens, relabellings),
        (np.concatenate([cells, tokens], axis=1), places * relabellings),
    ):
        counts = frequencies(rows)
        assert len(counts) == size
        assert stats.chisquare(counts).pvalue > 0.001


def test_a_group_drawn_unevenly_would_be_noticed():
    # The negative control: one in ten of the transposed boards is missing.
    cells, _ = draw((2, 2), DRAWS * 3072)
    transposed = cells[:, 0] // 4 != cells[:, 1] // 4
    kept = ~transposed | (np.arange(len(cells)) % 10 > 0)
    assert stats.chisquare(frequencies(cells[kept])).pvalue < 1e-6


def test_the_cells_of_a_3x3_box_board_reach_every_place():
    # Too many symmetries to list; every cell must still land everywhere equally often.
    cells, _ = Sudoku(name="sudoku", box=(3, 3)).random_symmetries(40_500, "shuffles", generator("symmetry coverage"))
    for place in (0, 40, 77):
        assert stats.chisquare(np.bincount(cells[:, place], minlength=81)).pvalue > 0.001
