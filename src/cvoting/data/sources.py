"""The third-party files datasets are made from: where they come from, and how a copy is checked.

The project ships none of them, because their redistribution licence is not stated.
"""

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cvoting.atomic import atomic_path
from cvoting.errors import CvotingError

#: Environment variable with more mirror folders, separated as in PATH.
MIRROR_VARIABLE = "CVOTING_MIRROR"


class SourceError(CvotingError):
    """A source file that is missing, or not the one its checksum promises."""


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """One published file.

    Attributes:
        path: where it lies inside a mirror folder, and inside the folder of fetched files.
        url: the address it is published at.
        bytes: its size.
        sha256: its checksum, 64 hex digits.
        about: what it is, in a few words.
    """

    path: str
    url: str
    bytes: int
    sha256: str
    about: str

    @property
    def citation(self) -> str:
        """How products made from the file name it."""
        return f"{self.path} (SHA-256 {self.sha256})"


FILES = {
    "sudoku_extreme_1k_train": SourceFile(
        path="sudoku-extreme-1k/train.csv",
        url="https://huggingface.co/datasets/sapientinc/sudoku-extreme-1k",
        bytes=188_495,
        sha256="887dea10daba811d3a6a565bb138e31ef60a95fdb57045633e4762fc46357cbb",
        about="Sudoku-extreme-1k, 1,000 training puzzles; a re-export, the hub's own checksum is unknown",
    ),
    "sudoku_extreme_1k_test_hard": SourceFile(
        path="sudoku-extreme-1k/test_hard.csv",
        url="https://huggingface.co/datasets/sapientinc/sudoku-extreme-1k",
        bytes=3_774_470,
        sha256="5f9549fb2f38e2cbcb9a515733fdfb19d10c599f21d5c9e82ec20bca28e78c2c",
        about="Sudoku-extreme-1k, 20,000 test puzzles, some easy (rating 0); a re-export like its training file",
    ),
    "royle_17_clues": SourceFile(
        path="rrn/sudoku17.txt",
        url="https://staffhome.ecm.uwa.edu.au/~00013890/sudoku17",
        bytes=4_030_384,
        sha256="d85a960fd45b7f52303b79f30744495620303943a34f81c949d8ae941ac6f22d",
        about="Gordon Royle's list of 49,151 Sudoku puzzles with 17 clues",
    ),
}


def source_file(name: str) -> SourceFile:
    """The file of that name.

    Raises:
        SourceError: with the known names.
    """
    if name not in FILES:
        raise SourceError(f"unknown source file {name!r}: expected one of {', '.join(FILES)}")
    return FILES[name]


def mirror_folders(mirrors: Sequence[str | Path]) -> list[Path]:
    """The folders to search, in order: the given ones, then those of the environment variable."""
    named = os.environ.get(MIRROR_VARIABLE, "").split(os.pathsep)
    return [Path(m).expanduser() for m in [*mirrors, *(n for n in named if n)]]


def fetch(source: SourceFile, mirrors: Sequence[str | Path], destination: str | Path) -> None:
    """Copy the first right copy of a file from the mirror folders; a right copy that is there already stays.

    The copy is checked before it takes its place, so it appears whole or not at all.

    Args:
        source: the file.
        mirrors: folders searched before those of the environment variable CVOTING_MIRROR.
        destination: the path of the copy.

    Raises:
        SourceError: when no folder has the right file; whatever lies at `destination` is left as it is.
    """
    destination = Path(destination)
    if destination.is_file() and _digest(destination) == source.sha256:
        return
    searched = []
    for folder in mirror_folders(mirrors):
        candidate = folder / source.path
        if not candidate.is_file():
            searched.append(f"{candidate}: no such file")
            continue
        try:
            with atomic_path(destination) as temporary:
                shutil.copyfile(candidate, temporary)
                _check(source, temporary, candidate)
        except SourceError as error:
            searched.append(str(error))
        else:
            return
    raise SourceError(
        f"{source.path}: no right copy found ({source.about})\n"
        + "".join(f"  searched {s}\n" for s in searched or [f"no folder: no mirrors given, {MIRROR_VARIABLE} not set"])
        + f"  Get it from {source.url} and put it at <folder>/{source.path}, where <folder> is any folder; then name "
        f"that folder in `mirrors` of the study or in the environment variable {MIRROR_VARIABLE}."
    )


def verified(source: SourceFile, raw: str | Path) -> Path:
    """The path of a fetched file, after its checksum has been compared.

    Args:
        source: the file.
        raw: the folder of fetched files.

    Raises:
        SourceError: when it is missing or another.
    """
    path = Path(raw) / source.path
    if not path.is_file():
        raise SourceError(f"{path}: no such file, expected {source.about}: fetch it first")
    _check(source, path, path)
    return path


def _check(source: SourceFile, path: Path, shown: Path) -> None:
    """Raise when the file at `path` is not the source; the message calls it `shown`."""
    found = _digest(path)
    if found != source.sha256:
        raise SourceError(
            f"{shown}: SHA-256 {found} ({path.stat().st_size:,} bytes), expected {source.sha256} ({source.bytes:,} "
            "bytes): the file is damaged or another; delete it and fetch it again"
        )


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
