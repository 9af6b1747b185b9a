"""Datasets of RRN's own Sudoku-hard boards.

Source: Palm, Paquet and Winther, "Recurrent Relational Networks", NeurIPS 2018.  `data.sudoku_hard` makes test
boards anew by their rule.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from cvoting.data.archives import read_member
from cvoting.data.parsers import read_rrn_csv
from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.sources import source_file, verified
from cvoting.params.datasets import RrnSudokuHard
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

#: By split: the member of the archive.
MEMBERS = {"train": "train.csv", "validation": "valid.csv", "test": "test.csv"}


def build(name: str, task: Sudoku, source: RrnSudokuHard, raw: Path) -> dict[str, Puzzles]:
    """Each split from its own file: all boards, or a seeded draw in the order of the file.

    A smaller draw is part of a larger one.

    Args:
        name: the dataset's name, for errors; two datasets of one seed draw alike.
        task: reads the boards.
        source: seed and splits.
        raw: folder of fetched files.

    Raises:
        SourceError: when the archive is missing or another.
        DataError: when a member is damaged, or holds fewer boards than asked for.
    """
    file = source_file(*source.files)
    path = verified(file, raw)
    splits = {}
    for split in source.splits.names:
        member, count = MEMBERS[split], getattr(source.splits, split)
        where = f"{member} in {file.citation}"
        boards = read_rrn_csv(read_member(path, member), f"{path}, {member}", task, f"all of {where}")
        if count > len(boards):
            raise DataError(
                f"dataset {name}: {count:,} {split} puzzles, expected at most {len(boards):,} ({where}): "
                "ask for fewer in `splits`"
            )
        if count < len(boards):
            order = generator("rrn_sudoku_hard draw", member, source.seed).permutation(len(boards))
            drawn = boards[np.sort(order[:count])]
            boards = replace(drawn, source=f"drawn with seed {source.seed} from {where}")
        splits[split] = boards
    return splits
