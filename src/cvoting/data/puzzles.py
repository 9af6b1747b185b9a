"""The hand-over between data and everything after: a set of puzzles with their answers and where they come from."""

import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import UInt8

from cvoting.atomic import atomic_path
from cvoting.errors import CvotingError
from cvoting.tasks.base import Task

#: "original": the published puzzles themselves; "generated": ours, made by a rule of the same kind; "own": a user's.
Origin = Literal["original", "generated", "own"]


class DataError(CvotingError, ValueError):
    """Puzzles that cannot be read, or cannot be had as they were asked for."""


@dataclass(frozen=True, eq=False)
class Puzzles:
    """Questions and answers as tokens of their task, with their provenance.

    Attributes:
        questions: one row per puzzle.
        answers: the labels, as tokens.
        origin: whether the puzzles are published ones, generated, or a user's own.
        source: a sentence that says what they are: the file and its checksum, or the generator, its version and seed.
        ratings: the difficulty the source states, where it does (backtracks for Sudoku-extreme, moves for mazes).
    """

    questions: UInt8[np.ndarray, "puzzles cells"]
    answers: UInt8[np.ndarray, "puzzles cells"]
    origin: Origin
    source: str
    ratings: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, index: slice | np.ndarray) -> "Puzzles":
        ratings = None if self.ratings is None else self.ratings[index]
        return Puzzles(self.questions[index], self.answers[index], self.origin, self.source, ratings)

    @cached_property
    def hashes(self) -> list[str]:
        """The identity of each puzzle: 16 hex digits of a hash of its question."""
        return [hashlib.blake2b(q.tobytes(), digest_size=8).hexdigest() for q in self.questions]

    def save(self, path: str | Path) -> None:
        """Write to a `.npz` file; the same puzzles give the same bytes."""
        about = json.dumps({"origin": self.origin, "source": self.source}, sort_keys=True)
        arrays: dict[str, Any] = {"questions": self.questions, "answers": self.answers, "about": np.array(about)}
        if self.ratings is not None:
            arrays["ratings"] = self.ratings
        with atomic_path(path) as temporary, open(temporary, "wb") as file:
            np.savez_compressed(file, **arrays)

    @staticmethod
    def load(path: str | Path) -> "Puzzles":
        """Read what `save` wrote.

        Raises:
            DataError: when the file is damaged or another.
        """
        try:
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                origin, source = about["origin"], about["source"]
                questions, answers, ratings = file["questions"], file["answers"], file.get("ratings")
        except FileNotFoundError as error:
            raise DataError(f"{path}: no such file of puzzles: build the dataset first") from error
        except (ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(
                f"{path}: not a readable file of puzzles (damaged or of another kind): delete it and make it again"
            ) from error
        alike = questions.shape == answers.shape and questions.dtype == answers.dtype == np.uint8
        if not alike or questions.ndim != 2 or len(ratings if ratings is not None else questions) != len(questions):
            raise DataError(
                f"{path}: questions {questions.dtype}{list(questions.shape)} and answers "
                f"{answers.dtype}{list(answers.shape)}, expected uint8[puzzles, cells] twice: make it again"
            )
        return Puzzles(questions, answers, origin, source, ratings)

    def check(self, task: Task, path: str | Path) -> None:
        """Refuse puzzles that are not of a task, or ask for nothing.

        Args:
            task: the task they are to be of.
            path: their file, for the message.

        Raises:
            DataError: when there is none, or the first that is not of the task, by its number from 1.
        """
        if not len(self):
            raise DataError(f"{path}: no puzzles, expected at least one: make it again with a larger split")
        cells = self.questions.shape[1]
        if cells != task.cells:
            raise DataError(f"{path}: puzzles of {cells} cells, expected the {task.cells} of {task}")
        last = task.first_answer_token + task.classes - 1
        tokens = (self.questions < task.vocabulary) & (self.answers >= task.first_answer_token) & (self.answers <= last)
        checks = {
            f"a token that {task} does not have": tokens.all(axis=1),
            "no position to predict": task.positions_to_predict(self.questions).any(axis=1),
        }
        for problem, right in checks.items():
            if not right.all():
                raise DataError(f"{path}: puzzle {int(np.argmin(right)) + 1}: {problem}: make it again for this task")
