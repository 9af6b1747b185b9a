"""Parameters of the datasets made from the Sudoku-extreme files."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from cvoting.params.core import ParameterError, key
from cvoting.params.splits import Splits
from cvoting.tasks.sudoku import Sudoku

#: Puzzles of each file.
FILE_ROWS = {
    "sudoku_extreme_1k_train": 1_000,
    "sudoku_extreme_train": 3_831_994,
    "sudoku_extreme_1k_test_hard": 20_000,
    "sudoku_extreme_test": 422_786,
}
#: Files known by a re-export, whose checksum at their publisher may differ.
REEXPORTS = ("sudoku_extreme_1k_train", "sudoku_extreme_1k_test_hard")
#: Puzzles of the test sets that others report on; `all` has those of its file.
NAMED_TEST_SETS = {"rows0-1000": 1_000, "eqr2048": 2_048, "qrr42279": 42_279}
#: Test sets of one file only.
FULL_TEST_SETS = ("eqr2048", "qrr42279")


@dataclass(frozen=True, kw_only=True)
class SudokuExtreme:
    """The published Sudoku-extreme files; test puzzles are a seeded draw, or a set that others report on."""

    kind: Literal["sudoku_extreme"] = key("Hugging Face CSV files of HRM's authors")
    train_file: Literal["sudoku_extreme_1k_train", "sudoku_extreme_train"] = key(
        "name of the training file in data.sources"
    )
    test_file: Literal["sudoku_extreme_1k_test_hard", "sudoku_extreme_test"] = key(
        "name of the test file in data.sources"
    )
    test_set: Literal["draw", "rows0-1000", "eqr2048", "qrr42279", "all"] = key(
        "test puzzles: a seeded draw; the first 1,000 rows; of sudoku_extreme_test the first 2,048 rows, or 42,279 "
        "that numpy draws; or every row",
        default="draw",
    )
    seed: int = key("seed of the draws", minimum=0)
    splits: Splits = key("puzzles per split (paper: 1,000 training and 1,000 test puzzles)")
    checksums: Mapping[str, str] | None = key(
        "SHA-256 by file name, for a re-exported file whose published version you trust in place of ours", default=None
    )

    @property
    def files(self) -> tuple[str, ...]:
        """Names in data.sources of the files it is made from."""
        return self.train_file, self.test_file

    def task_problems(self, task: Sudoku) -> list[str]:
        """What the boards are not made for."""
        expected = "expected [3, 3], the box of the sudoku_extreme boards"
        return [] if task.box == (3, 3) else [f"task.box = {list(task.box)}: {expected}"]

    def __post_init__(self) -> None:
        problems = [*self._checksum_problems(), *self._size_problems()]
        if problems:
            raise ParameterError(problems)

    def _checksum_problems(self) -> Iterator[str]:
        for name, checksum in (self.checksums or {}).items():
            allowed = [file for file in self.files if file in REEXPORTS]
            if name not in allowed:
                yield (
                    f"checksums.{name}: expected one of {', '.join(allowed) or '(there are none)'}, "
                    "the re-exported files among its own"
                )
            if not re.fullmatch("[0-9a-f]{64}", checksum):
                yield f"checksums.{name} = {checksum!r}: expected the 64 hex digits of a SHA-256"

    def _size_problems(self) -> Iterator[str]:
        """Sizes of splits; of a file with another checksum the size is not known."""
        if self.test_set in FULL_TEST_SETS and self.test_file != "sudoku_extreme_test":
            yield f"test_set = {self.test_set!r}: expected test_file = 'sudoku_extreme_test', whose rows it names"
            return
        known = {file: FILE_ROWS[file] for file in self.files if file not in (self.checksums or {})}
        sizes = NAMED_TEST_SETS | ({"all": known[self.test_file]} if self.test_file in known else {})
        expected = sizes.get(self.test_set)
        if expected is not None and self.splits.test != expected:
            yield f"splits.test = {self.splits.test}: expected {expected}, the puzzles of test_set = {self.test_set!r}"
        counts = {
            self.train_file: ("train", self.splits.train),
            self.test_file: ("test + validation", self.splits.test + self.splits.validation),
        }
        for file, (what, count) in counts.items():
            if count > known.get(file, count):
                yield f"splits: {what} = {count}: expected at most {known[file]}, the puzzles of {file}"
