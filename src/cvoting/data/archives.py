"""Members of zip archives, read without unpacking anything to disk."""

import hashlib
import lzma
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from cvoting.data.puzzles import DataError

#: The largest member that is read: a damaged or hostile archive can claim any size.
MEMBER_BYTES = 2**30
#: What zipfile and its decompressors raise for bytes that are no archive.
BROKEN = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError,
    IndexError, KeyError, OverflowError, NotImplementedError, RuntimeError, OSError,
)  # fmt: skip


def read_member(path: str | Path, name: str) -> bytes:
    """The content of the one member of that base name, in whatever folder of the archive it lies.

    Args:
        path: the zip archive.
        name: the member's name without folders.

    Raises:
        DataError: when the file is no readable archive, has no or several such members, or one too large.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if not m.is_dir()]
            found = [m for m in members if PurePosixPath(m.filename).name == name]
            if len(found) != 1:
                there = ", ".join(sorted({PurePosixPath(m.filename).name for m in members})[:10]) or "nothing"
                raise DataError(f"{path}: {len(found)} members {name}, expected one; the archive holds {there}")
            if found[0].file_size > MEMBER_BYTES:
                raise DataError(
                    f"{path}: member {name} has {found[0].file_size:,} bytes, expected at most {MEMBER_BYTES:,}"
                )
            return archive.read(found[0])
    except DataError:
        raise
    except BROKEN as error:
        raise DataError(f"{path}: not a readable zip archive ({error})") from error


def git_blob_id(content: bytes) -> str:
    """The id git gives a file of that content: SHA-1 of "blob <size>", a zero byte, and the content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
