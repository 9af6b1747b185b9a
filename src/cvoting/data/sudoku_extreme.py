"""Datasets of the published Sudoku-extreme files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from cvoting.data.named_test_sets import rows_of
from cvoting.data.parsers import read_hugging_face_csv
from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.sources import source_file, verified
from cvoting.params.datasets import SudokuExtreme
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku


def build(name: str, task: Sudoku, source: SudokuExtreme, raw: Path) -> dict[str, Puzzles]:
    """Training puzzles drawn from the training file, test and validation puzzles from the test file.

    Test puzzles are a seeded draw or a named set.  Drawn ones come from the front of a random order of the test file
    and validation puzzles from its end: neither changes with the number of the other, and a smaller draw is part of a
    larger one.  Every split is in the order of its file.  Rows of the test file whose question is in the training file
    are left out of every draw; the 1k files share none.  A named set is as it is: it says how many such rows it has,
    and validation puzzles are drawn from what it leaves.

    Args:
        name: the dataset's name, for errors; two datasets of the same files and seed draw alike.
        task: reads the boards.
        source: files, test set, seed and splits.
        raw: folder of fetched files.

    Raises:
        SourceError: when a file is missing or another.
        DataError: when a file is damaged, or holds fewer puzzles than asked for.
    """
    asked, seed = source.splits, source.seed
    train, test = (_read(task, file, source, raw) for file in source.files)
    known = np.isin(_identities(test), _identities(train))
    _check(name, "training", asked.train, train)
    train_order = generator("sudoku_extreme draw", source.train_file, seed).permutation(len(train))
    drawn = {"train": _drawn(train[np.sort(train_order[: asked.train])], seed)}
    if source.test_set == "draw":
        rest = _without(test, known, f"without {known.sum()} questions of the training file")
        _check(name, "test and validation", asked.test + asked.validation, rest)
        test_order = generator("sudoku_extreme draw", source.test_file, seed).permutation(len(rest))
        drawn["test"] = _drawn(rest[np.sort(test_order[: asked.test])], seed)
    else:
        named, rest = _named(test, known, source.test_set)
        _check(name, "validation", asked.validation, rest)
        if asked.test != len(named):
            raise DataError(f"dataset {name}: splits.test = {asked.test}, expected {len(named)} ({named.source})")
        test_order = generator("sudoku_extreme draw", source.test_file, seed).permutation(len(rest))
        drawn["test"] = named
    drawn["validation"] = _drawn(rest[np.sort(test_order[len(rest) - asked.validation :])], seed)
    return {split: drawn[split] for split in asked.names}


def _read(task: Sudoku, name: str, source: SudokuExtreme, raw: Path) -> Puzzles:
    """All puzzles of a file."""
    file = source_file(name).accepting((source.checksums or {}).get(name))
    return read_hugging_face_csv(verified(file, raw), task, file.citation)


def _named(test: Puzzles, known: Bool[np.ndarray, "puzzles"], test_set: str) -> tuple[Puzzles, Puzzles]:
    """A named test set, and what validation puzzles are drawn from."""
    rows = rows_of(test_set, len(test))
    named = replace(test[rows], source=f"test set {test_set} of {test.source}")
    if count := known[rows].sum():
        named = replace(named, source=f"{named.source}, {count} of its questions are in the training file")
    taken = np.isin(_identities(test), _identities(named))
    return named, _without(test, known | taken, f"without the test set {test_set} and questions of the training file")


def _without(puzzles: Puzzles, excluded: Bool[np.ndarray, "puzzles"], note: str) -> Puzzles:
    """The puzzles that are not excluded; where some are, they say so."""
    if not excluded.any():
        return puzzles
    return replace(puzzles[~excluded], source=f"{puzzles.source}, {note}")


def _drawn(puzzles: Puzzles, seed: int) -> Puzzles:
    return replace(puzzles, source=f"drawn with seed {seed} from {puzzles.source}")


def _identities(puzzles: Puzzles) -> np.ndarray:
    return np.array(puzzles.hashes, dtype="S16")


def _check(name: str, what: str, count: int, puzzles: Puzzles) -> None:
    """Refuse to draw more puzzles than there are."""
    if count > len(puzzles):
        raise DataError(
            f"dataset {name}: {count:,} {what} puzzles, expected at most {len(puzzles):,} ({puzzles.source}): "
            "ask for fewer in `splits`"
        )
