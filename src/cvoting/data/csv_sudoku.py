"""Datasets of a user's own CSV file."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from cvoting.data.parsers import read_own_csv
from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.source_file import sha256_of
from cvoting.params.datasets import CsvSudoku
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku


def build(name: str, task: Sudoku, source: CsvSudoku, raw: Path) -> dict[str, Puzzles]:
    """Disjoint seeded draws: test puzzles from the front of a random order, then validation, then training puzzles.

    So the test puzzles do not change with the other splits.  Every split is in the order of the file.

    Args:
        name: the dataset's name, for errors; two datasets of the same file and seed draw alike.
        task: reads the boards.
        source: path, seed and splits.
        raw: folder of fetched files; not used.

    Raises:
        DataError: when the file is missing or damaged, or holds fewer puzzles than asked for.
    """
    puzzles = read_own_csv(source.path, task, "")
    digest = sha256_of(Path(source.path))
    asked = source.splits
    if (count := asked.train + asked.validation + asked.test) > len(puzzles):
        raise DataError(
            f"dataset {name}: {count:,} puzzles in all, expected at most {len(puzzles):,}, those of {source.path}: "
            "ask for fewer in `splits`"
        )
    puzzles = replace(puzzles, source=f"drawn with seed {source.seed} from {source.path} (SHA-256 {digest})")
    order = generator("csv_sudoku draw", source.seed).permutation(len(puzzles))
    ends = np.cumsum([asked.test, asked.validation, asked.train])
    parts = np.split(order, ends)
    drawn = dict(zip(("test", "validation", "train"), parts, strict=False))
    return {split: puzzles[np.sort(drawn[split])] for split in asked.names}
