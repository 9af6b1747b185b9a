"""Readers of the published files: what they accept, and where they say an error is."""

import hashlib
import os
import re
from pathlib import Path

import numpy as np
import pytest

from cvoting.data import boards
from cvoting.data.boards import STRANGER, token_table
from cvoting.data.parsers import read_hugging_face_csv, read_own_csv, read_royle_list, read_rrn_csv
from cvoting.data.puzzles import DataError
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

MIRROR = os.environ.get("CVOTING_MIRROR")
needs_mirror = pytest.mark.skipif(not MIRROR, reason="CVOTING_MIRROR names no mirror")
SMALL = Sudoku(name="sudoku", box=(2, 2))
NINE = Sudoku(name="sudoku", box=(3, 3))
HEADER = "source,question,answer,rating\r\n"
ANSWER = "1234341221434321"
ROW = f"somewhere,1...3..2.1....2.,{ANSWER},7\r\n"
#: 17 clues without a contradiction; what they have for solutions plays no role here.
CLUES = "123456789" + "456700000" + "789100000" + "0" * 54


@pytest.fixture
def read(tmp_path):
    """Reads a CSV text."""

    def parse(text):
        path = tmp_path / "train.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_hugging_face_csv(path, SMALL, "a test")

    return parse


@pytest.fixture
def read_list(tmp_path):
    """Reads a list of clues."""

    def parse(text):
        path = tmp_path / "sudoku17.txt"
        path.write_text(text)
        return read_royle_list(path, NINE)

    return parse


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_rows_become_tokens_and_ratings(read, newline):
    text = HEADER + ROW + f'"a, quoted",{ANSWER},{ANSWER},0\r\n'
    puzzles = read(text.replace("\r\n", newline))
    assert puzzles.questions[0].tolist() == [1, 0, 0, 0, 3, 0, 0, 2, 0, 1, 0, 0, 0, 0, 2, 0]
    assert puzzles.answers.tolist() == [[int(c) for c in ANSWER]] * 2
    assert puzzles.ratings.tolist() == [7, 0]
    assert (puzzles.origin, puzzles.source) == ("original", "a test")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["s,1...\r\n"], "line 3: 2 fields, expected 4"),
        (["\r\n"], "line 3: 0 fields, expected 4"),
        ([f"s,1...,{ANSWER},7\r\n"], r"line 3: question: 4 characters, expected 16 \(4 x 4 cells\)"),
        ([f"s,1...3..2.1....5.,{ANSWER},7\r\n"], "line 3: question: character '5' at position 15"),
        (["s,1...3..2.1....2.,1234341221434,7\r\n"], "line 3: answer: 13 characters, expected 16"),
        ([f"s,................,{ANSWER},7.5\r\n"], r"line 3: rating '7\.5', expected a whole number"),
        ([f"s,................,{ANSWER},\r\n"], "line 3: rating '', expected a whole number"),
        ([f"s,................,{ANSWER},{'9' * 30}\r\n"], "line 3: rating '9+', expected a whole number"),
        (
            ["s,................,1234341221434312,7\r\n"],
            r"line 3: answer breaks the rules of the task \(question \.+, ",
        ),
        (["s,................,123434122143432.,7\r\n"], "line 3: answer breaks the rules"),
        ([ROW, f"s,2...............,{ANSWER},7\r\n"], "line 4: answer contradicts its question"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(read, rows, message):
    with pytest.raises(DataError, match=rf"train\.csv, {message}"):
        read(HEADER + ROW + "".join(rows) + ROW)


@pytest.mark.parametrize(
    "header", ["", "question,answer\r\n", "source,question,answer,rating,more\r\n", "\ufeff" + HEADER]
)
def test_a_wrong_header_is_shown_beside_the_right_one(read, header):
    with pytest.raises(
        DataError, match=r"line 1: header '.*', expected 'source,question,answer,rating'; .* fetch it again"
    ):
        read(header + ROW if header else "")


def test_a_file_without_puzzles_is_an_error(read, read_list):
    with pytest.raises(DataError, match="line 1: no puzzle, expected at least one"):
        read(HEADER)
    with pytest.raises(DataError, match="line 1: no puzzle, expected one board per line"):
        read_list("")


def test_bytes_that_are_no_text_are_found_in_their_row(read):
    with pytest.raises(DataError, match="line 2: question: character"):
        read(HEADER.encode() + ROW.encode().replace(b"1...3", b"1\xff..3"))


def test_a_field_without_end_is_an_error_of_its_line(read):
    with pytest.raises(DataError, match=r"line 2: field larger than field limit .*, expected comma-separated values"):
        read(HEADER + '"' + "x" * 200_000)


def test_a_list_of_clues_is_read_and_hyphens_after_a_board_are_ignored(read_list):
    boards = read_list(f"{CLUES}\n{CLUES}--\n{CLUES}")
    assert boards.shape == (3, 81)
    assert boards[0].tolist() == [int(c) for c in CLUES]
    assert (boards == boards[0]).all()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (CLUES[:-1], "line 2: board: 80 characters, expected 81"),
        ("--" + CLUES, "line 2: board: 83 characters, expected 81"),
        ("", "line 2: board: 0 characters"),
        (CLUES.replace("9", "x"), "line 2: board: character 'x' at position 9"),
        (CLUES.replace("9", "0"), "line 2: 15 clues, expected 17"),
        (CLUES[:-1] + "9", "line 2: 18 clues, expected 17"),
        (CLUES.replace("7891", "7897"), "line 2: a row, column or box holds a digit twice"),
    ],
)
def test_a_wrong_line_of_clues_is_named(read_list, line, message):
    with pytest.raises(DataError, match=rf"sudoku17\.txt, {re.escape(message)}"):
        read_list(f"{CLUES}\n{line}\n{CLUES}\n")


