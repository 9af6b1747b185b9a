"""The Sudoku task, against boards small enough to check by eye."""

import numpy as np
import pytest

from cvoting.params.core import ParameterError, build
from cvoting.tasks.sudoku import Sudoku

FOUR = Sudoku(name="sudoku", box=(2, 2))
SIX = Sudoku(name="sudoku", box=(2, 3))
#    12|34
#    34|12
#    -----
#    21|43
#    43|21
ANSWER = FOUR.parse("1234341221434321")


def test_sizes_follow_from_the_box():
    assert (SIX.digits, SIX.grid, SIX.cells, SIX.vocabulary, SIX.classes) == (6, (6, 6), 36, 7, 6)


@pytest.mark.parametrize("box", [[1, 1], [3, 6], [17, 1]])
def test_boards_without_2_to_16_digits_are_refused(box):
    with pytest.raises(ParameterError, match="expected 2 to 16 digits"):
        build(Sudoku, {"name": "sudoku", "box": box})


def test_boxes_of_two_rows_and_three_columns_lie_where_they_should():
    _, _, boxes = SIX.units
    assert boxes[0].tolist() == [0, 1, 2, 6, 7, 8]
    assert boxes[1].tolist() == [3, 4, 5, 9, 10, 11]
    assert boxes[5].tolist() == [27, 28, 29, 33, 34, 35]


@pytest.mark.parametrize("box", [(1, 2), (2, 2), (2, 3), (3, 2), (3, 3), (4, 4)])
def test_every_kind_of_unit_holds_every_cell_once(box):
    task = Sudoku(name="sudoku", box=box)
    assert task.units.shape == (3, task.digits, task.cells // task.digits)
    for kind in task.units:
        assert sorted(kind.ravel().tolist()) == list(range(task.cells))


def test_an_answer_is_valid_when_rows_columns_and_boxes_hold_each_digit():
    assert FOUR.valid(ANSWER)
    columns_wrong = FOUR.parse("1234341212343412")
    rows_wrong = columns_wrong.reshape(4, 4).T.reshape(-1)
    boxes_wrong = FOUR.parse("1234234134124123")  # a Latin square whose first box holds 1 2 / 2 3
    boards = np.stack([ANSWER, columns_wrong, rows_wrong, boxes_wrong])
    assert FOUR.valid(boards).tolist() == [True, False, False, False]


def test_an_answer_with_a_blank_is_not_valid():
    blank = ANSWER.copy()
    blank[5] = 0
    assert not FOUR.valid(blank)


def test_givens_are_consistent_unless_a_unit_holds_a_digit_twice():
    apart = FOUR.parse("1.....1.........")
    same_box = FOUR.parse("1....1..........")
    same_column = FOUR.parse("1...........1...")
    assert FOUR.consistent(np.stack([apart, same_box, same_column])).tolist() == [True, False, False]


def test_blanks_are_to_be_predicted_and_an_answer_keeps_the_givens():
    question = FOUR.parse("1..434.221434321")
    assert np.flatnonzero(FOUR.positions_to_predict(question)).tolist() == [1, 2, 6]
    assert FOUR.answers_question(ANSWER, question)
    assert not FOUR.answers_question(ANSWER, FOUR.parse("2..............."))


def test_text_becomes_tokens_and_back():
    assert FOUR.parse("12.4041221434321").tolist()[:6] == [1, 2, 0, 4, 0, 4]
    assert FOUR.format(FOUR.parse("12.4041221434321")) == "12.4.41221434321"
    sixteen = Sudoku(name="sudoku", box=(4, 4))
    assert sixteen.parse("G" + "." * 255)[0] == 16


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("123", r"3 characters, expected 16 \(4 x 4 cells\)"),
        ("1234341221434x21", r"character 'x' at position 14, expected one of \.01234"),
        ("5234341221434321", r"character '5' at position 1"),
    ],
)
def test_a_text_that_is_no_board_is_explained(text, message):
    with pytest.raises(ValueError, match=message):
        FOUR.parse(text)


def test_the_group_none_changes_nothing_and_digits_moves_no_cell():
    rng = np.random.default_rng(0)
    cells, tokens = FOUR.random_symmetries(3, "none", rng)
    assert (cells == np.arange(16)).all()
    assert (tokens == np.arange(5)).all()
    cells, tokens = FOUR.random_symmetries(50, "digits", rng)
    assert (cells == np.arange(16)).all()
    assert (tokens[:, 0] == 0).all()
    assert len(np.unique(tokens, axis=0)) > 10


def test_an_unknown_symmetry_group_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'shuffle': expected one of none, digits, shuffles"):
        FOUR.random_symmetries(1, "shuffle", np.random.default_rng(0))
