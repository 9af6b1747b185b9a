"""A published file: where it comes from, and how a copy is checked."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cvoting.data.archives import git_blob_id, read_member
from cvoting.data.puzzles import DataError
from cvoting.errors import CvotingError


class SourceError(CvotingError):
    """A source file that is missing, or not the one its checksum promises."""


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """One published file.

    Attributes:
        name: how parameters and messages call it.
        path: where it lies inside a mirror folder, and inside the folder of fetched files.
        page: the web page to get it from by hand.
        urls: the addresses it is downloaded from, in this order.
        bytes: its size, and whether that is known to the byte.
        sha256: its checksum, 64 hex digits; None where none is published, and then its members are checked.
        members: git blob ids, 40 hex digits, of members of an archive by their base names.
        reexport: whether checksum and size are those of a re-export, so that the published file may have others.
        replaced: the checksum in whose place a user's parameter put `sha256`.
        about: what it is, in a few words.
        format: how it is written.
        licence: what its publisher says of its licence.
    """

    name: str
    path: str
    page: str
    urls: tuple[str, ...] = ()
    bytes: int
    exact_bytes: bool = True
    sha256: str | None
    members: Mapping[str, str] = field(default_factory=dict)
    reexport: bool = False
    replaced: str | None = None
    about: str
    format: str = ""
    licence: str = "not stated"

    @property
    def size(self) -> str:
        """Its size, as messages and the data card show it."""
        return f"{self.bytes:,} bytes" if self.exact_bytes else f"about {self.bytes / 1e6:g} MB"

    @property
    def identity(self) -> str:
        """What decides its content: its checksum, or those of its members."""
        return self.sha256 or " ".join(self.members.values())

    @property
    def citation(self) -> str:
        """How products made from the file name it; one without a checksum is named by `sha256_of` besides."""
        if self.sha256 is None:
            return f"{self.path} ({', '.join(f'{m} with git blob id {i}' for m, i in self.members.items())})"
        instead = f", accepted by a parameter in place of {self.replaced}" if self.replaced else ""
        return f"{self.path} (SHA-256 {self.sha256}{instead})"

    def accepting(self, sha256: str | None) -> "SourceFile":
        """The same file with a checksum that a user trusts in place of the re-export's; None changes nothing.

        Raises:
            SourceError: when the published checksum is known, or the new one is no SHA-256.
        """
        if sha256 is None or sha256 == self.sha256:
            return self
        if not self.reexport:
            raise SourceError(f"{self.name}: no other checksum is accepted, the published one is known: leave it out")
        if not re.fullmatch("[0-9a-f]{64}", sha256):
            raise SourceError(f"{self.name}: checksum {sha256!r}, expected the 64 hex digits of a SHA-256")
        return replace(self, sha256=sha256, replaced=self.sha256)

    def problem(self, path: Path) -> str | None:
        """What is wrong with a copy; None for a right one."""
        if self.sha256 is None:
            try:
                for member in self.members:
                    checked_member(self, path, member)
            except (SourceError, DataError) as error:
                return str(error).removeprefix(f"{path}: ")
            return None
        found = sha256_of(path)
        if found == self.sha256:
            return None
        sizes = f"{path.stat().st_size:,} bytes", self.size if self.replaced is None else "accepted by a parameter"
        trust = f"; if you trust this file, say so in the dataset: `checksums: {{{self.name}: {found}}}`"
        return f"SHA-256 {found} ({sizes[0]}), expected {self.sha256} ({sizes[1]}){trust if self.reexport else ''}"


def checked_member(source: SourceFile, path: Path, name: str) -> bytes:
    """The content of a member of an archive, if it is the published one.

    Args:
        source: knows the member's git blob id.
        path: the archive.
        name: the member's base name.

    Raises:
        DataError: when there is no such member.
        SourceError: when it is another.
    """
    content = read_member(path, name)
    found, expected = git_blob_id(content), source.members[name]
    if found != expected:
        raise SourceError(f"{path}: member {name} has git blob id {found}, expected {expected}")
    return content


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, as hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
