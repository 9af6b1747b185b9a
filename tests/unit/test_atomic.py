"""Files appear whole or not at all."""

import errno
import os

import numpy as np
import pytest

from cvoting.atomic import WriteError, atomic_path
from cvoting.data.puzzles import Puzzles


def test_a_file_appears_when_the_block_ends(tmp_path):
    target = tmp_path / "new folder" / "file"
    with atomic_path(target) as temporary:
        temporary.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert os.listdir(target.parent) == ["file"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, error):
    target = tmp_path / "file"
    target.write_text("old")

    def write():
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(type(error)):
        write()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_failed_write_of_a_new_file_leaves_nothing(tmp_path):
    def write():
        with atomic_path(tmp_path / "file") as temporary:
            temporary.write_text("half")
            raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        write()
    assert os.listdir(tmp_path) == []


def test_a_full_disk_while_puzzles_are_saved_keeps_the_earlier_ones(tmp_path, monkeypatch):
    board = np.zeros((1, 16), np.uint8)
    earlier = Puzzles(board, board + 1, "generated", "earlier")
    earlier.save(tmp_path / "test.npz")

    def fill_the_disk(file, **arrays):
        file.write(b"PK half an archive")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", fill_the_disk)
    with pytest.raises(OSError, match="No space left"):
        Puzzles(board, board + 2, "generated", "later").save(tmp_path / "test.npz")
    assert os.listdir(tmp_path) == ["test.npz"]
    assert Puzzles.load(tmp_path / "test.npz").source == "earlier"


def test_files_are_as_readable_as_any_other_new_file(tmp_path):
    with atomic_path(tmp_path / "file") as temporary:
        temporary.write_text("")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "make room"),
        (errno.EACCES, "allow writing there"),
        (errno.EROFS, "allow writing there"),
        (errno.ENAMETOOLONG, "choose another place"),
    ],
)
def test_the_message_names_the_file_the_reason_and_what_helps(tmp_path, number, remedy):
    target = tmp_path / "file"

    def write():
        with atomic_path(target) as temporary:
            raise OSError(number, os.strerror(number), str(temporary))

    expected = f"{target}: not written ({os.strerror(number)}); nothing was left under that name: {remedy}, and run"
    with pytest.raises(WriteError) as error:
        write()
    assert str(error.value).startswith(expected)
    assert error.value.errno == number


def test_an_error_about_another_file_is_not_taken_for_one_of_this_file(tmp_path):
    def write():
        with atomic_path(tmp_path / "file") as temporary:
            temporary.write_bytes((tmp_path / "absent").read_bytes())

    with pytest.raises(FileNotFoundError, match="absent"):
        write()


def test_of_two_nested_writes_the_one_that_failed_is_named(tmp_path):
    def write():
        with atomic_path(tmp_path / "outer"), atomic_path(tmp_path / "inner"):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(WriteError, match="inner: not written"):
        write()
    assert os.listdir(tmp_path) == []
