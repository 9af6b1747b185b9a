"""Files appear under their name whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cvoting.errors import CvotingError

#: What helps, by error number.
REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "allow writing there"),
}


class WriteError(CvotingError, OSError):
    """A file that cannot be written: no room, no permission, or no such place."""


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`, moved onto it when the block ends without an error.

    The file is flushed to disk before the move: after a power cut there is the old file or the new one.  When the block
    fails (a full disk, an interrupt), the temporary file is removed and `path` is as it was.

    Raises:
        WriteError: when the file system refuses; errors of the block about other files pass as they are.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if isinstance(error, CvotingError) or (temporary and _is_about_another(error, temporary)):
            raise
        raise _refused(path, error) from error
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


def _is_about_another(error: OSError, temporary: Path) -> bool:
    """Whether an error names files, and not the one that is being written."""
    named = {str(name) for name in (error.filename, error.filename2) if name is not None}
    return bool(named) and str(temporary) not in named


def _refused(path: Path, error: OSError) -> WriteError:
    kept = "what was there before is unchanged" if path.exists() else "nothing was left under that name"
    reason = os.strerror(error.errno) if error.errno else str(error)
    remedy = REMEDIES.get(error.errno or 0, "choose another place")
    refused = WriteError(f"{path}: not written ({reason}); {kept}: {remedy}, and run the command again")
    refused.errno = error.errno
    return refused


def _umask() -> int:
    """The process's file-mode mask; mkstemp makes private files, results are for everyone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
