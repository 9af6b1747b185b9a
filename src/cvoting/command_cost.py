"""The verbs that say what a study costs before anything of it is run.

Imports wait until they are needed, as in `__main__`.
"""

import argparse
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cvoting.assumed_gpu import MEMORY, PEAK, RATE, SHARE
from cvoting.command_pages import RESULTS
from cvoting.errors import CvotingError

BEGIN = "<!-- made by `python -m cvoting cost` from studies and docs/results/*/jobs.json: do not edit -->"
#: The studies for CPUs, in their order on the page.
ON_CPUS = (Path("params.yaml"), Path("params/desktop.yaml"))


def add_cost_verbs(verb: Callable[..., argparse.ArgumentParser]) -> None:
    """Add them to the command line.

    Args:
        verb: adds the verb of a function.
    """
    sub = verb(estimate)
    sub.add_argument("--configfile", type=Path, default=Path("params.yaml"))
    sub.add_argument(
        "--rate",
        type=rate,
        default=RATE,
        help=f"operations per second of one job, such as 1e14; by default {RATE:g}, {100 * SHARE:g} %% of the {PEAK:g} "
        "of an H100 in float32",
    )
    sub.add_argument("--device", choices=["gpu", "cpu"], default="gpu", help="what computes, which memory depends on")
    sub.add_argument("--memory", type=rate, default=MEMORY, metavar="GB", help=f"its memory, {MEMORY:g} by default")
    sub.add_argument("--benchmarks", type=Path, metavar="FOLDER", help="Snakemake's benchmark files of the study")
    sub.add_argument("--csv", type=Path, help="write all columns to this file")
    sub = verb(cost)
    sub.add_argument("--file", type=Path, default=Path("docs/cost.md"))
    sub.add_argument("--check", action="store_true", help="fail when the file is not up to date")
    sub.add_argument("--records", type=Path, default=RESULTS, help="where what jobs took is kept: <study>/jobs.json")
    sub.add_argument(
        "--benchmarks",
        type=Path,
        metavar="FOLDER",
        help="first record what the jobs of a study took, of this folder, benchmarks/<study>",
    )
    sub.add_argument("--rate", type=rate, help="for that record: operations per second to expect of one job here")


def rate(text: str) -> float:
    """A finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"{text!r}, expected a number above 0, such as 1e14")
    return value


def estimate(args: argparse.Namespace) -> None:
    """Say what a study will cost: operations, hours, memory and disk of its jobs, from its parameters alone."""
    from cvoting.atomic import atomic_path
    from cvoting.estimate_page import text, too_large
    from cvoting.job_benchmarks import read_benchmarks
    from cvoting.params.reading import read_study

    study = read_study(args.configfile)
    measured = read_benchmarks(args.benchmarks) if args.benchmarks else None
    table, counts = _estimate(study, args.device, args.rate, measured)
    print(text(table, args.rate, args.device))
    print(*(f"\n{line}" for line in too_large(study, table, counts, args.memory)), sep="", end="")
    if args.csv:
        with atomic_path(args.csv) as temporary:
            table.to_csv(temporary, index=False)


def cost(args: argparse.Namespace) -> None:
    """Write what the studies cost into the page about it, or check that it is up to date."""
    from cvoting import marked_page
    from cvoting.estimate_page import text, too_large
    from cvoting.job_benchmarks import Record
    from cvoting.params.reading import read_study

    if (args.benchmarks is None) != (args.rate is None):
        raise CvotingError("--benchmarks and --rate make a record of jobs together: expected both, or neither")
    if args.benchmarks:
        kept, new = args.records / args.benchmarks.name / "jobs.json", Record.here(args.benchmarks, args.rate)
        (new.over(Record.load(kept)) if kept.exists() else new).save(kept)
    laptop = Record.load(args.records / "laptop/jobs.json")
    paper = read_study(Path("params/paper.yaml"))
    table, counts = _estimate(paper, "gpu", RATE, None)
    parts = ["## params/paper.yaml", text(table, RATE, "gpu"), *too_large(paper, table, counts, MEMORY)]
    for file in ON_CPUS:
        study = read_study(file)
        path = args.records / study.study / "jobs.json"
        record = Record.load(path) if path.exists() else None
        rate = (record or laptop).rate
        table, _ = _estimate(study, "cpu", rate, record and record.jobs)
        where = f"Measured on {record.machine}." if record else "Not measured; the rate is that of the laptop study."
        parts += [f"## {file}", where, text(table, rate, "cpu")]
    stale = "says other costs than the parameters: run `python -m cvoting cost`"
    marked_page.update(args.file, BEGIN, "\n\n".join(parts), args.check, stale)


def _estimate(study: Any, device: Any, rate: float, measured: Any) -> tuple[Any, Any]:
    """The table, and how networks were counted for it."""
    from cvoting.data.sources import FILES
    from cvoting.estimate import estimate
    from cvoting.estimate_jobs import Counts
    from cvoting.flops.registry import network_flops
    from cvoting.memory.registry import network_memory

    counts = Counts(network_flops, partial(network_memory, device=device))
    return estimate(study, counts, FILES, rate, measured), counts
