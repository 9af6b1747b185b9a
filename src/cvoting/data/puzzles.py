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

#: "original": the published puzzles themselves; "generated": ours, made by a rule of the same kind.
Origin = Literal["original", "generated"]


class DataError(CvotingError, ValueError):
    """Puzzles that cannot be read, or cannot be had as they were asked for."""


@dataclass(frozen=True, eq=False)
class Puzzles:
    """Questions and answers as tokens of their task, with their provenance.

    Attributes:
        questions: one row per puzzle.
        answers: the labels, as tokens.
        origin: whether the puzzles are published ones or generated.
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
                ratings = file.get("ratings")
                return Puzzles(file["questions"], file["answers"], about["origin"], about["source"], ratings)
        except (ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(f"{path}: not a readable file of puzzles ({error}): delete it and make it again") from error
