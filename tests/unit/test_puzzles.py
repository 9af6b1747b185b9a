"""The puzzle file: what is saved is read back, and the same puzzles are the same bytes."""

import hashlib
import time

import numpy as np
import pytest

from cvoting.data.puzzles import DataError, Puzzles
from cvoting.tasks.sudoku import Sudoku


@pytest.fixture
def puzzles():
    questions = np.arange(48, dtype=np.uint8).reshape(3, 16) % 5
    return Puzzles(questions, questions + 1, "original", "from nowhere, seed 0", ratings=np.array([4, 0, 99]))


def test_what_is_saved_is_read_back(puzzles, tmp_path):
    puzzles.save(tmp_path / "set" / "test.npz")
    back = Puzzles.load(tmp_path / "set" / "test.npz")
    for name in ("questions", "answers", "ratings"):
        np.testing.assert_array_equal(getattr(back, name), getattr(puzzles, name))
        assert getattr(back, name).dtype == getattr(puzzles, name).dtype
    assert (back.origin, back.source) == ("original", "from nowhere, seed 0")


def test_puzzles_without_ratings_have_none_afterwards(puzzles, tmp_path):
    Puzzles(puzzles.questions, puzzles.answers, "generated", "").save(tmp_path / "test.npz")
    assert Puzzles.load(tmp_path / "test.npz").ratings is None


def test_the_same_puzzles_give_the_same_bytes_at_any_time(puzzles, tmp_path, monkeypatch):
    puzzles.save(tmp_path / "now.npz")
    later = time.time() + 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    puzzles.save(tmp_path / "tomorrow.npz")
    assert (tmp_path / "now.npz").read_bytes() == (tmp_path / "tomorrow.npz").read_bytes()


def test_rows_are_chosen_with_all_that_belongs_to_them(puzzles):
    chosen = puzzles[np.array([2, 0])]
    assert len(chosen) == 2
    np.testing.assert_array_equal(chosen.answers, puzzles.answers[[2, 0]])
    assert chosen.ratings.tolist() == [99, 4]
    assert (chosen.origin, chosen.source) == (puzzles.origin, puzzles.source)
    assert len(puzzles[1:]) == 2


def test_the_hash_is_of_the_question_alone(puzzles):
    assert puzzles.hashes[1] == hashlib.blake2b(bytes(puzzles.questions[1].tolist()), digest_size=8).hexdigest()
    other = Puzzles(puzzles.questions[::-1], puzzles.answers, "generated", "other")
    assert other.hashes == puzzles.hashes[::-1]
    assert len(set(puzzles.hashes)) == 3


def test_hashes_do_not_depend_on_how_the_array_lies_in_memory(puzzles):
    strided = Puzzles(np.asfortranarray(puzzles.questions), puzzles.answers, "original", "")
    assert strided.hashes == puzzles.hashes


def damage(name, content):
    return pytest.param(content, id=name)


@pytest.mark.parametrize(
    "damage",
    [
        damage("empty", lambda whole: b""),
        damage("truncated", lambda whole: whole[: len(whole) // 2]),
        damage("text", lambda whole: b"questions,answers\n"),
        damage("flipped", lambda whole: whole[:60] + bytes(b ^ 0xFF for b in whole[60:90]) + whole[90:]),
    ],
)
def test_a_damaged_file_is_named(puzzles, tmp_path, damage):
    path = tmp_path / "test.npz"
    puzzles.save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match=r"test.npz: not a readable file of puzzles .*: delete it and make it again"):
        Puzzles.load(path)


def test_an_archive_of_something_else_is_named(tmp_path):
    np.savez(tmp_path / "test.npz", weights=np.zeros(3))
    with pytest.raises(DataError, match="not a readable file of puzzles"):
        Puzzles.load(tmp_path / "test.npz")


@pytest.mark.parametrize(
    ("questions", "answers"),
    [
        (np.zeros((2, 4), np.uint8), np.zeros((1, 4), np.uint8)),
        (np.zeros(4, np.uint8), np.zeros(4, np.uint8)),
        (np.zeros((1, 4)), np.zeros((1, 4))),
    ],
    ids=["unequal", "one axis", "floats"],
)
def test_arrays_of_another_form_are_named(tmp_path, questions, answers):
    about = np.array('{"origin": "original", "source": "s"}')
    np.savez(tmp_path / "test.npz", questions=questions, answers=answers, about=about)
    with pytest.raises(DataError, match=r"test.npz: questions .* expected uint8\[puzzles, cells\] twice"):
        Puzzles.load(tmp_path / "test.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q, a: (q[:0], a[:0]), "file: no puzzles, expected at least one"),
        (lambda q, a: (q[:, :9], a[:, :9]), "file: puzzles of 9 cells, expected the 16 of Sudoku"),
        (lambda q, a: (q + 5 * (np.arange(3) == 1)[:, None], a), "file: puzzle 2: a token that Sudoku"),
        (lambda q, a: (q, a - (np.arange(3) == 2)[:, None]), "file: puzzle 3: a token that Sudoku"),
        (lambda q, a: (a, a), "file: puzzle 1: no position to predict"),
    ],
    ids=["none", "size", "question", "answer", "full"],
)
def test_puzzles_of_another_task_are_refused_with_the_number_of_the_first(change, message):
    answers = np.tile(np.arange(16, dtype=np.uint8) % 4 + 1, (3, 1))
    answers[:, 0] = 1
    questions = np.where(np.arange(16) < 8, 0, answers)
    task = Sudoku(name="sudoku", box=(2, 2))
    Puzzles(questions, answers, "original", "s").check(task, "file")
    changed = (np.asarray(array, np.uint8) for array in change(questions, answers))
    with pytest.raises(DataError, match=message):
        Puzzles(*changed, "original", "s").check(task, "file")
