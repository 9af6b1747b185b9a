"""Peak resident memory, each of a process of its own: rollouts, their votes, training, and tables of many candidates.

Memory should depend neither on the number of candidates nor on that of puzzles, but for what a table holds of each
puzzle (`outcomes`).
"""

import json
import math
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from cases import Case
from cvoting.tally import ESTIMATORS
from cvoting.voting import available
from harness import Row, Settings
from made_up_bank import BOX, SCORES, TASK, votes_up_to

#: Of the rollouts: the model, rollouts at once, and puzzles and candidates of the banks.
ROLLED_OUT, CHUNK = Case("toy", "akorn-sudoku", 1), 256
BANKS = ((64, 16), (64, 256), (64, 4096), (8, 256), (512, 256))
QUICK_BANKS = ((2, 4),)
TRAINED = (
    Case("paper", "itrsa-sudoku_extreme", 16),
    Case("paper", "itrsa-sudoku_extreme", 16, truncated=False),
    Case("paper", "itrsa-maze_hard", 1),
    Case("paper", "itrsa-maze_hard", 1, truncated=False),
)
QUICK_TRAINED = (Case("toy", "itrsa-sudoku", 2),)
#: Puzzles of the tables of made-up candidates; candidates of each; files of the largest bank.
TABLES, CANDIDATES, SHARDS = (244, 2_441, 24_416), 4096, 8
QUICK_TABLES, QUICK_CANDIDATES = (8,), 4


def measure(settings: Settings) -> list[Row]:
    """MiB at the peak; `imports`: before the work."""
    quick = settings.quick
    rows: list[Row] = []
    for puzzles, candidates in QUICK_BANKS if quick else BANKS:
        rows += bank_rows(puzzles, candidates, settings.folder)
    for case in QUICK_TRAINED if quick else TRAINED:
        detach_step = case.training.detach_step
        gradient = f"gradient from step {detach_step + 1}" if detach_step else "gradient through all steps"
        rows.append(peak(f"training step, {case.name}, {gradient}", settings.folder, "train", case=asdict(case)))
    for puzzles in QUICK_TABLES if quick else TABLES:
        rows.append(table_row(puzzles, QUICK_CANDIDATES if quick else CANDIDATES, settings.folder))
    return rows


def bank_rows(puzzles: int, candidates: int, folder: Path) -> list[Row]:
    """Rollouts of a bank, and its voting table.

    Args:
        puzzles, candidates: of the bank.
        folder: for the files.
    """
    name = f"{puzzles} puzzles x {candidates:,} candidates"
    bank = {"case": asdict(ROLLED_OUT), "puzzles": puzzles, "candidates": candidates, "chunk": CHUNK}
    rollouts = peak(f"rollouts, {name}", folder, "rollouts", **bank)
    return [rollouts, peak(f"voting table, {name}", folder, "vote", candidates=candidates, box=ROLLED_OUT.task.box)]


def table_row(puzzles: int, candidates: int, folder: Path) -> Row:
    """The voting table of a made-up bank, which is written and removed.

    Args:
        puzzles, candidates: of the bank.
        folder: for the files.
    """
    place = folder / "made-up"
    place.mkdir()
    size = {"puzzles": puzzles, "candidates": candidates}
    peak("made", place, "make", shards=min(SHARDS, puzzles), **size)
    nbytes = sum(path.stat().st_size for path in place.glob("*.parquet"))
    name = f"voting table, {puzzles * candidates:.0e} made-up candidates of {puzzles:,} puzzles"
    row = peak(name, place, "vote", candidates=candidates, box=BOX)
    shutil.rmtree(place)
    params = votes_up_to(candidates)
    outcomes = (len(available(params.votes, SCORES)), len(ESTIMATORS), len(TASK.metrics) + 1, len(params.K))
    return row | {"outcomes": 8 * puzzles * math.prod(outcomes) / 2**20, "files": nbytes / 2**20}


def peak(what: str, folder: Path, job: str, **options: object) -> Row:
    """What a job takes at its peak.

    Args:
        what: names the row.
        folder: where the job reads and writes.
        job: of `memory_jobs`.
        options: of the job.
    """
    words = [sys.executable, str(Path(__file__).with_name("memory_jobs.py")), job, str(folder), json.dumps(options)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{what}: {words} ended with {done.returncode}:\n{done.stderr}")
    return {"what": what, "unit": "MiB"} | json.loads(done.stdout.splitlines()[-1])
