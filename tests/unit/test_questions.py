"""Questions that a user writes: their layouts, and what is said of those that cannot be answered."""

import re

import numpy as np
import pytest

from cvoting.data.questions import QuestionError, parse_question, read_questions
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

SUDOKU = Sudoku(name="sudoku", box=(2, 2))
MAZE = Maze(name="maze", grid=(2, 3))


@pytest.mark.parametrize(
    "text",
    [
        "12..34......4...",
        "1200340000004000",
        "12../34../..../4...",
        "12..\n34..\n....\n4...\n",
        "12..34......4...\n",
        " 12..34......4... \r\n",
        " 12.. /34.. \n.... / 4...\n\n",
        "12..34......4.../\n",
    ],
)
def test_rows_of_a_board_are_joined_or_separated(text):
    assert parse_question(SUDOKU, text, "it").tolist() == [1, 2, 0, 0, 3, 4] + [0] * 6 + [4, 0, 0, 0]


@pytest.mark.parametrize(
    "text", ["S  ##G", "S  /##G", "S  \r\n##G", "/S  /##G/", "S  ##G\n", "S  ##G \n", "S    /##G "]
)
def test_rows_of_a_maze_are_joined_or_separated(text):
    assert parse_question(MAZE, text, "it").tolist() == [2, 1, 1, 0, 0, 3]


def test_a_file_has_one_question_per_line(tmp_path):
    (tmp_path / "q").write_text("S  ##G\n\nG  /##S\n")
    questions = read_questions(MAZE, tmp_path / "q")
    assert np.array_equal(questions, [[2, 1, 1, 0, 0, 3], [3, 1, 1, 0, 0, 2]])


@pytest.mark.parametrize(
    ("task", "text", "message"),
    [
        (SUDOKU, "12..", "it: 4 characters, expected 16 (4 rows of 4)"),
        (SUDOKU, "", "it: 0 characters, expected 16"),
        (SUDOKU, "12../34..", "it: 2 rows, expected 4 (of 4 characters each)"),
        (SUDOKU, "12../34.../..../4...", "it: 5 characters in row 2, expected 4"),
        (SUDOKU, "12..35......4...", "it: '5' in row 2, column 2, expected one of '.' '0' '1' '2' '3' '4'"),
        (SUDOKU, "12..34......4..é", "it: 'é' in row 4, column 4, expected"),
        (SUDOKU, "12..34......4..一", "it: '一' in row 4, column 4, expected"),
        (SUDOKU, "1..1............", "it has no answer: 2 times the digit 1 in row 1 (row 1, column 1 and row 1, col"),
        (
            SUDOKU,
            "1...........1...",
            "it has no answer: 2 times the digit 1 in column 1 (row 1, column 1 and row 4, col",
        ),
        (SUDOKU, "1....1..........", "it has no answer: 2 times the digit 1 in box 1 (row 1, column 1 and row 2, col"),
        (SUDOKU, "12.....3...4....", "it has no answer: no digit fits in row 1, column 4: its row, column and box"),
        (SUDOKU, "1......2....3.4.", "it has no answer: no board with these givens satisfies the constraints"),
        (SUDOKU, "1234341221434321", "it leaves no cell open: nothing to solve"),
        (MAZE, "   ##G", "it has no answer: 0 times 'S', expected exactly one"),
        (MAZE, "SS ##G", "it has no answer: 2 times 'S', expected exactly one"),
        (MAZE, "S  ## ", "it has no answer: 0 times 'G', expected exactly one"),
        (MAZE, "S# ##G", "it has no answer: no path leads from S to G"),
        (MAZE, "S /##G", "it: 2 characters in row 1, expected 3"),
        (MAZE, "So ##G", "it: 'o' in row 1, column 2, expected one of ' ' '#' 'G' 'S'"),
    ],
)
def test_a_question_without_an_answer_is_refused_with_the_place(task, text, message):
    with pytest.raises(QuestionError, match=re.escape(message)):
        parse_question(task, text, "it")


def test_a_drawn_path_is_a_contradiction_of_a_maze():
    assert (
        MAZE.contradiction(MAZE.parse("So ##G"))
        == "a path is drawn already ('o' in row 1, column 2), expected ' ' there"
    )


def test_spaces_that_are_cells_of_a_maze_stay():
    assert parse_question(MAZE, "#S##G \n", "it").tolist() == [0, 2, 0, 0, 3, 1]
    assert parse_question(MAZE, " S  G ", "it").tolist() == [1, 2, 1, 1, 3, 1]
    assert parse_question(MAZE, " S / G ", "it").tolist() == [1, 2, 1, 1, 3, 1]
    assert parse_question(MAZE, "S #/G  ", "it").tolist() == [2, 1, 0, 3, 1, 1]


def test_a_file_of_rows_holds_boards_or_mazes(tmp_path):
    (tmp_path / "q").write_text("12..\n34..\n....\n4... \n\n.1..\n....\n....\n....\n")
    first, second = read_questions(SUDOKU, tmp_path / "q")
    assert first.tolist() == [1, 2, 0, 0, 3, 4] + [0] * 6 + [4, 0, 0, 0]
    assert second.tolist() == [0, 1] + [0] * 14
    (tmp_path / "q").write_text("S  \n##G\n")
    assert np.array_equal(read_questions(MAZE, tmp_path / "q"), [[2, 1, 1, 0, 0, 3]])
    (tmp_path / "q").write_text("S  \n##G\n\nSS \n##G\n")
    with pytest.raises(QuestionError, match="q, lines 4 to 5 has no answer: 2 times 'S'"):
        read_questions(MAZE, tmp_path / "q")


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path, reason in {tmp_path / "absent": "No such file or directory", tmp_path: "Is a directory"}.items():
        with pytest.raises(QuestionError, match=rf"not a readable file \({reason}\): name a text file with one puzzle"):
            read_questions(MAZE, path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n\n", "no puzzle, expected one per line"),
        (b"\xff\xfe", "not a text file"),
        (b"S  ##G\nS\n", "q, line 2: 1 ch"),
        (b"S  \n##G\nS  \n", "q: 3 lines of 3 characters, expected whole puzzles of 2 rows, or one puzzle of 6 char"),
    ],
)
def test_a_file_without_questions_is_refused(tmp_path, content, message):
    (tmp_path / "q").write_bytes(content)
    with pytest.raises(QuestionError, match=message):
        read_questions(MAZE, tmp_path / "q")
