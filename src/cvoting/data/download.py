"""Fetches published files: from mirror folders first, then from their addresses."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from cvoting.atomic import atomic_path
from cvoting.data.source_file import SourceError, SourceFile
from cvoting.data.transfer import TransferError, transfer

#: Environment variable with more mirror folders, separated as in PATH.
MIRROR_VARIABLE = "CVOTING_MIRROR"


def mirror_folders(mirrors: Sequence[str | Path]) -> list[Path]:
    """The folders to search, in order: the given ones, then those of the environment variable."""
    named = os.environ.get(MIRROR_VARIABLE, "").split(os.pathsep)
    return [Path(m).expanduser() for m in [*mirrors, *(n for n in named if n)]]


def fetch(
    source: SourceFile,
    mirrors: Sequence[str | Path],
    destination: str | Path,
    bring: Callable[[str, Path, str], None] = transfer,
) -> None:
    """Bring the first right copy of a file; a right copy that is there already stays.

    Every copy is checked before it takes its place, so it appears whole or not at all.  What has been received of a
    download waits in `<destination>.part` for the next attempt.

    Args:
        source: the file.
        mirrors: folders searched before those of the environment variable CVOTING_MIRROR.
        destination: the path of the copy.
        bring: downloads an address into a part file, with a label for lines of progress.

    Raises:
        SourceError: when no folder and no address has the right file; whatever lies at `destination` is left as it is.
        WriteError: when the copy cannot be written.
    """
    destination = Path(destination)
    if destination.is_file() and source.problem(destination) is None:
        return
    folders = [folder / source.path for folder in mirror_folders(mirrors)]
    tried = [] if folders else [f"searched no folder: no mirrors given, {MIRROR_VARIABLE} not set"]
    for candidate in folders:
        if (problem := _copy(source, candidate, destination)) is None:
            return
        tried.append(f"searched {candidate}: {problem}")
    for url in source.urls:
        if (problem := _download(source, url, destination, bring)) is None:
            return
        tried.append(f"tried {url}: {problem}")
    raise SourceError(
        f"{source.path}: no right copy found ({source.about})\n"
        + "".join(f"  {line}\n" for line in tried)
        + f"  Get it from {source.page} and put it at <folder>/{source.path}, where <folder> is any folder; then name "
        f"that folder in `mirrors` of the study or in the environment variable {MIRROR_VARIABLE}."
    )


def _copy(source: SourceFile, candidate: Path, destination: Path) -> str | None:
    """Copy a file from a mirror; what was wrong with it, or None."""
    if not candidate.is_file():
        return "no such file"
    try:
        with atomic_path(destination) as temporary:
            shutil.copyfile(candidate, temporary)
            if problem := source.problem(temporary):
                raise SourceError(f"{problem}: the file is damaged or another; delete it and fetch it again")
    except SourceError as error:
        return str(error)
    return None


def _download(source: SourceFile, url: str, destination: Path, bring: Callable[[str, Path, str], None]) -> str | None:
    """Download a file; what was wrong, or None."""
    part = destination.with_name(f"{destination.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(2):
        resumed = part.exists()
        try:
            bring(url, part, source.path)
        except TransferError as error:
            return str(error)
        problem = source.problem(part)
        if problem is None:
            with atomic_path(destination) as temporary:
                os.replace(part, temporary)
            return None
        part.unlink()
        # The beginning may have come from another address, or from an earlier version of the file.
        if not resumed:
            break
    return f"{problem}; what was received is deleted"
