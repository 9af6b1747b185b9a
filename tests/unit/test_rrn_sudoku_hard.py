"""Datasets of RRN's own boards: stand-ins of the archive."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from cvoting.data.augmentation import augment
from cvoting.data.puzzles import DataError
from cvoting.data.rrn_sudoku_hard import build
from cvoting.data.source_file import sha256_of
from cvoting.data.sources import FILES
from cvoting.params.core import ParameterError
from cvoting.params.datasets import RrnSudokuHard, Splits
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
ROWS = {"train.csv": 20, "valid.csv": 6, "test.csv": 5}


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A folder of fetched files with an archive of some boards; question i of a member has i % 8 blanks."""
    path = tmp_path / FILES["rrn_sudoku_hard"].path
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, count in ROWS.items():
            answer = np.tile(TASK.parse("1234341221434321"), (count, 1))
            _, answers = augment(TASK, answer, answer, "shuffles", generator("rrn stand-in", member))
            texts = ["".join(map(str, answer)) for answer in answers]
            lines = [f"{'0' * (i % 8)}{text[i % 8 :]},{text}\n" for i, text in enumerate(texts)]
            archive.writestr(f"sudoku-hard/{member}", "".join(lines))
            archive.writestr(f"__MACOSX/sudoku-hard/._{member}", b"resource fork")
    file = replace(FILES["rrn_sudoku_hard"], sha256=sha256_of(path))
    monkeypatch.setitem(FILES, "rrn_sudoku_hard", file)
    return tmp_path


def parameters(seed=0, **splits):
    return RrnSudokuHard(kind="rrn_sudoku_hard", seed=seed, splits=Splits(**splits))


def test_each_split_comes_from_its_own_file(raw):
    splits = build("hard", TASK, parameters(train=20, validation=6, test=5), raw)
    assert {name: len(puzzles) for name, puzzles in splits.items()} == {"train": 20, "validation": 6, "test": 5}
    assert (splits["test"].questions == 0).sum(axis=1).tolist() == list(range(5))
    checksum = FILES["rrn_sudoku_hard"].sha256
    assert splits["validation"].source == f"all of valid.csv in rrn/sudoku-hard.zip (SHA-256 {checksum})"
    assert splits["test"].origin == "original"


def test_fewer_boards_than_there_are_is_a_seeded_draw_in_the_order_of_the_file(raw):
    whole = build("hard", TASK, parameters(train=20), raw)["train"]
    small, large = (build("hard", TASK, parameters(train=n), raw)["train"] for n in (5, 9))
    assert set(small.hashes) < set(large.hashes) < set(whole.hashes)
    assert [h for h in whole.hashes if h in large.hashes] == large.hashes
    assert small.source.startswith("drawn with seed 0 from train.csv in rrn/sudoku-hard.zip")
    assert build("hard", TASK, parameters(seed=1, train=5), raw)["train"].hashes != small.hashes


def test_more_boards_than_there_are_is_an_error(raw):
    message = r"dataset hard: 6 test puzzles, expected at most 5 \(test.csv in rrn/sudoku-hard.zip"
    with pytest.raises(DataError, match=message):
        build("hard", TASK, parameters(test=6), raw)


def test_a_wrong_row_is_named_with_archive_member_and_line(raw, monkeypatch):
    path = raw / FILES["rrn_sudoku_hard"].path
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("test.csv", f"{'0' * 16},1234341221434321\n{'0' * 16}\n")
    monkeypatch.setitem(FILES, "rrn_sudoku_hard", replace(FILES["rrn_sudoku_hard"], sha256=sha256_of(path)))
    with pytest.raises(DataError, match=r"sudoku-hard.zip, test.csv, line 2: 1 fields, expected 2"):
        build("hard", TASK, parameters(test=1), raw)
    with pytest.raises(
        DataError, match=r"sudoku-hard.zip: 0 members train.csv, expected one; the archive holds test.csv"
    ):
        build("hard", TASK, parameters(train=1), raw)


@pytest.mark.parametrize("splits", [{"train": 180_001}, {"validation": 18_001}, {"test": 18_001}])
def test_impossible_splits_are_refused_early(splits):
    [(name, count)] = splits.items()
    with pytest.raises(ParameterError, match=f"splits.{name} = {count}: expected at most"):
        parameters(**splits)
