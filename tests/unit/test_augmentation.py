"""Augmentation transforms questions and answers alike."""

import numpy as np
import pytest

from cvoting.data.augmentation import augment
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
ANSWER = TASK.parse("1234341221434321")
QUESTION = TASK.parse("1.3.3..22...4...")


def repeated(count):
    return np.tile(QUESTION, (count, 1)), np.tile(ANSWER, (count, 1))


@pytest.mark.parametrize("group", ["none", "digits", "shuffles"])
def test_answers_stay_answers_of_their_questions(group):
    questions, answers = augment(TASK, *repeated(200), group, np.random.default_rng(0))
    assert questions.dtype == answers.dtype == np.uint8
    assert TASK.valid(answers).all()
    assert TASK.answers_question(answers, questions).all()
    assert (np.sum(questions == 0, axis=1) == np.sum(QUESTION == 0)).all()


def test_digits_are_relabelled_in_place_by_hand():
    questions, answers = augment(TASK, *repeated(1), "digits", np.random.default_rng(1))
    new = dict(zip(ANSWER.tolist(), answers[0].tolist(), strict=True))
    assert sorted(new) == sorted(new.values()) == [1, 2, 3, 4]
    assert questions[0].tolist() == [new.get(t, 0) for t in QUESTION.tolist()]


def test_the_group_none_gives_the_puzzles_back():
    questions, answers = augment(TASK, *repeated(2), "none", np.random.default_rng(0))
    assert (questions == QUESTION).all()
    assert (answers == ANSWER).all()


def test_each_puzzle_is_transformed_by_a_symmetry_of_its_own_and_the_originals_stay():
    questions, answers = repeated(20)
    new, _ = augment(TASK, questions, answers, "shuffles", np.random.default_rng(0))
    assert len(np.unique(new, axis=0)) > 15
    assert (questions == QUESTION).all()
    assert (answers == ANSWER).all()


def test_the_same_generator_gives_the_same_boards():
    first, second = (augment(TASK, *repeated(5), "shuffles", np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
