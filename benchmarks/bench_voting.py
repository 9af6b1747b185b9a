"""The voting table of a bank: every vote of the paper's study, every K, both estimators, intervals and comparisons."""

from collections.abc import Sequence
from pathlib import Path

from cvoting.bank_file import read_ends
from harness import Row, Settings, Work, compare
from made_up_bank import BOX, vote, write_made_up
from yardsticks import sorting

#: Puzzles and candidates of the bank.
PUZZLES, CANDIDATES = 256, 1024


def measure(settings: Settings) -> list[Row]:
    """Candidates per second."""
    puzzles, candidates = (4, 8) if settings.quick else (PUZZLES, CANDIDATES)
    size = f"{puzzles} puzzles x {candidates}"
    total = puzzles * candidates / 1e6
    shards = write_made_up(settings.folder, puzzles, candidates, shards=2)
    works = [
        Work(
            f"write a bank, {size}",
            lambda: write_made_up(settings.folder, puzzles, candidates, 2),
            total,
            "M candidates",
        ),
        Work(f"read a bank, {size}", lambda: read(shards), total, "M candidates"),
        Work(f"voting table, {size}", lambda: vote(shards, candidates, BOX, settings.folder), total, "M candidates"),
    ]
    return compare(works, [sorting(settings)], settings)


def read(shards: Sequence[Path]) -> None:
    """Read what votes need.

    Args:
        shards: the bank's files.
    """
    for path in shards:
        for _ in read_ends(path):
            pass
