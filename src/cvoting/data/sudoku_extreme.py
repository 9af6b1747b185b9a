"""Datasets of the published Sudoku-extreme files."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from cvoting.data.parsers import read_hugging_face_csv
from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.sources import source_file, verified
from cvoting.params.datasets import SudokuExtreme
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku


def build(name: str, task: Sudoku, source: SudokuExtreme, raw: Path) -> dict[str, Puzzles]:
    """Seeded draws: training puzzles from the training file, test and validation puzzles from the test file.

    Test puzzles come from the front of a random order of the test file and validation puzzles from its end: neither
    changes with the number of the other, and a smaller draw is part of a larger one.  Every split is in the order of
    its file.  Rows of the test file whose question is in the training file are left out first; the 1k files share none.

    Args:
        name: the dataset's name, for errors; two datasets of the same files and seed draw alike.
        task: reads the boards.
        source: files, seed and splits.
        raw: folder of fetched files.

    Raises:
        SourceError: when a file is missing or another.
        DataError: when a file is damaged, or holds fewer puzzles than asked for.
    """
    train = _read(task, source.train_file, source.seed, raw)
    test = _read(task, source.test_file, source.seed, raw)
    known = np.isin(test.hashes, train.hashes)
    if known.any():
        test = replace(test[~known], source=f"{test.source}, without {known.sum()} questions of the training file")

    asked = source.splits
    for what, count, puzzles in (
        ("training", asked.train, train),
        ("test and validation", asked.test + asked.validation, test),
    ):
        if count > len(puzzles):
            raise DataError(
                f"dataset {name}: {count:,} {what} puzzles, expected at most {len(puzzles):,} ({puzzles.source}): "
                "ask for fewer in `splits`"
            )
    train_order = generator("sudoku_extreme draw", source.train_file, source.seed).permutation(len(train))
    test_order = generator("sudoku_extreme draw", source.test_file, source.seed).permutation(len(test))
    drawn = {
        "train": train[np.sort(train_order[: asked.train])],
        "validation": test[np.sort(test_order[len(test) - asked.validation :])],
        "test": test[np.sort(test_order[: asked.test])],
    }
    return {split: drawn[split] for split in asked.names}


def _read(task: Sudoku, name: str, seed: int, raw: Path) -> Puzzles:
    """All puzzles of a file."""
    file = source_file(name)
    return read_hugging_face_csv(verified(file, raw), task, f"drawn with seed {seed} from {file.citation}")
