"""What jobs of a study took, from the benchmark files that Snakemake writes."""

import json
import math
import os
import platform
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cvoting.atomic import atomic_path
from cvoting.errors import CvotingError


class Measured(NamedTuple):
    """Wall time of a job, and the most memory that its processes held together, Python and libraries included."""

    seconds: float
    bytes: float


def read_benchmarks(folder: Path) -> dict[str, Measured]:
    """What each job took, by its file in the folder without `.tsv`; a job without a file is not there.

    Args:
        folder: `benchmarks/<study>`.

    Raises:
        CvotingError: when there is no such folder, or a file in it is none of Snakemake's.
    """
    if not folder.is_dir():
        raise CvotingError(f"{folder}: expected the folder of a study's benchmark files, benchmarks/<study>")
    return {
        file.relative_to(folder).with_suffix("").as_posix(): _read(file)
        for stage in ("train", "import", "rollouts")
        for file in sorted(folder.glob(f"{stage}/**/*.tsv"))
    }


@dataclass(frozen=True)
class Record:
    """What the jobs of a study took on a machine, as kept with the project.

    Attributes:
        machine: what they ran on.
        rate: the operations per second of one job that a matrix product, and a stated efficiency, let expect there.
        jobs: what each took, by its benchmark file.
    """

    machine: str
    rate: float
    jobs: dict[str, Measured]

    @staticmethod
    def here(folder: Path, rate: float) -> "Record":
        """The benchmark files of a study that this machine has made."""
        machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
        return Record(machine, rate, read_benchmarks(folder))

    def over(self, earlier: "Record") -> "Record":
        """This record with the jobs of an earlier one that it lacks: a study may be made in several sittings.

        Another machine, or another rate to compare with, starts anew.
        """
        if (earlier.machine, earlier.rate) != (self.machine, self.rate):
            return self
        return replace(self, jobs=dict(sorted((earlier.jobs | self.jobs).items())))

    def save(self, path: Path) -> None:
        """Write it, a line per job."""
        jobs = {file: measured._asdict() for file, measured in self.jobs.items()}
        with atomic_path(path) as temporary:
            temporary.write_text(
                json.dumps({"machine": self.machine, "rate": self.rate, "jobs": jobs}, indent=1) + "\n"
            )

    @staticmethod
    def load(path: Path) -> "Record":
        """Read what `save` wrote.

        Raises:
            CvotingError: when the file holds something else.
        """
        try:
            content = json.loads(path.read_bytes())
            jobs = {file: Measured(**measured) for file, measured in content["jobs"].items()}
            return Record(content["machine"], content["rate"], jobs)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CvotingError(f"{path}: no record of jobs: make it again, `python -m cvoting cost --help`") from error


def _read(file: Path) -> Measured:
    """The last row: a job that ran again is measured again.  What Snakemake could not measure is no number."""
    try:
        table = pd.read_csv(file, sep="\t", na_values=["-"])
        row = table[["s", "max_rss"]].astype(float).iloc[-1]
    except (ValueError, KeyError, IndexError) as error:
        raise CvotingError(f"{file}: not a benchmark file of Snakemake (columns s, max_rss): delete it") from error
    return Measured(row["s"], round(row["max_rss"] * 2**20) if row["max_rss"] >= 0 else math.nan)
