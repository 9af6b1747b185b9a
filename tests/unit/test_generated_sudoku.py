"""Generated datasets, and the generator and solver beneath them."""

import hashlib
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from cvoting.data import generated_sudoku, sudoku_generator, sudoku_search
from cvoting.data.generated_sudoku import build
from cvoting.data.puzzles import DataError
from cvoting.data.sudoku_generator import count_solutions, generate, solve
from cvoting.params.datasets import GeneratedSudoku, Splits
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

FOUR = Sudoku(name="sudoku", box=(2, 2))
SIX = Sudoku(name="sudoku", box=(2, 3))
NINE = Sudoku(name="sudoku", box=(3, 3))
RAW = Path("unused")


def parameters(givens, seed=0, **splits):
    return GeneratedSudoku(kind="generated_sudoku", givens=givens, seed=seed, splits=Splits(**splits))


def givens_of(puzzles):
    return np.sum(puzzles.questions != 0, axis=1)


def test_solutions_are_counted_by_hand():
    assert count_solutions(FOUR, FOUR.parse("1234341221434321")) == 1
    # Under 12|34, 34|12 the third row starts with 2 or 4, then 1 or 3; its other half and the fourth row follow.
    assert count_solutions(FOUR, FOUR.parse("1234341........."), limit=100) == 4
    # The last cell of the first row can only be 4, and its column holds one.
    assert count_solutions(FOUR, FOUR.parse("123........4...."), limit=100) == 0
    assert count_solutions(FOUR, FOUR.parse("11.............."), limit=100) == 0


def test_an_empty_board_has_every_solution_there_is():
    # 288 boards of 4x4 cells, 2 of 2x2 cells in boxes of one row, 12 = 3! 2! Latin squares of order 3.
    assert count_solutions(FOUR, np.zeros(16, np.uint8), limit=1000) == 288
    assert count_solutions(Sudoku(name="sudoku", box=(1, 2)), np.zeros(4, np.uint8), limit=1000) == 2
    assert count_solutions(Sudoku(name="sudoku", box=(1, 3)), np.zeros(9, np.uint8), limit=1000) == 12


def test_counting_stops_at_the_limit():
    assert [count_solutions(FOUR, np.zeros(16, np.uint8), limit) for limit in (1, 2, 287)] == [1, 2, 287]


def test_a_board_is_solved_without_changing_the_question():
    question = FOUR.parse("1...34122143432.")
    assert FOUR.format(solve(FOUR, question)) == "1234341221434321"
    assert FOUR.format(question) == "1...34122143432."


@pytest.mark.parametrize(
    ("board", "message"), [("12..............", "several solutions"), ("11" + "." * 14, "no solution")]
)
def test_a_board_without_exactly_one_solution_is_not_solved(board, message):
    with pytest.raises(DataError, match=rf"{message}, expected one"):
        solve(FOUR, FOUR.parse(board))


@pytest.mark.parametrize("board", [np.zeros(15, np.uint8), np.full(16, 5, np.uint8)])
def test_what_is_no_board_is_refused_before_it_reaches_compiled_code(board):
    with pytest.raises(ValueError, match="expected 16 cells from 0 to 4"):
        count_solutions(FOUR, board)


@pytest.mark.parametrize(
    ("box", "givens"), [((1, 2), 1), ((2, 2), 5), ((2, 3), 12), ((3, 2), 12), ((3, 3), 28), ((3, 4), 60), ((4, 4), 130)]
)
def test_boards_of_any_size_have_the_asked_givens_and_one_solution(box, givens):
    task = Sudoku(name="sudoku", box=box)
    question, answer = generate(task, givens, generator("test", *box))
    assert np.sum(question != 0) == givens
    assert task.valid(answer)
    assert task.answers_question(answer, question)
    assert count_solutions(task, question) == 1


def test_a_board_may_be_given_whole():
    question, answer = generate(SIX, 36, generator("test"))
    np.testing.assert_array_equal(question, answer)


@pytest.mark.parametrize("task", [FOUR, SIX, NINE])
def test_no_given_of_a_minimal_board_can_be_spared(task):
    for i in range(10):
        question, _ = generate(task, None, generator("test", counter=i))
        assert count_solutions(task, question) == 1
        for cell in np.flatnonzero(question):
            fewer = question.copy()
            fewer[cell] = 0
            assert count_solutions(task, fewer) == 2


