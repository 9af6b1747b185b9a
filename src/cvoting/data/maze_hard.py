"""Datasets of the published Maze-hard files."""

from pathlib import Path

import numpy as np

from cvoting.data.parsers import read_hugging_face_csv
from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.sources import source_file, verified
from cvoting.params.mazes import MazeHard
from cvoting.seeding import generator
from cvoting.tasks.maze import Maze


def build(name: str, task: Maze, source: MazeHard, raw: Path) -> dict[str, Puzzles]:
    """Seeded draws: training and validation mazes from the training file, test mazes from the test file.

    The paper tests on the whole test file, so nothing of it is left for validation; mazes held out from training cost
    the training set little and leave the test set whole.  Training mazes come from the front of a random order of the
    training file and validation mazes from its end: neither changes with the number of the other, and a smaller draw is
    part of a larger one.  Every split is in the order of its file.

    Args:
        name: the dataset's name, for errors; two datasets of the same files and seed draw alike.
        task: reads the mazes.
        source: files, seed and splits.
        raw: folder of fetched files.

    Raises:
        SourceError: when a file is missing or another.
        DataError: when a file is damaged, or holds fewer puzzles than asked for.
    """
    asked, train = source.splits, _read(task, source.train_file, source.seed, raw)
    test = _read(task, source.test_file, source.seed, raw)
    for what, count, puzzles in (
        ("training and validation", asked.train + asked.validation, train),
        ("test", asked.test, test),
    ):
        if count > len(puzzles):
            raise DataError(
                f"dataset {name}: {count:,} {what} puzzles, expected at most {len(puzzles):,} ({puzzles.source}): "
                "ask for fewer in `splits`"
            )
    train_order = generator("maze_hard draw", source.train_file, source.seed).permutation(len(train))
    test_order = generator("maze_hard draw", source.test_file, source.seed).permutation(len(test))
    drawn = {
        "train": train[np.sort(train_order[: asked.train])],
        "validation": train[np.sort(train_order[len(train) - asked.validation :])],
        "test": test[np.sort(test_order[: asked.test])],
    }
    return {split: drawn[split] for split in asked.names}


def _read(task: Maze, name: str, seed: int, raw: Path) -> Puzzles:
    """All puzzles of a file."""
    file = source_file(name)
    return read_hugging_face_csv(verified(file, raw), task, f"drawn with seed {seed} from {file.citation}")
