"""Reads the puzzle sets that an audit is asked for.

A file is refused when it cannot be read.  Wrong answers are read: to count them is what the audit is for.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cvoting.data.parsers import CSV_HEADER, read_hugging_face_csv, read_own_csv, read_rrn_csv
from cvoting.data.puzzles import DataError, Puzzles
from cvoting.data.source_file import sha256_of
from cvoting.data.sources import FILES
from cvoting.tasks.base import Task


def read_sets(paths: Sequence[Path], task: Task) -> tuple[dict[str, Puzzles], dict[str, str]]:
    """The sets that can be read, and why the others cannot; both by the path of the file.

    Args:
        paths: the files; one that is named twice is read once.
        task: the task of their puzzles.
    """
    sets, refused = {}, {}
    for path in dict.fromkeys(paths):
        try:
            sets[str(path)] = read_set(path, task)
        except (DataError, OSError) as error:
            refused[str(path)] = str(error)
    return sets, refused


def read_set(path: Path, task: Task) -> Puzzles:
    """The puzzles of a file: what the project has built (.npz), or a CSV file as HRM, RRN or the user writes them.

    Args:
        path: the file.
        task: the task of its puzzles.

    Raises:
        DataError: when the file is damaged, or its questions are not of the task.
        OSError: when there is no such file.
    """
    if path.suffix != ".npz":
        return _read_csv(path, task)
    puzzles = Puzzles.load(path)
    cells = puzzles.questions.shape[1]
    if not len(puzzles) or cells != task.cells:
        found = f"{len(puzzles)} puzzles x {cells} cells"
        raise DataError(f"{path}: {found}, expected at least 1 x {task.cells} ({task})")
    if puzzles.questions.max() >= task.vocabulary:
        most = task.vocabulary - 1
        raise DataError(f"{path}: token {puzzles.questions.max()} in a question, expected at most {most} ({task})")
    return puzzles


def _read_csv(path: Path, task: Task) -> Puzzles:
    """The puzzles of a CSV file, whose first line tells its layout."""
    digest = sha256_of(path)
    known = {file.sha256: file.citation for file in FILES.values()}.get(digest)
    source = known or f"none of the files the project knows (SHA-256 {digest})"
    with open(path, encoding="latin-1") as stream:
        first = stream.readline().rstrip().split(",")
    if first == CSV_HEADER:
        puzzles = read_hugging_face_csv(path, task, source, judge=False)
    elif len(first) == 2 and len(first[0]) == task.cells:
        puzzles = read_rrn_csv(path.read_bytes(), str(path), task, source, judge=False)
    else:
        puzzles = read_own_csv(path, task, source, judge=False)
    return puzzles if known else replace(puzzles, origin="own")
