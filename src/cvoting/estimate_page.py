"""The estimate of a study as text: a table in Markdown, and what its numbers mean."""

import math
from collections.abc import Iterator

import pandas as pd

from cvoting.assumed_gpu import PEAK, RATE, SHARE
from cvoting.estimate_jobs import Counts
from cvoting.memory.base import Device
from cvoting.memory.jobs import fitting_accumulate
from cvoting.params.study import Study

#: Columns of the table, by those of the estimate.
SHOWN = {
    "stage": "stage",
    "name": "run or bank",
    "jobs": "jobs",
    "flops_of_a_job": "FLOP of a job",
    "flops": "FLOP",
    "hours_of_a_job": "hours of a job",
    "hours": "hours",
    "memory_of_a_job_gb": "memory of a job (GB)",
    "disk_gb": "disk (GB)",
    "measured_hours": "measured hours",
    "ratio": "estimated / measured",
}


def text(table: pd.DataFrame, rate: float, device: Device) -> str:
    """The table, and what its numbers mean.

    Args:
        table: what `estimate` gives.
        rate: of one job.
        device: that memory was counted for.
    """
    where = {"gpu": "GPU", "cpu": "CPU"}[device]
    why = f", {SHARE:.0%} of an H100's {scientific(PEAK)} in float32" if rate == RATE else ""
    said = (
        f"Hours are FLOP / rate, at a rate of {scientific(rate)} FLOP/s for each job{why}.",
        f"Memory is what a job on a {where} takes at its peak, in float32, besides Python and libraries.",
        "Disk is at most, before compression, with what an unfinished training goes on from.",
        "Totals of what is of one job are the largest.",
    )
    return "\n".join(said) + "\n\n" + markdown(table)


def markdown(table: pd.DataFrame) -> str:
    """The columns that are shown."""
    columns = [name for name in SHOWN if name in table]
    shown = pd.DataFrame({SHOWN[name]: [_cell(name, value) for value in table[name]] for name in columns})
    # Else numbers in text are written anew: 9.05e15 would come out as 9.05e+15.
    aligned = ["left", "left", *["right"] * (len(columns) - 2)]
    return shown.to_markdown(index=False, disable_numparse=True, colalign=aligned)


def too_large(study: Study, table: pd.DataFrame, counts: Counts, limit: float) -> Iterator[str]:
    """What to change where a job takes more memory than there is.

    Args:
        study: all parameters.
        table: what `estimate` gives.
        counts: how networks are counted.
        limit: GB of memory.
    """
    for _, row in table[table["memory_of_a_job_gb"] > limit].iterrows():
        name, found = row["name"], f"`{row['name']}` takes more than {limit:g} GB"
        if row["stage"] == "rollouts":
            yield f"{found}: give its bank a smaller `chunk`."
        elif row["stage"] == "train":
            block, training = study.runs[name], study.training_of(name)
            dataset = study.datasets[block.dataset]
            memory = counts.memory(study.models[block.model].network, dataset.task)
            parts = fitting_accumulate(memory, training, dataset.source.splits.validation, round(1e9 * limit))
            yield f"{found}: {f'`accumulate: {parts}` fits' if parts else 'give it a smaller `batch`'}."


def scientific(value: float) -> str:
    """Three digits and a power of ten, as 9.05e15."""
    digits, power = f"{value:.2e}".split("e")
    return f"{digits}e{int(power)}"


def _cell(column: str, value: object) -> str:
    """A number with as many digits as say something; nothing for none."""
    if not isinstance(value, (int, float)):
        return str(value)
    if math.isnan(value):
        return ""
    if column == "jobs":
        return f"{value:,.0f}"
    if column.startswith("flops"):
        return scientific(value) if value else "0"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 or not value else "< 0.001"
