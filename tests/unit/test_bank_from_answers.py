"""Rollouts of any program become a bank."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_banks, write_banks
from cvoting.bank_from_answers import AnswersError, bank_from_answers, reading_from_answers
from cvoting.data.puzzles import Puzzles
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
LABEL = TASK.parse("1234341221434321")
QUESTION = np.where(np.arange(16) < 4, 0, LABEL).astype(np.uint8)
PUZZLES = Puzzles(QUESTION[None], LABEL[None], "original", "a test")
HEADER = BankHeader("mine", "mine", "mine", "test", PUZZLES.origin, PUZZLES.source, 1, 0, 0)
#: Wrong in two of the four blanks; right in the blanks but not in a given.
SWAPPED = np.array([[2, 1, *LABEL[2:]]])
GIVEN = np.array([[*LABEL[:15], 2]])
ANSWERS = np.stack([SWAPPED, LABEL[None], SWAPPED, GIVEN], axis=1).astype(np.int64)
SCORES = {"confidence": np.array([[0.1, 0.2, 0.3, 0.4]], dtype=np.float32)}


def test_answers_are_judged_and_kept_once_each_in_order_of_appearance() -> None:
    bank = bank_from_answers(HEADER, TASK, PUZZLES, ANSWERS, SCORES)
    assert bank.puzzles == PUZZLES.hashes
    assert bank.answer_ids.tolist() == [[0, 1, 0, 2]]
    assert np.array_equal(bank.answers[0][bank.answer_ids[0]], ANSWERS[0])
    assert bank.correct["board"].tolist() == [[False, True, False, True]]
    assert bank.correct["all_cells"].tolist() == [[False, True, False, False]]
    assert bank.cell_accuracy.tolist() == [[0.5, 1.0, 0.5, 1.0]], "of four blanks"


def test_a_bank_of_answers_is_written_and_read_like_any_other(tmp_path: Path) -> None:
    bank = bank_from_answers(HEADER, TASK, PUZZLES, ANSWERS, SCORES)
    write_banks(tmp_path / "bank.parquet", [bank])
    again = concatenate(read_banks(tmp_path / "bank.parquet"))
    assert again.header == HEADER
    assert np.array_equal(again.scores["confidence"], SCORES["confidence"].astype(np.float64))


def test_the_answers_of_a_bank_make_the_same_bank(make_bank: Callable[..., Bank]) -> None:
    bank = make_bank()
    answers = np.stack([table[ids] for table, ids in zip(bank.answers, bank.answer_ids, strict=True)])
    puzzles = Puzzles(bank.questions, bank.labels, "generated", "made up for a test")
    again = bank_from_answers(bank.header, TASK, puzzles, answers, bank.scores)
    assert again.steps == {}
    assert np.array_equal(again.answer_ids, bank.answer_ids)
    assert all(np.array_equal(one, two) for one, two in zip(again.answers, bank.answers, strict=True))
    assert np.array_equal(again.correct["all_cells"], bank.correct["all_cells"])


def test_answers_at_a_step_are_judged_as_those_of_the_end(tmp_path: Path) -> None:
    first = ANSWERS[:, :2], {"confidence": SCORES["confidence"][:, :2]}
    steps = {3: reading_from_answers(TASK, PUZZLES, *first), 1: reading_from_answers(TASK, PUZZLES, ANSWERS, SCORES)}
    bank = bank_from_answers(HEADER, TASK, PUZZLES, ANSWERS, SCORES, steps)
    write_banks(tmp_path / "bank.parquet", [bank])
    for step, candidates in ((3, 2), (1, 4)):
        there = concatenate(read_banks(tmp_path / "bank.parquet")).at(step)
        assert there.scores["confidence"].dtype == np.float64
        for found, end in ((there.scores, bank.scores), (there.correct, bank.correct)):
            np.testing.assert_equal(found, {name: values[:, :candidates] for name, values in end.items()})
        np.testing.assert_array_equal(there.cell_accuracy, bank.cell_accuracy[:, :candidates])


@pytest.mark.parametrize(
    ("answers", "scores", "message"),
    [
        (ANSWERS[:, :, :15], SCORES, "answers of shape (1, 4, 15): expected (puzzles, candidates, cells) with 1"),
        (ANSWERS[:, :0], SCORES, "at least one candidate"),
        (ANSWERS - 1, SCORES, "token 0 in an answer: expected 1 to 4 (class + task.first_answer_token)"),
        (ANSWERS, {}, "no scores: expected at least one, such as confidence"),
        (ANSWERS, {"confidence": np.zeros(4)}, "confidence of shape (4,): expected (1, 4), (puzzles, candidates)"),
        (ANSWERS, {"mine": np.full((1, 4), np.nan)}, "mine of candidate 1 of puzzle 1 is not a number"),
    ],
    ids=["cells", "no candidate", "classes for tokens", "no score", "shape of a score", "NaN"],
)
def test_what_is_no_bank_is_refused(answers: np.ndarray, scores: dict[str, np.ndarray], message: str) -> None:
    for make in (partial(bank_from_answers, HEADER), reading_from_answers):
        with pytest.raises(AnswersError) as error:
            make(TASK, PUZZLES, answers, scores)
        assert message in str(error.value)


def test_making_a_bank_needs_no_torch() -> None:
    code = "import sys, cvoting.bank_from_answers; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
