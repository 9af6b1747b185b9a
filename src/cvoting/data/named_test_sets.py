"""Test sets of Sudoku-extreme that others report on, so that numbers can lie beside theirs."""

import numpy as np
from jaxtyping import Int

from cvoting.data.puzzles import DataError

#: Rows of the published test.csv, from which `qrr42279` is drawn, and how many are.
QRR_TOTAL, QRR_DRAWN = 422_786, 42_279


def rows_of(test_set: str, total: int) -> Int[np.ndarray, "puzzles"]:
    """The rows of a test set, from 0 and in order.

    Args:
        test_set: "rows0-1000" and "eqr2048" are the first 1,000 and 2,048 rows; "qrr42279" is numpy's draw with seed 0
            of a tenth of the whole file, taken to be without replacement; "all" is every row.
        total: rows of the file.

    Raises:
        DataError: when the file has too few rows, or not those that the draw is of.
    """
    if test_set == "qrr42279":
        if total != QRR_TOTAL:
            raise DataError(f"test set {test_set}: a file of {total:,} rows, expected exactly {QRR_TOTAL:,}")
        # Not of cvoting.seeding: this draw is the definition of the set.
        return np.sort(np.random.default_rng(0).choice(QRR_TOTAL, QRR_DRAWN, replace=False))
    count = {"rows0-1000": 1_000, "eqr2048": 2_048, "all": total}[test_set]
    if count > total:
        raise DataError(f"test set {test_set}: a file of {total:,} rows, expected at least {count:,}")
    return np.arange(count)