def test_the_first_error_of_a_file_is_the_one_that_is_told(read):
    damaged = [
        "s,1...\r\n",
        f"s,1...,{ANSWER},7\r\n",
        f"s,2...............,{ANSWER},7\r\n",
        f"s,{'.' * 16},{ANSWER},x\r\n",
    ]
    messages = ["2 fields", "question: 4 characters", "answer contradicts", "rating 'x'"]
    for i, message in enumerate(messages):
        with pytest.raises(DataError, match=f"line 3: {message}"):
            read(HEADER + ROW + damaged[i] + "".join(damaged[:i]) + "".join(damaged[i + 1 :]))


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_the_size_of_chunks_makes_no_difference(read, monkeypatch, chunk):
    monkeypatch.setattr(boards, "CHUNK", chunk)
    puzzles = read(HEADER + ROW * 4)
    assert puzzles.questions.shape == (4, 16)
    assert puzzles.ratings.tolist() == [7] * 4
    with pytest.raises(DataError, match="line 4: answer contradicts"):
        read(HEADER + ROW * 2 + f"s,2...............,{ANSWER},7\r\n" + ROW)


def test_the_table_of_a_task_knows_its_characters_and_no_others():
    sudoku, maze = token_table(SMALL), token_table(Maze(name="maze", grid=(2, 3)))
    assert {chr(c): int(t) for c, t in enumerate(sudoku) if t != STRANGER} == {
        ".": 0, "0": 0, "1": 1, "2": 2, "3": 3, "4": 4
    }  # fmt: skip
    assert {chr(c): int(t) for c, t in enumerate(maze) if t != STRANGER} == {"#": 0, " ": 1, "S": 2, "G": 3, "o": 4}


def test_mazes_are_read_by_the_same_reader(tmp_path):
    (tmp_path / "maze.csv").write_text(HEADER + ",S  # G,Soo# G,4\r\n" + ",S##  G,S##o G,4\r\n")
    with pytest.raises(DataError, match="line 3: answer breaks the rules of the task"):
        read_hugging_face_csv(tmp_path / "maze.csv", Maze(name="maze", grid=(2, 3)), "")


def test_without_judging_wrong_answers_are_read(tmp_path):
    (tmp_path / "train.csv").write_text(HEADER + f"s,2...............,{ANSWER},7\r\n")
    assert len(read_hugging_face_csv(tmp_path / "train.csv", SMALL, "", judge=False)) == 1


