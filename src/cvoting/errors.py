"""The base of every error that the user's input can cause, and what a user is told of an error."""

import re


class CvotingError(Exception):
    """Something outside the code is wrong: what was found, what was expected, what to do.

    `python -m cvoting` prints the message alone; any other exception is a bug and keeps its traceback.
    """


def message(error: BaseException) -> str | None:
    """What a user is told of an error that input, files or the machine caused; None for a bug."""
    if isinstance(error, CvotingError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.strerror}: {str(error.filename)!r}" if error.filename is not None else str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; every file is whole or as it was, and the same command does what is left"
    # torch has no class of its own for the memory of a CPU.
    if isinstance(error, MemoryError) or re.search("out of memory|can't allocate memory", str(error)):
        found = (str(error) or "no details").splitlines()[0]
        return f"not enough memory ({found}): lower `chunk` of a bank or `batch` of a training"
    return None
