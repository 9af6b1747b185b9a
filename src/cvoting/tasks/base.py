"""What the rest of the project asks of a task."""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Int, UInt8


@runtime_checkable
class Task(Protocol):
    """A puzzle family: its tokens, the positions to predict, and its symmetries.

    Questions and answers are uint8 tokens, one per cell.  A model predicts classes: class = token - first_answer_token.
    """

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def cells(self) -> int:
        """Rows times columns."""

    @property
    def vocabulary(self) -> int:
        """Number of tokens of a question."""

    @property
    def classes(self) -> int:
        """Number of classes of an answer's cell."""

    @property
    def first_answer_token(self) -> int:
        """The token of class 0."""

    @property
    def blank(self) -> int:
        """The token of a cell that a question leaves open."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """By what answers are right or wrong; `board`, every position to predict right, is always one of them."""

    @property
    def symmetry_groups(self) -> tuple[str, ...]:
        """The names `random_symmetries` knows."""

    def positions_to_predict(self, questions: UInt8[np.ndarray, "*batch cells"]) -> Bool[np.ndarray, "*batch cells"]:
        """The cells whose answer is asked for: the set L of the paper (Section 4)."""

    def consistent(self, questions: UInt8[np.ndarray, "*batch cells"]) -> Bool[np.ndarray, "*batch"]:
        """Whether a question breaks no rule by itself."""

    def contradiction(self, question: UInt8[np.ndarray, "cells"]) -> str | None:
        """What makes a question impossible to answer, as far as a glance can tell; None for nothing."""

    def valid(self, answers: UInt8[np.ndarray, "*batch cells"]) -> Bool[np.ndarray, "*batch"]:
        """Whether an answer satisfies the task's constraints by itself."""

    def answers_question(
        self, answers: UInt8[np.ndarray, "*batch cells"], questions: UInt8[np.ndarray, "*batch cells"]
    ) -> Bool[np.ndarray, "*batch"]:
        """Whether an answer keeps every given of its question."""

    def violation(self, question: UInt8[np.ndarray, "cells"], answer: UInt8[np.ndarray, "cells"]) -> str | None:
        """What is wrong with an answer, in words; None exactly if it is valid and keeps every given of its question."""

    def remark(self, question: UInt8[np.ndarray, "cells"], answer: UInt8[np.ndarray, "cells"]) -> str | None:
        """What else can be said of an answer, in words; None for nothing."""

    def judge(
        self,
        answers: UInt8[np.ndarray, "*batch cells"],
        questions: UInt8[np.ndarray, "*batch cells"],
        labels: UInt8[np.ndarray, "*batch cells"],
    ) -> dict[str, Bool[np.ndarray, "*batch"]]:
        """By each of `metrics` whether answers are right."""

    def parse(self, text: str) -> UInt8[np.ndarray, "cells"]:
        """Tokens from one character per cell."""

    def format(self, tokens: UInt8[np.ndarray, "cells"]) -> str:
        """One character per cell."""

    def draw(self, characters: str) -> str:
        """A picture, one line per row, from one character per cell."""

    def random_symmetries(
        self, count: int, group: str, rng: np.random.Generator
    ) -> tuple[Int[np.ndarray, "count cells"], UInt8[np.ndarray, "count tokens"]]:
        """Cell permutations and token relabellings that keep puzzles valid: `tokens[board[cells]]`."""


def cell_name(grid: tuple[int, int], cell: int) -> str:
    """A cell of a grid in words."""
    return f"row {cell // grid[1] + 1}, column {cell % grid[1] + 1}"


def difference(
    task: Task,
    question: UInt8[np.ndarray, "cells"],
    answer: UInt8[np.ndarray, "cells"],
    where: Bool[np.ndarray, "cells"],
) -> str | None:
    """The first of some cells in which an answer is not as its question, in words; None for no such cell."""
    changed = np.flatnonzero((question != answer) & where).tolist()
    if not changed:
        return None
    cell = changed[0]
    was, became = task.format(question)[cell], task.format(answer)[cell]
    return f"{cell_name(task.grid, cell)} is {was!r} in the question and {became!r} in the answer"
