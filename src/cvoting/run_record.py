"""What a job leaves beside its output about how it came to be: `<file>.run.json`, which no rule reads."""

import hashlib
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cvoting.atomic import atomic_path

#: What results could depend on.
PACKAGES = ("torch", "numpy", "pandas", "pyarrow", "numba", "scipy", "matplotlib")


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that results could depend on, as far as they are installed."""
    return {"python": platform.python_version(), **{p: v for p in PACKAGES if (v := _version(p))}}


@contextmanager
def record_run(output: Path, wanted: bool = True, **details: Any) -> Iterator[None]:
    """Write `<output>.run.json` when the block ends well: commit, time, host, versions, wall time and `details`.

    Args:
        output: what the block makes.
        wanted: whether this process is the one that writes it.
        details: what else to say.
    """
    started, clock = datetime.now(UTC), time.monotonic()
    yield
    if not wanted:
        return
    record = {
        "command": sys.argv[1:],
        "commit": _commit(),
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - clock, 3),
        "host": platform.node(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": versions(),
        **details,
    }
    with atomic_path(f"{output}.run.json") as temporary:
        temporary.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def content_key(*parts: str | Path) -> str:
    """A name for work that depends on some texts and on the contents of some files."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            with open(part, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        else:
            digest.update(hashlib.sha256(part.encode()).digest())
    return digest.hexdigest()[:16]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the code that runs, with '+' when it was edited since; None outside a git checkout."""
    here = Path(__file__).parent
    try:
        text = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            cwd=here, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return None
    return text.strip()
