"""Datasets of SATNet's Sudoku boards.

Source: Wang, Donti, Wilder and Kolter, "SATNet: Bridging deep learning and logical reasoning using a differentiable
satisfiability solver", ICML 2019.
"""

from pathlib import Path

from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.satnet_archive import read_satnet_archive
from cvoting.data.source_file import sha256_of
from cvoting.data.sources import source_file, verified
from cvoting.params.datasets import SatnetSudoku
from cvoting.tasks.sudoku import Sudoku


def build(name: str, task: Sudoku, source: SatnetSudoku, raw: Path) -> dict[str, Puzzles]:
    """Training boards from the front of the archive, validation boards from its end, in its order.

    Args:
        name: the dataset's name, for errors.
        task: reads the boards.
        source: splits.
        raw: folder of fetched files.

    Raises:
        SourceError: when the archive is missing, or its members are not the published ones.
        DataError: when a member is damaged, or there are fewer boards than asked for.
    """
    file = source_file(*source.files)
    path = verified(file, raw)
    questions, answers = read_satnet_archive(path, file, task)
    train, validation = source.splits.train, source.splits.validation
    if train + validation > len(questions):
        raise DataError(
            f"dataset {name}: {train + validation:,} boards, expected at most {len(questions):,} ({file.citation}): "
            "ask for fewer in `splits`"
        )
    archive = Puzzles(questions, answers, "original", f"in {file.citation}, SHA-256 of the archive {sha256_of(path)}")
    splits = {"train": archive[:train], "validation": archive[len(archive) - validation :]}
    return {split: splits[split] for split in source.splits.names}
