"""Whatever a file holds, its reader gives puzzles or says what is wrong with it; what is written is read back."""

import csv
import io
import re
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cvoting.data.archives import git_blob_id, read_member
from cvoting.data.parsers import CSV_HEADER, read_hugging_face_csv, read_own_csv, read_royle_list, read_rrn_csv
from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.satnet_archive import read_satnet_archive
from cvoting.data.sources import FILES
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

SMALL = Sudoku(name="sudoku", box=(2, 2))
NINE = Sudoku(name="sudoku", box=(3, 3))
MAZE = Maze(name="maze", grid=(3, 4))
ANSWER = SMALL.parse("1234341221434321")
ROW = b"somewhere,1...3..2.1....2.,1234341221434321,7\r\n"
FIELDS = st.sampled_from(
    [b"1234341221434321", b"1" * 16, b"." * 16, b"7", b"-1", b"1e3", b"\xc2\xb2", b'"', b"\0", b""]
)


def with_a_byte_changed(content: bytes) -> st.SearchStrategy[bytes]:
    """The content with one byte, anywhere, replaced by another."""
    places, values = st.integers(0, len(content) - 1), st.binary(min_size=1, max_size=1)
    return st.builds(lambda at, value: content[:at] + value + content[at + 1 :], places, values)


#: Bytes without structure, rows of fields that are nearly right, and a good file with one byte changed.
CONTENTS = st.one_of(
    st.binary(max_size=300),
    st.lists(st.lists(FIELDS, max_size=5).map(b",".join), max_size=4).map(b"\n".join),
    with_a_byte_changed(ROW),
)


def saved(values: np.ndarray, new: bool = True) -> bytes:
    stream = io.BytesIO()
    torch.save(torch.from_numpy(values), stream, _use_new_zipfile_serialization=new)
    return stream.getvalue()


def one_hot(tokens: np.ndarray) -> np.ndarray:
    return (tokens.reshape(-1, 4, 4, 1) == np.arange(1, 5)).astype(np.float32)


