"""Whatever a file holds, its reader gives puzzles or says what is wrong with it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvoting.data.parsers import CSV_HEADER, read_hugging_face_csv, read_royle_list
from cvoting.data.puzzles import DataError
from cvoting.tasks.sudoku import Sudoku

SMALL = Sudoku(name="sudoku", box=(2, 2))
NINE = Sudoku(name="sudoku", box=(3, 3))
ROW = b"somewhere,1...3..2.1....2.,1234341221434321,7\r\n"
FIELDS = st.sampled_from(
    [b"1234341221434321", b"1" * 16, b"." * 16, b"7", b"-1", b"1e3", b"\xc2\xb2", b'"', b"\0", b""]
)
#: Bytes without structure, rows of fields that are nearly right, and a good file with one byte changed.
CONTENTS = st.one_of(
    st.binary(max_size=300),
    st.lists(st.lists(FIELDS, max_size=5).map(b",".join), max_size=4).map(b"\n".join),
    st.tuples(st.integers(0, len(ROW) - 1), st.binary(min_size=1, max_size=1)).map(
        lambda change: ROW[: change[0]] + change[1] + ROW[change[0] + 1 :]
    ),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("bytes") / "file"


def read_or_explain(reader, *arguments):
    """What a reader gives, or None after an error that names file and line."""
    try:
        return reader(*arguments)
    except DataError as error:
        explained = str(error)
    assert re.search(r"file, line [0-9]+: .+; the file is damaged or another", explained)
    return None


@given(content=CONTENTS, header=st.booleans())
def test_any_csv_file_is_puzzles_or_an_error_that_names_its_line(path, content, header):
    path.write_bytes((",".join(CSV_HEADER).encode() + b"\r\n" if header else b"") + content)
    puzzles = read_or_explain(read_hugging_face_csv, path, SMALL, "")
    if puzzles is not None:
        assert SMALL.valid(puzzles.answers).all()
        assert SMALL.answers_question(puzzles.answers, puzzles.questions).all()


@given(content=st.one_of(CONTENTS, st.text("0123456789.-\n", min_size=81, max_size=170).map(str.encode)))
def test_any_list_of_clues_is_puzzles_or_an_error_that_names_its_line(path, content):
    path.write_bytes(content)
    boards = read_or_explain(read_royle_list, path, NINE)
    if boards is not None:
        assert NINE.consistent(boards).all()
