"""What a study costs before anything is run: operations, hours, memory and disk of its jobs, from parameters alone."""

from collections.abc import Mapping, Sequence

import pandas as pd

from cvoting.data.source_file import SourceFile
from cvoting.estimate_jobs import Counts, Job, of_bank, of_run
from cvoting.job_benchmarks import Measured
from cvoting.params.study import Study

#: What lies on disk, as columns name it.
DISK = ("puzzles", "checkpoint", "resume", "answers", "scores", "steps", "logits")
#: Columns of which a total is a sum; of the others it is the largest, or what follows from sums.
SUMMED = ("jobs", "flops", "hours", "disk_gb", *(f"{part}_mb" for part in DISK))
LARGEST = ("flops_of_a_job", "hours_of_a_job", "memory_of_a_job_gb")
#: A row that adds rows up, and the stages that it adds.
TOTALS = {
    "all trainings": ("train", "import"),
    "all rollouts": ("rollouts",),
    "all": ("train", "import", "rollouts", "data"),
}


def estimate(
    study: Study,
    counts: Counts,
    files: Mapping[str, SourceFile],
    rate: float,
    measured: Mapping[str, Measured] | None = None,
) -> pd.DataFrame:
    """A row per run and per bank, one for all puzzles, and totals.

    Columns: stage, name; jobs; flops and hours of the largest job and of all; the most memory of a job; disk in all and
    by what it is of (`DISK`).  With measurements also the hours and the most memory measured, and estimated hours /
    measured ones; blank where a job has none.

    Args:
        study: all parameters.
        counts: how networks are counted.
        files: the published files, by name.
        rate: floating point operations per second of one job.
        measured: what jobs took, by `Job.file`.
    """
    rows = [_row(name, list(of_run(study, name, counts)), rate, measured) for name in study.runs]
    rows += [_row(name, list(of_bank(study, name, counts)), rate, measured) for name in study.banks]
    rows.append(
        {"stage": "data", "name": "puzzles", "jobs": 0, "flops": 0.0, "hours": 0.0, **_disk(_puzzles(study, files))}
    )
    table = pd.DataFrame(rows)
    totals = [_total(name, table[table["stage"].isin(stages)]) for name, stages in TOTALS.items()]
    table = pd.concat([table, pd.DataFrame(totals)], ignore_index=True).astype({"jobs": int})
    if measured is not None:
        table["ratio"] = table["hours"] / table["measured_hours"]
    return table


def _row(name: str, jobs: Sequence[Job], rate: float, measured: Mapping[str, Measured] | None) -> dict[str, object]:
    """What the jobs of a run or a bank cost."""
    flops, largest = sum(job.flops for job in jobs), max(job.flops for job in jobs)
    disk = {part: sum(job.disk.get(part, 0) for job in jobs) for part in DISK}
    row = {
        "stage": jobs[0].stage,
        "name": name,
        "jobs": len(jobs),
        # Not whole numbers, which numpy cuts off at 2^63, 9.2e18.
        "flops_of_a_job": float(largest),
        "flops": float(flops),
        "hours_of_a_job": largest / rate / 3600,
        "hours": flops / rate / 3600,
        "memory_of_a_job_gb": max(job.memory for job in jobs) / 1e9,
        **_disk(disk),
    }
    if measured is not None:
        # A job that was not measured makes the sum a blank, not a smaller number.
        of_jobs = [measured.get(job.file, Measured(float("nan"), float("nan"))) for job in jobs]
        row["measured_hours"] = sum(job.seconds for job in of_jobs) / 3600
        row["measured_memory_gb"] = pd.Series([job.bytes / 1e9 for job in of_jobs]).max(skipna=False)
    return row


def _disk(parts: Mapping[str, int]) -> dict[str, float]:
    return {"disk_gb": sum(parts.values()) / 1e9, **{f"{part}_mb": parts.get(part, 0) / 1e6 for part in DISK}}


def _puzzles(study: Study, files: Mapping[str, SourceFile]) -> dict[str, int]:
    """Bytes of questions and answers before compression, and of the published files that they are made from."""
    published = {name for dataset in study.datasets.values() for name in dataset.source.files}
    built = sum(
        2 * dataset.task.cells * getattr(dataset.source.splits, split)
        for dataset in study.datasets.values()
        for split in dataset.source.splits.names
    )
    return {"puzzles": built + sum(files[name].bytes for name in published)}


def _total(name: str, rows: pd.DataFrame) -> dict[str, object]:
    """Sums of rows, the largest of what is of one job (of none 0), and no measurement where a row has none."""
    largest = rows[list(LARGEST)].max().fillna(0)
    total: dict[str, object] = {"stage": "", "name": name, **rows[list(SUMMED)].sum(), **largest}
    if "measured_hours" in rows:
        jobs = rows[rows["jobs"] > 0]
        total["measured_hours"] = jobs["measured_hours"].sum(skipna=False)
        total["measured_memory_gb"] = jobs["measured_memory_gb"].max(skipna=False)
    return total