def archive(compression: int = zipfile.ZIP_DEFLATED, **members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        for name, content in members.items():
            file.writestr(f"folder/{name}.pt", content)
    return stream.getvalue()


FEATURES, LABELS = saved(one_hot(ANSWER * (np.arange(16) % 2))), saved(one_hot(ANSWER))


@st.composite
def puzzles(draw: st.DrawFn) -> Puzzles:
    """Boards of one answer relabelled, with any cells blank; perhaps with ratings."""
    count = draw(st.integers(1, 5))
    relabel = [np.array([0, *draw(st.permutations(range(1, 5)))], np.uint8) for _ in range(count)]
    answers = np.stack([names[ANSWER] for names in relabel])
    given_cells = [draw(st.lists(st.booleans(), min_size=16, max_size=16)) for _ in range(count)]
    rated = draw(st.none() | st.lists(st.integers(0, 999_999_999), min_size=count, max_size=count))
    return Puzzles(answers * np.array(given_cells), answers, "original", "", None if rated is None else np.array(rated))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("bytes") / "file"


def same(found: Puzzles, written: Puzzles) -> bool:
    rated = (found.ratings is None) == (written.ratings is None)
    equal = [
        np.array_equal(getattr(found, name), getattr(written, name)) for name in ("questions", "answers", "ratings")
    ]
    return rated and all(equal[: 2 if written.ratings is None else 3])


def table(boards: Puzzles, header: list[str], blank: str = ".") -> bytes:
    """CSV as the csv module writes it; a column that is none of a puzzle's holds text that needs quotes."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    if header:
        writer.writerow(header)
    for i, (question, answer) in enumerate(zip(boards.questions, boards.answers, strict=True)):
        fields = {"question": SMALL.format(question).replace(".", blank), "answer": SMALL.format(answer)}
        fields["rating"] = "" if boards.ratings is None else str(boards.ratings[i])
        writer.writerow([fields.get(name, 'a, "b"\nc') for name in header or ["question", "answer"]])
    return stream.getvalue().encode()


@given(boards=puzzles().filter(lambda boards: boards.ratings is not None), blank=st.sampled_from(".0"))
def test_a_hugging_face_file_gives_back_the_puzzles_that_were_written(path, boards, blank):
    path.write_bytes(table(boards, CSV_HEADER, blank))
    assert same(read_hugging_face_csv(path, SMALL, ""), boards)


@given(boards=puzzles(), more=st.lists(st.sampled_from(["source", "x", "y"]), unique=True), order=st.randoms())
def test_an_own_file_gives_back_the_puzzles_that_were_written(path, boards, more, order):
    header = ["question", "answer", *(["rating"] if boards.ratings is not None else []), *more]
    order.shuffle(header)
    path.write_bytes(table(boards, header))
    if len(set(boards.hashes)) == len(boards):
        assert same(read_own_csv(path, SMALL, ""), boards)
    else:
        with pytest.raises(DataError, match=r"question of line [0-9]+ again"):
            read_own_csv(path, SMALL, "")


@given(boards=puzzles())
def test_an_rrn_file_gives_back_the_puzzles_that_were_written(boards):
    assert same(read_rrn_csv(table(boards, [], "0"), "test.csv", SMALL, ""), replace(boards, ratings=None))


@given(boards=puzzles(), new=st.booleans())
def test_a_satnet_archive_gives_back_the_puzzles_that_were_written(path, boards, new):
    features, labels = saved(one_hot(boards.questions), new), saved(one_hot(boards.answers), new)
    questions, answers = read_tensors(path, features, labels)
    np.testing.assert_array_equal(questions, boards.questions)
    np.testing.assert_array_equal(answers, boards.answers)


def read_tensors(path, features: bytes, labels: bytes):
    """What the reader makes of an archive whose members have the right ids, whatever they hold."""
    path.write_bytes(archive(features=features, labels=labels))
    known = {"features.pt": git_blob_id(features), "labels.pt": git_blob_id(labels)}
    return read_satnet_archive(path, replace(FILES["satnet_sudoku"], members=known), SMALL)


def read_or_explain(reader, *arguments, explanation="file, line [0-9]+: .+; the file is damaged or another"):
    """What a reader gives, or None after an error with an explanation."""
    try:
        return reader(*arguments)
    except DataError as error:
        explained = str(error)
    assert re.search(explanation, explained, flags=re.DOTALL)
    return None


def check(found: Puzzles | None, task: Sudoku | Maze) -> None:
    """What was read are puzzles."""
    if found is not None:
        assert task.valid(found.answers).all()
        assert task.answers_question(found.answers, found.questions).all()


@given(content=CONTENTS, header=st.booleans())
def test_any_csv_file_is_puzzles_or_an_error_that_names_its_line(path, content, header):
    path.write_bytes((",".join(CSV_HEADER).encode() + b"\r\n" if header else b"") + content)
    check(read_or_explain(read_hugging_face_csv, path, SMALL, ""), SMALL)


@given(content=CONTENTS | with_a_byte_changed(b",S  ### G   ,Soo###oGoo  ,5\n"))
def test_any_file_of_mazes_is_puzzles_or_an_error_that_names_its_line(path, content):
    path.write_bytes(",".join(CSV_HEADER).encode() + b"\n" + content)
    check(read_or_explain(read_hugging_face_csv, path, MAZE, ""), MAZE)


@given(content=CONTENTS, header=st.sampled_from([b"", b"question,answer\n", b"source,question,answer,rating\n"]))
def test_any_own_file_is_puzzles_or_an_error_that_names_its_line(path, content, header):
    path.write_bytes(header + content)
    check(read_or_explain(read_own_csv, path, SMALL, "", explanation="file, line [0-9]+: .+; correct the file"), SMALL)


@given(content=CONTENTS)
def test_any_file_without_a_header_is_puzzles_or_an_error_that_names_its_line(content):
    check(read_or_explain(read_rrn_csv, content, "file", SMALL, ""), SMALL)


@given(content=st.one_of(CONTENTS, st.text("0123456789.-\n", min_size=81, max_size=170).map(str.encode)))
def test_any_list_of_clues_is_puzzles_or_an_error_that_names_its_line(path, content):
    path.write_bytes(content)
    boards = read_or_explain(read_royle_list, path, NINE)
    if boards is not None:
        assert NINE.consistent(boards).all()


ARCHIVES = [archive(method, a=b"some content" * 20, b=b"") for method in (0, 8, 12, 14)]


@given(content=st.binary(max_size=300) | st.sampled_from(ARCHIVES).flatmap(with_a_byte_changed))
def test_any_archive_has_the_member_or_is_an_error(path, content):
    path.write_bytes(content)
    explanation = r"file: (not a readable zip archive|\d members a\.pt|member a\.pt has)"
    member = read_or_explain(read_member, path, "a.pt", explanation=explanation)
    assert member is None or isinstance(member, bytes)


@given(features=st.one_of(st.binary(max_size=300), with_a_byte_changed(FEATURES)))
def test_any_saved_tensor_is_boards_or_an_error(path, features):
    explanation = r"file(, (features|labels)\.pt|: \d+ boards in)"
    boards = read_or_explain(read_tensors, path, features, LABELS, explanation=explanation)
    if boards is not None:
        assert SMALL.answers_question(boards[1], boards[0]).all()
