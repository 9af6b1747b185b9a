"""The rows of the test sets that others report on."""

import numpy as np
import pytest

from cvoting.data.named_test_sets import rows_of
from cvoting.data.puzzles import DataError
from cvoting.params.sudoku_extreme import FILE_ROWS, NAMED_TEST_SETS

TOTAL = FILE_ROWS["sudoku_extreme_test"]


@pytest.mark.parametrize("name", NAMED_TEST_SETS)
def test_a_named_set_has_its_size_and_is_in_the_order_of_the_file(name):
    rows = rows_of(name, TOTAL)
    assert len(rows) == NAMED_TEST_SETS[name]
    assert (np.diff(rows) > 0).all()
    assert 0 <= rows[0] < rows[-1] < TOTAL


def test_first_rows_are_first_rows():
    assert rows_of("rows0-1000", 20_000).tolist() == list(range(1_000))
    assert rows_of("eqr2048", TOTAL)[[0, -1]].tolist() == [0, 2_047]
    assert rows_of("all", 7).tolist() == list(range(7))


def test_the_draw_of_qrr42279_is_numpys_with_seed_0():
    rows = rows_of("qrr42279", TOTAL)
    expected = sorted(np.random.default_rng(0).choice(422786, 42279, replace=False).tolist())
    assert rows.tolist() == expected
    # Pinned, so that another version of numpy with another draw does not go unnoticed.
    assert rows[:5].tolist() == [5, 8, 9, 12, 25]
    assert int(rows.sum()) == 8_935_495_152


@pytest.mark.parametrize(
    ("name", "total", "message"),
    [
        ("qrr42279", 20_000, "test set qrr42279: a file of 20,000 rows, expected exactly 422,786"),
        ("eqr2048", 2_047, "test set eqr2048: a file of 2,047 rows, expected at least 2,048"),
    ],
)
def test_a_file_without_those_rows_is_refused(name, total, message):
    with pytest.raises(DataError, match=message):
        rows_of(name, total)
