"""Parameters of the datasets: where puzzles come from and how they are split."""

from dataclasses import dataclass, fields
from typing import Literal

from cvoting.params.core import ParameterError, key
from cvoting.tasks.sudoku import Sudoku

#: Puzzles of Royle's list.
ROYLE_PUZZLES = 49_151


@dataclass(frozen=True, kw_only=True)
class Splits:
    """Number of puzzles per split; a split of 0 puzzles is not made."""

    train: int = key("training puzzles", default=0, minimum=0)
    validation: int = key("puzzles watched during training", default=0, minimum=0)
    test: int = key("test puzzles", default=0, minimum=0)

    @property
    def names(self) -> tuple[str, ...]:
        """The splits that are made."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name))


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

    def __post_init__(self) -> None:
        if self.givens and self.givens[0] > self.givens[1]:
            raise ParameterError([f"givens = {list(self.givens)}: expected the smaller number first"])


@dataclass(frozen=True, kw_only=True)
class SudokuExtreme:
    """The published Sudoku-extreme files; validation and test puzzles are disjoint seeded draws from the test file."""

    kind: Literal["sudoku_extreme"] = key("Hugging Face CSV files of HRM's authors")
    train_file: Literal["sudoku_extreme_1k_train"] = key("name of the training file in data.sources")
    test_file: Literal["sudoku_extreme_1k_test_hard"] = key("name of the test file in data.sources")
    seed: int = key("seed of the draws", minimum=0)
    splits: Splits = key("puzzles per split (paper: 1,000 training and 1,000 test puzzles)")

    @property
    def files(self) -> tuple[str, ...]:
        """Names in data.sources of the files it is made from."""
        return self.train_file, self.test_file


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

    def __post_init__(self) -> None:
        most = ROYLE_PUZZLES // (abs(self.givens[1] - self.givens[0]) + 1)
        if self.boards_per_level > most:
            found = f"boards_per_level = {self.boards_per_level}"
            raise ParameterError([f"{found}: expected at most {most}, each board has a Royle puzzle of its own"])
        if not self.givens[0] <= self.givens[1] < 81:
            raise ParameterError([f"givens = {list(self.givens)}: expected the smaller number first, and at most 80"])


@dataclass(frozen=True, kw_only=True)
class DatasetParams:
    """A named set of puzzles of one task."""

    task: Sudoku = key("the task")
    source: GeneratedSudoku | SudokuExtreme | SudokuHard = key("where the puzzles come from")

    def __post_init__(self) -> None:
        if self.source.kind != "generated_sudoku" and self.task.box != (3, 3):
            raise ParameterError(
                [f"task.box = {list(self.task.box)}: expected [3, 3], the box of the {self.source.kind} boards"]
            )
        givens = self.source.givens if isinstance(self.source, GeneratedSudoku) else None
        if givens and givens[1] >= self.task.cells:
            raise ParameterError(
                [f"source.givens = {list(givens)}: expected at most {self.task.cells - 1}, one cell is to be predicted"]
            )
