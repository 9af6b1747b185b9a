"""SATNet's archive: its tensors become boards, whatever wrote them, and nothing in it is ever executed."""

import io
import os
import pickle
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from cvoting.data.archives import git_blob_id
from cvoting.data.augmentation import augment
from cvoting.data.puzzles import DataError
from cvoting.data.satnet_sudoku import build
from cvoting.data.source_file import SourceError, sha256_of
from cvoting.data.sources import FILES
from cvoting.params.core import ParameterError
from cvoting.params.datasets import SatnetSudoku, Splits
from cvoting.seeding import generator
from cvoting.tasks.sudoku import Sudoku

TASK = Sudoku(name="sudoku", box=(2, 2))
COUNT = 10


def boards() -> tuple[np.ndarray, np.ndarray]:
    """Questions with 9 givens, and their answers."""
    answer = np.tile(TASK.parse("1234341221434321"), (COUNT, 1))
    _, answers = augment(TASK, answer, answer, "shuffles", generator("satnet stand-in"))
    questions = answers.copy()
    for i, question in enumerate(questions):
        question[generator("satnet blanks", counter=i).permutation(16)[:7]] = 0
    return questions, answers


def one_hot(tokens: np.ndarray) -> torch.Tensor:
    return torch.from_numpy((tokens.reshape(-1, 4, 4, 1) == np.arange(1, 5)).astype(np.float32))


def saved(value: object, new: bool = True) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream, _use_new_zipfile_serialization=new)
    return stream.getvalue()


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Puts an archive of the given members in the place of SATNet's; gives the folder of fetched files."""

    def make(features: bytes, labels: bytes) -> Path:
        members = {"features.pt": features, "labels.pt": labels}
        path = tmp_path / FILES["satnet_sudoku"].path
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(f"sudoku/{name}", content)
            archive.writestr("sudoku/features_img.pt", b"images")
        known = {name: git_blob_id(content) for name, content in members.items()}
        monkeypatch.setitem(FILES, "satnet_sudoku", replace(FILES["satnet_sudoku"], members=known))
        return tmp_path

    return make


def parameters(**splits: int) -> SatnetSudoku:
    return SatnetSudoku(kind="satnet_sudoku", splits=Splits(**splits))


@pytest.mark.parametrize("new", [True, False], ids=["zip format", "format of torch before 1.6"])
def test_training_boards_are_the_first_and_validation_boards_the_last(write, new):
    questions, answers = boards()
    raw = write(saved(one_hot(questions), new), saved(one_hot(answers), new))
    splits = build("sudoku", TASK, parameters(train=6, validation=3), raw)
    np.testing.assert_array_equal(splits["train"].questions, questions[:6])
    np.testing.assert_array_equal(splits["train"].answers, answers[:6])
    np.testing.assert_array_equal(splits["validation"].questions, questions[7:])
    np.testing.assert_array_equal(splits["validation"].answers, answers[7:])


def test_the_boards_say_where_they_come_from_with_the_checksum_of_the_archive(write):
    questions, answers = boards()
    raw = write(saved(one_hot(questions)), saved(one_hot(answers)))
    splits = build("sudoku", TASK, parameters(train=1), raw)
    assert list(splits) == ["train"]
    assert splits["train"].origin == "original"
    source = splits["train"].source
    assert f"features.pt with git blob id {FILES['satnet_sudoku'].members['features.pt']}" in source
    assert source.endswith(f"SHA-256 of the archive {sha256_of(raw / FILES['satnet_sudoku'].path)}")


def test_more_boards_than_there_are_is_an_error(write):
    questions, answers = boards()
    raw = write(saved(one_hot(questions)), saved(one_hot(answers)))
    with pytest.raises(DataError, match=r"dataset sudoku: 11 boards, expected at most 10 \(satnet/sudoku.zip"):
        build("sudoku", TASK, parameters(train=6, validation=5), raw)


def changed(tensor: torch.Tensor, *at: int, to: float) -> bytes:
    tensor = tensor.clone()
    tensor[at] = to
    return saved(tensor)


