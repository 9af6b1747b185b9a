"""Parameters of the other datasets of Sudoku boards: generated, published, or a user's own."""

from dataclasses import dataclass
from typing import Literal

from cvoting.params.core import ParameterError, key
from cvoting.params.splits import Splits
from cvoting.tasks.sudoku import Sudoku

#: Puzzles of Royle's list.
ROYLE_PUZZLES = 49_151
#: Puzzles of SATNet's archive that each split may have: training puzzles from its front, the others from its end.
SATNET_PUZZLES = {"train": 9_000, "validation": 1_000, "test": 0}
#: Puzzles of the files in RRN's archive.
RRN_PUZZLES = {"train": 180_000, "validation": 18_000, "test": 18_000}


@dataclass(frozen=True, kw_only=True)
class GeneratedSudoku:
    """Boards with one solution, made by `data.sudoku_generator`; every product says that it is generated."""

    kind: Literal["generated_sudoku"] = key("a seeded generator")
    givens: tuple[int, int] | None = key(
        "fewest and most givens, each number equally often; null: givens are taken away until none can go", minimum=0
    )
    seed: int = key("seed of the generator", minimum=0)
    splits: Splits = key("puzzles per split")

    @property
    def files(self) -> tuple[str, ...]:
        """The source files it is made from: none."""
        return ()

    def task_problems(self, task: Sudoku) -> list[str]:
        """What the boards have no room for."""
        if self.givens is None or self.givens[1] < task.cells:
            return []
        most = task.cells - 1
        return [f"source.givens = {list(self.givens)}: expected at most {most}, one cell is to be predicted"]

    def __post_init__(self) -> None:
        if self.givens and self.givens[0] > self.givens[1]:
            raise ParameterError([f"givens = {list(self.givens)}: expected the smaller number first"])


@dataclass(frozen=True, kw_only=True)
class SudokuHard:
    """Sudoku-hard by the RRN rule: Royle's 17-clue puzzles with givens added; test puzzles only."""

    kind: Literal["sudoku_hard"] = key("the RRN rule on Royle's list")
    givens: tuple[int, int] = key("fewest and most givens (paper: 17 to 34)", minimum=17)
    boards_per_level: int = key("test boards for each number of givens (RRN: 1,000)", minimum=1)
    seed: int = key("seed of the added givens and the relabelling", minimum=0)

    @property
    def files(self) -> tuple[str, ...]:
        """Names in data.sources of the files it is made from."""
        return ("royle_17_clues",)

    @property
    def splits(self) -> Splits:
        """All boards are test boards."""
        return Splits(test=self.boards_per_level * (self.givens[1] - self.givens[0] + 1))

    def task_problems(self, task: Sudoku) -> list[str]:
        """What the boards are not made for."""
        return _box_problems(self.kind, task)

    def __post_init__(self) -> None:
        most = ROYLE_PUZZLES // (abs(self.givens[1] - self.givens[0]) + 1)
        if self.boards_per_level > most:
            found = f"boards_per_level = {self.boards_per_level}"
            raise ParameterError([f"{found}: expected at most {most}, each board has a Royle puzzle of its own"])
        if not self.givens[0] <= self.givens[1] < 81:
            raise ParameterError([f"givens = {list(self.givens)}: expected the smaller number first, and at most 80"])


@dataclass(frozen=True, kw_only=True)
class SatnetSudoku:
    """SATNet's 10,000 boards: training boards are the first ones, validation boards the last ones."""

    kind: Literal["satnet_sudoku"] = key("SATNet's archive of tensors")
    splits: Splits = key("puzzles per split (paper: 9,000 training and 1,000 validation puzzles)")

    @property
    def files(self) -> tuple[str, ...]:
        """Names in data.sources of the files it is made from."""
        return ("satnet_sudoku",)

    def task_problems(self, task: Sudoku) -> list[str]:
        """What the boards are not made for."""
        return _box_problems(self.kind, task)

    def __post_init__(self) -> None:
        _check_sizes(self.splits, SATNET_PUZZLES)


@dataclass(frozen=True, kw_only=True)
class RrnSudokuHard:
    """RRN's own Sudoku-hard boards; each split is a seeded draw from its file."""

    kind: Literal["rrn_sudoku_hard"] = key("RRN's archive of CSV files")
    seed: int = key("seed of the draws, where not all puzzles are taken", minimum=0)
    splits: Splits = key("puzzles per split (there are 180,000, 18,000 and 18,000)")

    @property
    def files(self) -> tuple[str, ...]:
        """Names in data.sources of the files it is made from."""
        return ("rrn_sudoku_hard",)

    def task_problems(self, task: Sudoku) -> list[str]:
        """What the boards are not made for."""
        return _box_problems(self.kind, task)

    def __post_init__(self) -> None:
        _check_sizes(self.splits, RRN_PUZZLES)


@dataclass(frozen=True, kw_only=True)
class CsvSudoku:
    """A user's own CSV file with the columns question and answer; the splits are disjoint seeded draws from it."""

    kind: Literal["csv_sudoku"] = key("a CSV file of your own: columns question, answer and perhaps rating")
    path: str = key("the file, seen from the folder in which the workflow runs")
    seed: int = key("seed of the draws", minimum=0)
    splits: Splits = key("puzzles per split")

    @property
    def files(self) -> tuple[str, ...]:
        """The source files it is made from: none."""
        return ()

    def task_problems(self, task: Sudoku) -> list[str]:
        """What the boards are not made for: nothing, boxes of any size will do."""
        return []


def _box_problems(kind: str, task: Sudoku) -> list[str]:
    expected = f"expected [3, 3], the box of the {kind} boards"
    return [] if task.box == (3, 3) else [f"task.box = {list(task.box)}: {expected}"]


def _check_sizes(splits: Splits, there: dict[str, int]) -> None:
    problems = [
        f"splits.{name} = {getattr(splits, name)}: expected at most {most}, the puzzles of that split"
        for name, most in there.items()
        if getattr(splits, name) > most
    ]
    if problems:
        raise ParameterError(problems)