@pytest.fixture
def read_own(tmp_path):
    """Reads a CSV file of the user's own."""

    def parse(text):
        (tmp_path / "own.csv").write_text(text, encoding="utf-8")
        return read_own_csv(tmp_path / "own.csv", SMALL, "mine")

    return parse


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_an_own_file_has_its_columns_in_any_order(read_own, mark):
    row = f"{ANSWER},é,1...3..2.1....2."
    puzzles = read_own(f"{mark}answer,notes,question\n{row}\n{ANSWER},,1{'0' * 15}\n")
    assert puzzles.questions.shape == (2, 16)
    assert (puzzles.origin, puzzles.source, puzzles.ratings) == ("own", "mine", None)
    assert read_own(f"rating,question,answer\n3,{ANSWER},{ANSWER}\n").ratings.tolist() == [3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: header '', expected the columns question and answer, once each; correct the file"),
        ("question,solution\n", "line 1: header 'question,solution', expected the columns question and answer"),
        ("question,answer,question\n", "line 1: header"),
        (f"question,answer\n{ANSWER}\n", "line 2: 1 fields, expected 2; correct the file"),
        (f"question,answer\n1{'.' * 15},{ANSWER}\n1{'0' * 15},{ANSWER}\n", "line 3: question of line 2 again"),
    ],
)
def test_a_wrong_own_file_is_explained(read_own, text, message):
    with pytest.raises(DataError, match=rf"own\.csv, {re.escape(message)}"):
        read_own(text)


def test_an_own_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(
        DataError, match=r"absent\.csv, line 1: no such file, expected CSV with the columns question and"
    ):
        read_own_csv(tmp_path / "absent.csv", SMALL, "")


def test_rows_without_a_header_are_read():
    puzzles = read_rrn_csv(f"1000300201000020,{ANSWER}\n".encode() * 2, "valid.csv", SMALL, "a test")
    assert SMALL.format(puzzles.questions[1]) == "1...3..2.1....2."
    assert (puzzles.origin, puzzles.ratings) == ("original", None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: no puzzle, expected at least one"),
        (b"1234\n", "line 1: 1 fields, expected 2"),
        (f"1000300201000020,{ANSWER}\n0,{ANSWER}\n".encode(), "line 2: question: 1 characters, expected 16"),
        (f"\xff000300201000020,{ANSWER}\n".encode("latin-1"), "line 1: question: character 'ÿ' at position 1"),
    ],
)
def test_a_wrong_row_without_a_header_is_named(content, message):
    with pytest.raises(DataError, match=rf"valid\.csv, {message}"):
        read_rrn_csv(content, "valid.csv", SMALL, "")


@needs_mirror
def test_a_sample_of_rrns_test_file_is_read():
    path = Path(MIRROR, "rrn", "rrn_test_sample.csv")
    if not path.exists():
        pytest.skip(f"the mirror has no {path.name}")
    content = path.read_bytes()
    assert hashlib.sha256(content).hexdigest() == "e9d2c00efce1e60ea20ffd185c5272b21e4f9e62b21f08ded678383c1c05be12"
    puzzles = read_rrn_csv(content, path.name, NINE, "")
    assert len(puzzles) == 18
    assert ((puzzles.questions > 0).sum(axis=1) >= 17).all()


@needs_mirror
def test_the_real_mazes_are_read_whole():
    for name in ("train.csv", "test.csv"):
        path = Path(MIRROR, "maze-30x30-hard-1k", name)
        puzzles = read_hugging_face_csv(path, Maze(name="maze", grid=(30, 30)), "")
        assert puzzles.questions.shape == (1_000, 900)
        assert (puzzles.ratings.min(), puzzles.ratings.max()) >= (109, 110)


@needs_mirror
def test_the_real_csv_files_are_read_whole():
    counts = {"train.csv": 1_000, "test_hard.csv": 20_000}
    for name, count in counts.items():
        puzzles = read_hugging_face_csv(Path(MIRROR, "sudoku-extreme-1k", name), NINE, "the real file")
        assert len(puzzles) == len(set(puzzles.hashes)) == count
    assert (puzzles.ratings.min(), puzzles.ratings.max()) == (0, 226)
    assert NINE.format(puzzles.questions[0]).startswith("7.....8....2..5....3")


@needs_mirror
def test_royles_list_is_read_whole():
    boards = read_royle_list(Path(MIRROR, "rrn", "sudoku17.txt"), NINE)
    assert boards.shape == (49_151, 81)
    assert len(np.unique(boards, axis=0)) == 49_151
    assert boards[17].tolist()[:9] == [0, 0, 0, 0, 0, 0, 0, 1, 2]
