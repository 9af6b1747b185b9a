"""Datasets drawn from the Sudoku-extreme files: small stand-ins of them, and the real ones where there is a mirror."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from cvoting.data import sudoku_extreme
from cvoting.data.augmentation import augment
from cvoting.data.parsers import read_hugging_face_csv
from cvoting.data.puzzles import DataError
from cvoting.data.source_file import SourceError, SourceFile, sha256_of
from cvoting.data.sources import FILES
from cvoting.data.sudoku_extreme import build
from cvoting.params import sudoku_extreme as params
from cvoting.params.core import ParameterError
from cvoting.params.core import build as build_params
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
        page = "https://example.org"
        file = SourceFile(
            name=key, path=f"{name}.csv", page=page, bytes=len(content), sha256=digest, about="a test", reexport=True
        )
        (tmp_path / file.path).write_bytes(content)
        monkeypatch.setitem(FILES, key, file)
    return tmp_path


@pytest.fixture
def small_named_sets(monkeypatch):
    """Named test sets of a size that the stand-ins have: the first 8 rows, and all 50."""
    monkeypatch.setattr(sudoku_extreme, "rows_of", lambda name, total: np.arange({"rows0-1000": 8, "all": total}[name]))
    monkeypatch.setattr(params, "NAMED_TEST_SETS", {"rows0-1000": 8})
    monkeypatch.setattr(params, "FILE_ROWS", {TRAIN_FILE: 20, TEST_FILE: 50})


def parameters(seed=0, test_set="draw", checksums=None, **splits):
    files = {"train_file": TRAIN_FILE, "test_file": TEST_FILE}
    options = {"test_set": test_set, "checksums": checksums, "seed": seed}
    return SudokuExtreme(kind="sudoku_extreme", **files, **options, splits=Splits(**splits))


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
            r"dataset extreme: 21 training puzzles, expected at most 20 \(train.csv \(SHA-256 ",
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


@pytest.mark.usefixtures("small_named_sets")
def test_a_named_set_keeps_its_rows_and_counts_those_of_the_training_file(raw):
    splits = build("extreme", TASK, parameters(test_set="rows0-1000", train=20, validation=40, test=8), raw)
    whole = read_hugging_face_csv(raw / "test.csv", TASK, "")
    np.testing.assert_array_equal(splits["test"].questions, whole.questions[:8])
    citation = FILES[TEST_FILE].citation
    assert splits["test"].source == (f"test set rows0-1000 of {citation}, 1 of its questions are in the training file")
    assert splits["validation"].source == (
        f"drawn with seed 0 from {citation}, without the test set rows0-1000 and questions of the training file"
    )
    # 50 rows but for 8 of the set and row 30, which repeats a training question: 41.
    assert not set(splits["validation"].hashes) & {*splits["test"].hashes, *splits["train"].hashes}
    with pytest.raises(DataError, match="42 validation puzzles, expected at most 41"):
        build("extreme", TASK, parameters(test_set="rows0-1000", validation=42, test=8), raw)


@pytest.mark.usefixtures("small_named_sets")
def test_the_set_of_all_rows_is_the_file(raw):
    test = build("extreme", TASK, parameters(test_set="all", test=50), raw)["test"]
    assert test.hashes == read_hugging_face_csv(raw / "test.csv", TASK, "").hashes
    assert "2 of its questions are in the training file" in test.source


def test_an_accepted_re_export_takes_the_place_of_ours_and_every_product_names_it(raw):
    (raw / "train.csv").write_text("source,question,answer,rating\r\n" + "".join(rows(30, "another export")))
    with pytest.raises(SourceError, match=r"`checksums: \{sudoku_extreme_1k_train: [0-9a-f]{64}\}`"):
        build("extreme", TASK, parameters(train=30), raw)
    found = sha256_of(raw / "train.csv")
    train = build("extreme", TASK, parameters(checksums={TRAIN_FILE: found}, train=30), raw)["train"]
    assert len(train) == 30
    assert f"SHA-256 {found}, accepted by a parameter in place of {FILES[TRAIN_FILE].sha256}" in train.source


def test_a_set_of_all_rows_of_an_accepted_file_must_have_its_size(raw):
    checksums = {TEST_FILE: sha256_of(raw / "test.csv")}
    with pytest.raises(DataError, match=r"dataset extreme: splits.test = 49, expected 50 \(test set all of test.csv"):
        build("extreme", TASK, parameters(test_set="all", checksums=checksums, test=49), raw)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test_set": "eqr2048"}, "test_set = 'eqr2048': expected test_file = 'sudoku_extreme_test'"),
        (
            {"test_set": "rows0-1000", "splits": {"test": 999}},
            "splits.test = 999: expected 1000, the puzzles of test_set",
        ),
        (
            {"test_set": "all", "splits": {"test": 1}},
            "splits.test = 1: expected 20000, the puzzles of test_set = 'all'",
        ),
        ({"test_set": "hard"}, "test_set = 'hard': expected one of 'draw', 'rows0-1000', 'eqr2048', 'qrr42279', 'all'"),
        (
            {"splits": {"train": 1001}},
            "splits: train = 1001: expected at most 1000, the puzzles of sudoku_extreme_1k_train",
        ),
        ({"splits": {"test": 20_000, "validation": 1}}, "test \\+ validation = 20001: expected at most 20000"),
        (
            {"checksums": {"sudoku_extreme_train": "0" * 64}},
            "checksums.sudoku_extreme_train: expected one of sudoku_ex",
        ),
        ({"checksums": {TRAIN_FILE: "0" * 63}}, "checksums.sudoku_extreme_1k_train = '0+': expected the 64 hex digits"),
    ],
)
def test_impossible_parameters_are_refused_early(changes, message):
    block = {"kind": "sudoku_extreme", "train_file": TRAIN_FILE, "test_file": TEST_FILE, "seed": 0, "splits": {}}
    with pytest.raises(ParameterError, match=message):
        build_params(SudokuExtreme, block | changes)


def test_sizes_of_an_accepted_file_are_not_known_early():
    files = {"train_file": TRAIN_FILE, "test_file": TEST_FILE, "seed": 0}
    splits = {"train": 1_001, "test": 1}
    block = {"kind": "sudoku_extreme", **files, "test_set": "all", "splits": splits}
    accepted = {TRAIN_FILE: "0" * 64, TEST_FILE: "1" * 64}
    assert build_params(SudokuExtreme, {**block, "checksums": accepted}).checksums == accepted


@pytest.mark.skipif(not MIRROR, reason="CVOTING_MIRROR names no mirror")
def test_the_first_rows_of_the_real_file_are_a_test_set():
    source = parameters(test_set="rows0-1000", train=1_000, validation=1_000, test=1_000)
    splits = build("extreme", Sudoku(name="sudoku", box=(3, 3)), source, Path(MIRROR))
    assert splits["test"].source == f"test set rows0-1000 of {FILES[TEST_FILE].citation}"
    assert len({h for puzzles in splits.values() for h in puzzles.hashes}) == 3_000


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
