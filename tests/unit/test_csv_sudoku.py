"""Datasets of a user's own CSV file."""

from itertools import chain

import numpy as np
import pytest

from cvoting.data.augmentation import augment
from cvoting.data.csv_sudoku import build
from cvoting.data.puzzles import DataError
from cvoting.data.source_file import sha256_of
from cvoting.params.core import build as build_params
from cvoting.params.datasets import CsvSudoku, DatasetParams, Splits
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
ROWS = 12


@pytest.fixture
def path(tmp_path):
    """A file of 12 boards, rated by their number."""
    answer = np.tile(TASK.parse("1234341221434321"), (3 * ROWS, 1))
    _, answers = augment(TASK, answer, answer, "shuffles", generator("own"))
    answers = np.unique(answers, axis=0)[:ROWS]
    lines = [f"{TASK.format(a)[:12]}....,{TASK.format(a)},{i}\n" for i, a in enumerate(answers)]
    (tmp_path / "own.csv").write_text("question,answer,rating\n" + "".join(lines))
    return tmp_path / "own.csv"


def parameters(path, seed=0, **splits):
    return CsvSudoku(kind="csv_sudoku", path=str(path), seed=seed, splits=Splits(**splits))


def test_splits_are_disjoint_draws_in_the_order_of_the_file(path, tmp_path):
    splits = build("mine", TASK, parameters(path, train=5, validation=3, test=4), tmp_path)
    ratings = {name: puzzles.ratings.tolist() for name, puzzles in splits.items()}
    assert {name: len(values) for name, values in ratings.items()} == {"train": 5, "validation": 3, "test": 4}
    assert sorted(chain(*ratings.values())) == list(range(ROWS))
    assert all(values == sorted(values) for values in ratings.values())


def test_test_puzzles_do_not_change_with_the_other_splits(path, tmp_path):
    first = build("mine", TASK, parameters(path, train=5, validation=3, test=4), tmp_path)["test"]
    second = build("other", TASK, parameters(path, test=4), tmp_path)["test"]
    assert first.hashes == second.hashes
    assert build("mine", TASK, parameters(path, seed=1, test=4), tmp_path)["test"].hashes != first.hashes


def test_all_puzzles_may_be_test_puzzles(path, tmp_path):
    test = build("mine", TASK, parameters(path, test=ROWS), tmp_path)["test"]
    assert test.ratings.tolist() == list(range(ROWS))


def test_the_puzzles_are_the_users_own_and_name_the_file(path, tmp_path):
    test = build("mine", TASK, parameters(path, test=1), tmp_path)["test"]
    assert test.origin == "own"
    assert test.source == f"drawn with seed 0 from {path} (SHA-256 {sha256_of(path)})"


def test_more_puzzles_than_there_are_is_an_error(path, tmp_path):
    with pytest.raises(DataError, match=r"dataset mine: 13 puzzles in all, expected at most 12, those of .*own.csv"):
        build("mine", TASK, parameters(path, train=9, test=4), tmp_path)


def test_the_workflow_is_told_of_the_file():
    source = {"kind": "csv_sudoku", "path": "own.csv", "seed": 0, "splits": {"test": 1}}
    params = build_params(DatasetParams, {"task": {"name": "sudoku", "box": [2, 3]}, "source": source})
    assert (params.local_files, params.source.files) == (("own.csv",), ())
