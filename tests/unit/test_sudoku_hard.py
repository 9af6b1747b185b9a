"""Sudoku-hard by the RRN rule; a stand-in of Royle's list, and the real one where there is a mirror."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from cvoting.data import parsers
from cvoting.data.puzzles import DataError
from cvoting.data.source_file import SourceError, SourceFile
from cvoting.data.sources import FILES
from cvoting.data.sudoku_generator import count_solutions, generate
from cvoting.data.sudoku_hard import add_givens, build
from cvoting.params.core import ParameterError
from cvoting.params.core import build as build_params
from cvoting.params.datasets import SudokuHard
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

MIRROR = os.environ.get("CVOTING_MIRROR")
TASK = Sudoku(name="sudoku", box=(3, 3))
CLUES = 30


def parameters(givens=(30, 33), boards_per_level=4, seed=0):
    return SudokuHard(kind="sudoku_hard", givens=givens, boards_per_level=boards_per_level, seed=seed)


@pytest.fixture
def boards():
    return [generate(TASK, CLUES, generator("list", counter=i)) for i in range(20)]


@pytest.fixture
def write_list(tmp_path, monkeypatch):
    """Puts a list of boards in the place of Royle's, and its number of clues in the place of 17."""

    def write(questions):
        content = "".join(TASK.format(q).replace(".", "0") + "\n" for q in questions).encode()
        digest = hashlib.sha256(content).hexdigest()
        about = {"name": "royle_17_clues", "page": "https://example.org", "about": "a test"}
        file = SourceFile(path="list.txt", bytes=len(content), sha256=digest, **about)
        (tmp_path / file.path).write_bytes(content)
        monkeypatch.setitem(FILES, "royle_17_clues", file)
        monkeypatch.setattr(parsers, "ROYLE_CLUES", CLUES)
        return tmp_path

    return write


@pytest.fixture
def raw(write_list, boards):
    return write_list([question for question, _ in boards])


def canonical(board):
    """A board with its digits renamed in the order of their appearance."""
    names = {0: 0}
    return tuple(names.setdefault(int(d), len(names)) for d in board)


def test_further_givens_come_from_the_answer():
    small = Sudoku(name="sudoku", box=(2, 2))
    question, answer = small.parse("1..4..........21"), small.parse("1234341243122143"[:14] + "43")
    more = add_givens(question, answer, 7, np.random.default_rng(0))
    assert np.sum(more != 0) == 7
    assert (more[question != 0] == question[question != 0]).all()
    added = (more != 0) & (question == 0)
    assert (more[added] == answer[added]).all()
    np.testing.assert_array_equal(add_givens(question, answer, 4, np.random.default_rng(0)), question)


def test_every_level_has_its_boards_each_from_a_puzzle_of_its_own(raw, boards):
    puzzles = build("hard", TASK, parameters(), raw)["test"]
    assert np.sum(puzzles.questions != 0, axis=1).tolist() == [30, 31, 32, 33] * 4
    assert TASK.valid(puzzles.answers).all()
    assert TASK.answers_question(puzzles.answers, puzzles.questions).all()
    assert all(count_solutions(TASK, question) == 1 for question in puzzles.questions)
    known = {canonical(answer): question for question, answer in boards}
    bases = [canonical(answer) for answer in puzzles.answers]
    assert len(set(bases)) == 16
    for base, question, answer in zip(bases, puzzles.questions, puzzles.answers, strict=True):
        # Up to relabelling, the answer is that of a puzzle of the list, whose givens are all still given.
        assert (question[known[base] != 0] == answer[known[base] != 0]).all()


def test_digits_are_relabelled(raw, boards):
    listed = {answer.tobytes() for _, answer in boards}
    assert not listed & {a.tobytes() for a in build("hard", TASK, parameters(), raw)["test"].answers}


def test_the_boards_say_that_they_are_generated_and_from_what(raw):
    puzzles = build("hard", TASK, parameters(seed=3), raw)["test"]
    assert puzzles.origin == "generated"
    assert "not its own boards" in puzzles.source
    assert "30 to 33 givens, seed 3" in puzzles.source
    assert FILES["royle_17_clues"].sha256 in puzzles.source


def test_a_smaller_set_is_the_beginning_of_a_larger_one_whatever_its_name(raw):
    small = build("a", TASK, parameters(boards_per_level=2), raw)["test"]
    large = build("b", TASK, parameters(boards_per_level=5), raw)["test"]
    np.testing.assert_array_equal(small.questions, large.questions[:8])
    other = build("a", TASK, parameters(boards_per_level=2, seed=1), raw)["test"]
    assert not set(small.hashes) & set(other.hashes)


def test_more_boards_than_there_are_puzzles_is_an_error(raw):
    with pytest.raises(DataError, match=r"dataset hard: 24 boards, expected at most 20, the puzzles of list.txt"):
        build("hard", TASK, parameters(boards_per_level=6), raw)


def test_a_listed_board_with_several_solutions_is_an_error(write_list, boards):
    ambiguous = boards[0][1].copy()
    ambiguous[CLUES:] = 0
    with pytest.raises(DataError, match="several solutions, expected one"):
        build("hard", TASK, parameters(givens=(30, 30), boards_per_level=1), write_list([ambiguous]))


def test_a_missing_list_is_an_error(tmp_path):
    with pytest.raises(SourceError, match=r"sudoku17.txt: no such file, expected Gordon Royle's list"):
        build("hard", TASK, parameters(), tmp_path)


@pytest.mark.parametrize("givens", [[34, 17], [17, 81], [16, 20]])
def test_impossible_numbers_of_givens_are_refused(givens):
    with pytest.raises(ParameterError, match="givens"):
        build_params(SudokuHard, {"kind": "sudoku_hard", "givens": givens, "boards_per_level": 1, "seed": 0})


@pytest.mark.skipif(not MIRROR, reason="CVOTING_MIRROR names no mirror")
def test_the_real_list_gives_boards_of_every_level():
    puzzles = build("hard", TASK, parameters(givens=(17, 34), boards_per_level=20), Path(MIRROR))["test"]
    assert np.bincount(np.sum(puzzles.questions != 0, axis=1))[17:].tolist() == [20] * 18
    assert all(count_solutions(TASK, question) == 1 for question in puzzles.questions)
    assert len(set(puzzles.hashes)) == 360
