"""How the sections of the benchmark measure, and the form of what they write.

A result file is JSON: `form`, `date`, `commit` (with + where the checkout was edited), `machine`, `cores`, `threads`,
`versions`, `quick`, perhaps a `note`, and `sections`, by name lists of rows.  Every row has `what`, `value` and `unit`.
Rows that are timed have besides `seconds` (the median), `fastest`, `slowest`, `repetitions`, and `yardsticks`: the
rates of known work, measured in turn with the row in the same process, so that what else the machine does weighs on
both and ratios can be compared between machines.
"""

import os
import platform
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cvoting.run_record import versions

ROOT = Path(__file__).parents[1]
FORM = 1
#: Seconds that works which are compared may take together, warm-up aside; each is run at least `FEWEST` times.
BUDGET, FEWEST, MOST = 4.0, 3, 15

Row = dict[str, object]


@dataclass(frozen=True)
class Settings:
    """How much is measured.

    Attributes:
        threads: of torch.
        quick: whether all sizes are tiny and everything runs once: numbers without a meaning, for tests.
        folder: for files that are measured with.
    """

    threads: int
    quick: bool
    folder: Path


@dataclass(frozen=True)
class Work:
    """Something to time.

    Attributes:
        what: its name.
        run: does it once.
        amount, unit: how much of what that is.
    """

    what: str
    run: Callable[[], object]
    amount: float
    unit: str

    def rate(self, seconds: float) -> Row:
        """What is done in a second, where it is done once in so many seconds."""
        return {"value": self.amount / seconds, "unit": f"{self.unit}/s"}


def seconds(run: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(works: Sequence[Work], yardsticks: Sequence[Work], settings: Settings) -> list[Row]:
    """Time some works and yardsticks in turn, time and again: one row for each work.

    Args:
        works: what is measured.
        yardsticks: what it is measured against; the page shows the ratio to the first.
        settings: whether once is enough.
    """
    everything = [*works, *yardsticks]
    once = sum(seconds(work.run) for work in everything)
    repetitions = 1 if settings.quick else max(FEWEST, min(MOST, int(BUDGET / once)))
    times = list(zip(*([seconds(work.run) for work in everything] for _ in range(repetitions)), strict=True))
    medians = [statistics.median(column) for column in times]
    known = {w.what: w.rate(m) for w, m in zip(yardsticks, medians[len(works) :], strict=True)}
    return [
        {"what": work.what}
        | work.rate(median)
        | {"seconds": median, "fastest": min(column), "slowest": max(column), "repetitions": repetitions}
        | {"yardsticks": known}
        for work, median, column in zip(works, medians, times, strict=False)
    ]


def about(settings: Settings) -> Row:
    """What a result file says of the machine and the code."""
    return {
        "form": FORM,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "commit": commit(),
        "machine": processor(),
        "cores": os.cpu_count(),
        "threads": settings.threads,
        "versions": versions(),
        "quick": settings.quick,
    }


def commit() -> str:
    """The commit of the checkout, with + where tracked files were edited since, other than documents."""
    head = _git("rev-parse", "--short=8", "HEAD") or "unknown"
    return head + "+" * bool(_git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs", ":!*.md"))


def processor() -> str:
    """The processor's name, where the system tells."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return named[1] if named else platform.processor() or platform.machine()


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
