"""Tells a lock of a running Snakemake from the lock of a killed one.

Snakemake's locks do not say whose they are.  Each of our runs therefore holds a shared advisory lock on a file, which
the operating system lets go when the process ends, however it ends: who gets that lock alone knows that no other run is
alive.
"""

import fcntl
import platform
import shutil
from pathlib import Path
from typing import IO

#: Open, and therefore locked, as long as this process lives.
_held: list[IO[str]] = []


def clear_stale_lock(state: Path) -> bool:
    """Count this process among the live runs; remove Snakemake's locks when no other run of this host is alive.

    Locks left by another host are kept, as advisory locks may not reach across a network: they take
    `snakemake --unlock`.

    Args:
        state: Snakemake's folder.

    Returns:
        Whether an earlier run was killed and left its locks.
    """
    state.mkdir(exist_ok=True)
    file = open(state / "runs.lock", "a+")  # noqa: SIM115 (open until the process ends)
    _held.append(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(file, fcntl.LOCK_SH)
        return False
    file.seek(0)
    here, locks = platform.node(), state / "locks"
    left = locks.is_dir() and any(locks.iterdir())
    stale = left and file.read() == here
    if stale:
        shutil.rmtree(locks)
    if not left:
        file.truncate(0)
        file.write(here)
        file.flush()
    fcntl.flock(file, fcntl.LOCK_SH)
    return stale
