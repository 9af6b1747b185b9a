"""Datasets drawn from the Sudoku-extreme files: small stand-ins of them, and the real ones where there is a mirror."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from cvoting.data.augmentation import augment
from cvoting.data.parsers import read_hugging_face_csv
from cvoting.data.puzzles import DataError
from cvoting.data.sources import FILES, SourceError, SourceFile
from cvoting.data.sudoku_extreme import build
from cvoting.params.datasets import Splits, SudokuExtreme
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

TRAIN_FILE, TEST_FILE = "sudoku_extreme_1k_train", "sudoku_extreme_1k_test_hard"
MIRROR = os.environ.get("CVOTING_MIRROR")
TASK = Sudoku(name="sudoku", box=(2, 2))


def rows(count, name):
    """CSV rows of different boards; the rating is the row's number."""
    answer = np.tile(TASK.parse("1234341221434321"), (count, 1))
    _, answers = augment(TASK, answer, answer, "shuffles", generator("rows", name))
    lines = []
    for i, answer in enumerate(answers):
        question = answer.copy()
        question[generator("blanks", name, counter=i).permutation(16)[:9]] = 0
        lines.append(f"test,{TASK.format(question)},{TASK.format(answer)},{i}\r\n")
    return lines


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A folder of fetched files: 20 training rows; 50 test rows, of which rows 3 and 30 repeat training questions."""
    train, test = rows(20, "train"), rows(50, "test")
    test[3], test[30] = train[5], train[6]
    for key, name, lines in ((TRAIN_FILE, "train", train), (TEST_FILE, "test", test)):
        content = ("source,question,answer,rating\r\n" + "".join(lines)).encode()
        digest = hashlib.sha256(content).hexdigest()
        file = SourceFile(
            path=f"{name}.csv", url="https://example.org", bytes=len(content), sha256=digest, about="a test"
        )
        (tmp_path / file.path).write_bytes(content)
        monkeypatch.setitem(FILES, key, file)
    return tmp_path


def parameters(seed=0, **splits):
    files = {"train_file": TRAIN_FILE, "test_file": TEST_FILE}
    return SudokuExtreme(kind="sudoku_extreme", **files, seed=seed, splits=Splits(**splits))


def test_splits_have_their_sizes_ratings_and_provenance(raw):
    splits = build("extreme", TASK, parameters(seed=4, train=10, validation=7, test=9), raw)
    assert {name: len(puzzles) for name, puzzles in splits.items()} == {"train": 10, "validation": 7, "test": 9}
    for name, key, file in (
        ("train", TRAIN_FILE, "train"),
        ("validation", TEST_FILE, "test"),
        ("test", TEST_FILE, "test"),
    ):
        assert splits[name].origin == "original"
        assert splits[name].source.startswith(f"drawn with seed 4 from {file}.csv (SHA-256 {FILES[key].sha256})")
        whole = read_hugging_face_csv(raw / f"{file}.csv", TASK, "")
        np.testing.assert_array_equal(splits[name].questions, whole.questions[splits[name].ratings])
        np.testing.assert_array_equal(splits[name].answers, whole.answers[splits[name].ratings])


def test_a_split_of_no_puzzles_is_not_made(raw):
    assert list(build("extreme", TASK, parameters(train=3, validation=2), raw)) == ["train", "validation"]


def test_all_training_puzzles_are_the_file_itself(raw):
    train = build("extreme", TASK, parameters(train=20), raw)["train"]
    assert train.ratings.tolist() == list(range(20))


def test_validation_and_test_are_disjoint_and_hold_no_training_question(raw):
    splits = build("extreme", TASK, parameters(train=20, validation=24, test=24), raw)
    hashes = [h for puzzles in splits.values() for h in puzzles.hashes]
    assert len(set(hashes)) == len(hashes) == 68
    assert splits["test"].source.endswith("without 2 questions of the training file")


def test_a_split_does_not_change_with_the_size_of_another_and_smaller_draws_are_part_of_larger_ones(raw):
    small = build("extreme", TASK, parameters(train=5, validation=5, test=5), raw)
    large = build("other name", TASK, parameters(train=8, validation=5, test=20), raw)
    np.testing.assert_array_equal(small["validation"].questions, large["validation"].questions)
    for split in ("train", "test"):
        assert set(small[split].hashes) < set(large[split].hashes)


def test_the_seed_decides_the_draw(raw):
    first, again, other = (build("extreme", TASK, parameters(seed=s, train=10), raw)["train"] for s in (0, 0, 1))
    assert first.hashes == again.hashes
    assert set(first.hashes) != set(other.hashes)


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        (
            {"train": 21},
            r"dataset extreme: 21 training puzzles, expected at most 20 \(drawn with seed 0 from train.csv",
        ),
        ({"validation": 25, "test": 24}, r"49 test and validation puzzles, expected at most 48 .*without 2 questions"),
    ],
)
def test_more_puzzles_than_there_are_is_an_error(raw, splits, message):
    with pytest.raises(DataError, match=message):
        build("extreme", TASK, parameters(**splits), raw)


def test_a_file_that_is_missing_or_changed_is_an_error(raw):
    (raw / "test.csv").write_bytes((raw / "test.csv").read_bytes().replace(b",49\r\n", b",48\r\n"))
    with pytest.raises(SourceError, match=r"test.csv: SHA-256 .* expected"):
        build("extreme", TASK, parameters(train=1), raw)
    (raw / "train.csv").unlink()
    with pytest.raises(SourceError, match=r"train.csv: no such file"):
        build("extreme", TASK, parameters(train=1), raw)


@pytest.mark.skipif(not MIRROR, reason="CVOTING_MIRROR names no mirror")
def test_the_real_files_give_the_papers_splits():
    task = Sudoku(name="sudoku", box=(3, 3))
    source = parameters(train=1_000, validation=500, test=1_000)
    splits = build("extreme", task, source, Path(MIRROR))
    assert [len(puzzles) for puzzles in splits.values()] == [1_000, 500, 1_000]
    assert len({h for puzzles in splits.values() for h in puzzles.hashes}) == 2_500
    assert splits["test"].source.endswith(f"{FILES[TEST_FILE].sha256})")  # no question had to be left out
    # Rating 0 is 14.7 % of the test file; a draw of 500 has a standard deviation of 1.6 %.
    shares = [np.mean(puzzles.ratings == 0) for puzzles in splits.values()]
    np.testing.assert_allclose(shares, 0.147, atol=4 * 0.016)