QUESTIONS, ANSWERS = map(one_hot, boards())
FULL = torch.zeros(COUNT, 4, 4, 4) + torch.tensor([1.0, 0, 0, 0])


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (saved(QUESTIONS[0]), saved(ANSWERS), "features.pt: a tensor of shape [4, 4, 4], expected [boards, 4, 4, 4]"),
        (saved(QUESTIONS[:9]), saved(ANSWERS), "9 boards in features.pt, but 10 in labels.pt"),
        (
            changed(ANSWERS, 3, 1, 2, to=1),
            saved(ANSWERS),
            "features.pt, board 4, row 2, column 3: [1.0, 1.0, 1.0, 1.0], ",
        ),
        (changed(ANSWERS, 3, 1, 2, 0, to=0.5), saved(ANSWERS), "features.pt, board 4, row 2, column 3: [0.5, "),
        (changed(ANSWERS, 3, 1, 2, 0, to=torch.nan), saved(ANSWERS), "features.pt, board 4, row 2, column 3: [nan, "),
        (saved(QUESTIONS), changed(ANSWERS, 2, 0, 0, to=0), "labels.pt, board 3: the answer has a blank"),
        (saved(QUESTIONS), saved(ANSWERS.roll(1, 0)), "labels.pt, board 1: the answer contradicts its question"),
        (
            saved(torch.zeros_like(FULL)),
            saved(FULL),
            "labels.pt, board 1: the answer breaks the rules of the task (1111",
        ),
        (saved({"a": 1}), saved(ANSWERS), "features.pt: no saved tensor (AttributeError)"),
        (saved(QUESTIONS)[:-20], saved(ANSWERS), "features.pt: no saved tensor ("),
        (b"<html>", saved(ANSWERS), "features.pt: no saved tensor (UnpicklingError)"),
    ],
)
def test_a_wrong_tensor_is_named_with_its_board(write, features, labels, message):
    with pytest.raises(DataError, match=re.escape(message)):
        build("sudoku", TASK, parameters(train=1), write(features, labels))


class Harmful:
    """What runs a command when it is unpickled."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("write_pickle", [pickle.dumps, saved, lambda value: saved(value, new=False)])
def test_code_in_an_archive_is_refused_and_not_executed(write, tmp_path, write_pickle):
    content = write_pickle(Harmful(tmp_path / "executed"))
    with pytest.raises(DataError, match=r"features.pt: no saved tensor \(UnpicklingError\); nothing else is loaded"):
        build("sudoku", TASK, parameters(train=1), write(content, saved(ANSWERS)))
    assert not (tmp_path / "executed").exists()


def test_a_member_that_is_not_the_published_one_is_not_even_loaded(write, monkeypatch):
    raw = write(saved(QUESTIONS), saved(ANSWERS))
    other = replace(FILES["satnet_sudoku"], members={**FILES["satnet_sudoku"].members, "labels.pt": "0" * 40})
    monkeypatch.setitem(FILES, "satnet_sudoku", other)
    with pytest.raises(SourceError, match=r"sudoku.zip: member labels.pt has git blob id \w{40}, expected 0{40}"):
        build("sudoku", TASK, parameters(train=1), raw)


@pytest.mark.parametrize("splits", [{"train": 9_001}, {"validation": 1_001}, {"test": 1}])
def test_impossible_splits_are_refused_early(splits):
    [(name, count)] = splits.items()
    with pytest.raises(ParameterError, match=f"splits.{name} = {count}: expected at most"):
        parameters(**splits)


@pytest.mark.skipif(not os.environ.get("CVOTING_MIRROR"), reason="CVOTING_MIRROR names no mirror")
def test_the_real_archive_gives_the_papers_splits():
    raw = Path(os.environ["CVOTING_MIRROR"].split(os.pathsep)[0])
    if not (raw / FILES["satnet_sudoku"].path).exists():
        pytest.skip(f"the mirror has no {FILES['satnet_sudoku'].path}")
    task = Sudoku(name="sudoku", box=(3, 3))
    splits = build("sudoku", task, parameters(train=9_000, validation=1_000), raw)
    givens = np.concatenate([(puzzles.questions > 0).sum(axis=1) for puzzles in splits.values()])
    assert (len(givens), givens.min(), givens.max()) == (10_000, 31, 42)
