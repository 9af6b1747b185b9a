"""One file over HTTP, into a part file that outlives interruptions: the next transfer goes on where this one ended."""

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from cvoting.atomic import WriteError
from cvoting.progress import Progress

#: Seconds without a byte after which a connection counts as lost.
TIMEOUT = 30.0
#: Seconds to wait before each new attempt; an attempt that brought something starts the list again.
PAUSES = (1.0, 2.0, 4.0, 8.0)
#: Answers of a server that will be able to serve later.
BUSY = (408, 425, 429, 500, 502, 503, 504)


class TransferError(Exception):
    """Why an address gave nothing."""


class _Interrupted(Exception):
    """A transfer that may go on after a pause; `after` is how long the server wants to be left alone."""

    def __init__(self, reason: str, after: float = 0.0):
        self.after = after
        super().__init__(reason)


def transfer(url: str, part: Path, label: str, pauses: Sequence[float] = PAUSES, timeout: float = TIMEOUT) -> None:
    """Bring what is missing of a file.

    Args:
        url: its address.
        part: holds what has been received of it, and afterwards all.
        label: what lines of progress call it.
        pauses: seconds before each further attempt that follows one without a new byte.
        timeout: seconds without a byte after which a connection counts as lost.

    Raises:
        TransferError: when the address gives nothing, or not all of it; `part` keeps what there is.
        WriteError: when it cannot be written.
    """
    waits = iter(pauses)
    while True:
        before = _size(part)
        try:
            return _attempt(url, part, label, timeout)
        except _Interrupted as interruption:
            if _size(part) > before:
                waits = iter(pauses)
            if (wait := next(waits, None)) is None:
                raise TransferError(f"{interruption}, {len(pauses) + 1} times without a new byte") from interruption
            time.sleep(max(wait, min(interruption.after, 60.0)))


def _attempt(url: str, part: Path, label: str, timeout: float) -> None:
    """One connection, that asks for the rest of the part file."""
    start = _size(part)
    headers = {"User-Agent": "cvoting", **({"Range": f"bytes={start}-"} if start else {})}
    try:
        with _open(urllib.request.Request(url, headers=headers), timeout) as response:
            if response.status == http.client.PARTIAL_CONTENT:
                if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                    part.unlink()
                    raise _Interrupted("the server answered with another part of the file")
            else:
                start = 0
            _receive(response, part, start, label)
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and start:
            if re.fullmatch(rf"bytes \*/{start}", error.headers.get("Content-Range", "")):
                return  # nothing is missing
            part.unlink()
            raise _Interrupted("the server's file is shorter than what was received") from error
        reason = f"HTTP {error.code} {error.reason}"
        if error.code in BUSY:
            after = error.headers.get("Retry-After", "")
            raise _Interrupted(reason, float(after) if after.isdecimal() else 0.0) from error
        raise TransferError(reason) from error


def _open(request: urllib.request.Request, timeout: float) -> http.client.HTTPResponse:
    """The server's answer; tells a network that is not there from one that failed."""
    try:
        return urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError as error:
        reason = error.reason
        if isinstance(reason, ConnectionError) and not isinstance(reason, ConnectionRefusedError):
            raise _Interrupted(f"connection lost ({_named(reason)})") from error
        # No name, no route, no answer, or a wrong certificate: most likely there is no network, and users without one
        # should not have to wait.
        raise TransferError(f"no connection ({_named(reason)})") from error
    except (OSError, http.client.HTTPException) as error:
        raise _Interrupted(f"connection lost ({_named(error)})") from error


def _receive(response: http.client.HTTPResponse, part: Path, start: int, label: str) -> None:
    """Append the body of a response to the part file, or begin it anew when `start` is 0."""
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdecimal() else None
    progress = Progress(f"fetching {label}", total // 1000, start // 1000, "kB") if total else None
    try:
        with open(part, "r+b" if start else "wb") as file:
            file.seek(start)
            while block := _read(response):
                file.write(block)
                if progress and (new := file.tell() // 1000 - progress.done):
                    progress.step(new)
            received = file.tell()
    except OSError as error:
        reason = error.strerror or error
        raise WriteError(f"{part}: not written ({reason}): make room or permit it; the same command goes on") from error
    if total is not None and received < total:
        raise _Interrupted(f"connection lost after {received:,} of {total:,} bytes")


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read1(2**18)
    except (OSError, http.client.HTTPException) as error:
        raise _Interrupted(f"connection lost ({_named(error)})") from error


def _named(error: object) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
