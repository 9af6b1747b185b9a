"""Parameters of a dataset: its task, and where its puzzles come from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cvoting.params.core import ParameterError, key, tag_of
from cvoting.params.mazes import GeneratedMaze, MazeHard
from cvoting.params.splits import Splits as Splits
from cvoting.params.sudoku_extreme import SudokuExtreme
from cvoting.params.sudokus import CsvSudoku, GeneratedSudoku, RrnSudokuHard, SatnetSudoku, SudokuHard
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

#: By task: the sources of its puzzles.
SOURCES = {
    "sudoku": (GeneratedSudoku, SudokuExtreme, SudokuHard, SatnetSudoku, RrnSudokuHard, CsvSudoku),
    "maze": (GeneratedMaze, MazeHard),
}


@dataclass(frozen=True, kw_only=True)
class DatasetParams:
    """A named set of puzzles of one task."""

    task: Sudoku | Maze = key("the task")
    source: (
        GeneratedSudoku
        | SudokuExtreme
        | SudokuHard
        | SatnetSudoku
        | RrnSudokuHard
        | CsvSudoku
        | GeneratedMaze
        | MazeHard
    ) = key("where the puzzles come from")

    @property
    def local_files(self) -> tuple[str, ...]:
        """The user's own files it is made from."""
        return (self.source.path,) if isinstance(self.source, CsvSudoku) else ()

    @property
    def checksums(self) -> Mapping[str, str]:
        """The SHA-256 of the source files for which the user put one in place of ours."""
        return (self.source.checksums or {}) if isinstance(self.source, SudokuExtreme) else {}

    def __post_init__(self) -> None:
        own: tuple[Any, ...] = SOURCES[self.task.name]
        if not isinstance(self.source, own):
            kinds = ", ".join(tag_of(kind)[1] for kind in own)
            raise ParameterError([f"source.kind = {self.source.kind!r}: expected for {self.task.name} one of {kinds}"])
        source: Any = self.source
        if problems := source.task_problems(self.task):
            raise ParameterError(problems)


def accepted_checksums(datasets: Mapping[str, DatasetParams]) -> dict[str, str | None]:
    """The source files that datasets need, with the SHA-256 that the user put in place of ours, or None."""
    return {file: block.checksums.get(file) for block in datasets.values() for file in sorted(block.source.files)}


def checksum_conflicts(datasets: Mapping[str, DatasetParams]) -> Iterator[str]:
    """One line for each file of which two datasets expect different contents: there is one place for it."""
    first: dict[str, tuple[str, str | None]] = {}
    for name, block in datasets.items():
        for file in block.source.files:
            other, expected = first.setdefault(file, (name, block.checksums.get(file)))
            if (found := block.checksums.get(file)) != expected:
                where = f"datasets.{name}.source.checksums.{file}"
                yield f"{where} = {found!r}: expected {expected!r} as in {other}, a study has one copy of a file"