def test_givens_out_of_reach_are_reported_with_what_was_reached(monkeypatch):
    monkeypatch.setattr(sudoku_generator, "ATTEMPTS", 300)
    with pytest.raises(
        DataError, match=r"3 givens on a board of 2x2 boxes: the fewest of 300 attempts were 4: ask for more"
    ):
        generate(FOUR, 3, generator("test"))


def test_code_is_compiled_where_no_cache_can_be_written(monkeypatch):
    njit = numba.njit

    def without_a_cache(function=None, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(function, **options)

    monkeypatch.setattr(numba, "njit", without_a_cache)
    assert sudoku_search.compiled(lambda x: x + 1)(2) == 3


def test_splits_have_their_sizes_levels_and_provenance():
    splits = build("boards", SIX, parameters((12, 15), seed=5, train=10, test=6), RAW)
    assert {name: len(puzzles) for name, puzzles in splits.items()} == {"train": 10, "test": 6}
    assert givens_of(splits["train"]).tolist() == [12, 13, 14, 15, 12, 13, 14, 15, 12, 13]
    for puzzles in splits.values():
        assert puzzles.origin == "generated"
        assert "Sudoku generator, version 1" in puzzles.source
        assert "dataset boards, seed 5, boxes of 2x3 cells, 12 to 15 givens" in puzzles.source
        assert SIX.valid(puzzles.answers).all()
        assert SIX.answers_question(puzzles.answers, puzzles.questions).all()
    assert "minimal givens" in build("boards", SIX, parameters(None, test=1), RAW)["test"].source


def test_a_board_is_a_function_of_its_place_alone():
    few = build("boards", NINE, parameters((31, 42), train=5, validation=3), RAW)
    many = build("boards", NINE, parameters((31, 42), train=9, validation=4, test=2), RAW)
    for split, puzzles in few.items():
        np.testing.assert_array_equal(puzzles.questions, many[split].questions[: len(puzzles)])
        np.testing.assert_array_equal(puzzles.answers, many[split].answers[: len(puzzles)])


def test_names_seeds_and_splits_give_different_boards():
    sets = [
        build(name, SIX, parameters((12, 18), seed=seed, train=20, test=20), RAW)[split]
        for name in ("a", "b")
        for seed in (0, 1)
        for split in ("train", "test")
    ]
    assert len({h for puzzles in sets for h in puzzles.hashes}) == 8 * 20


def test_no_question_is_made_twice_until_all_are_used_up(monkeypatch):
    # A 2x2 board with one given has 4 cells x 2 digits = 8 questions.
    tiny = Sudoku(name="sudoku", box=(1, 2))
    splits = build("boards", tiny, parameters((1, 1), train=5, test=3), RAW)
    assert len({h for puzzles in splits.values() for h in puzzles.hashes}) == 8
    monkeypatch.setattr(generated_sudoku, "DRAWS", 100)
    with pytest.raises(
        DataError, match=r"1 givens on a board of 1x2 boxes: after 8 different boards, 100 draws gave no new"
    ):
        build("boards", tiny, parameters((1, 1), train=5, test=4), RAW)


def test_the_same_dataset_is_the_same_bytes(tmp_path):
    for copy in ("first", "second"):
        build("boards", SIX, parameters(None, test=30), RAW)["test"].save(tmp_path / copy)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@pytest.mark.parametrize(
    ("task", "givens", "digest"),
    [(FOUR, (5, 8), "116d8ed62b0ef8e3"), (SIX, None, "e35da3fc08108562"), (NINE, (31, 42), "8efec90c77e92a91")],
    ids=["4x4", "6x6", "9x9"],
)
def test_the_boards_are_those_of_the_stated_generator_version(task, givens, digest):
    # Other boards from the same seed need a new GENERATOR_VERSION: every generated dataset changes with them.
    puzzles = build("pinned", task, parameters(givens, test=50), RAW)["test"]
    assert sudoku_generator.GENERATOR_VERSION == 1
    assert hashlib.sha256(puzzles.questions.tobytes() + puzzles.answers.tobytes()).hexdigest()[:16] == digest


def test_ten_thousand_boards_take_less_than_ten_seconds_of_one_core():
    start = time.process_time()
    puzzles = build("boards", NINE, parameters((31, 42), train=10_000), RAW)["train"]
    assert time.process_time() - start < 10
    assert len(set(puzzles.hashes)) == 10_000
    assert np.ptp(np.bincount(givens_of(puzzles))[31:]) <= 1
