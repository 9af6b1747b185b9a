"""A row of docs/reruns.md: what a user does, what is expected, and a function that does it and sees what happens."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from project import Project
from rerun_site import Site
from study_jobs import StudyJobs

ROOT = Path(__file__).parents[2]
TOY = StudyJobs(ROOT / "params/toy.yaml")
IDLE = "0 jobs"
#: What a job makes, by the beginning of its message; of several that fit, the first.
MADE = {
    "making the puzzles": "dataset",
    "auditing": "audit",
    "grading": "list of strata",
    "training": "training",
    "importing": "import",
    "rolling out": "rollout file",
    "voting in": "voting table",
    "voting adaptively": "voting table",
    "voting by difficulty": "voting table",
    "calibration of": "table of confidence",
    "what confidence": "table of confidence",
    "confidence against": "table of confidence",
    "a solved board": "table of confidence",
    "accuracy against": "table of cost",
    "summarising": "summary",
    "judging": "list of verdicts",
    "drawing": "figure",
    "copying": "copy of a figure",
    "making": "table of the paper",
}


@dataclass(frozen=True)
class Row:
    """A promise.

    Attributes:
        action: what a user does.
        commands: the commands, one per line.
        expected: what the user may expect.
        happens: does it at a site and gives what happened in words; AssertionError where it is not as expected.
    """

    action: str
    commands: str
    expected: str
    happens: Callable[[Site], str]


def collector(rows: list[Row]) -> Callable[..., Callable]:
    """A decorator that adds functions to `rows`."""

    def row(action: str, commands: str, expected: str) -> Callable:
        def add(happens: Callable[[Site], str]) -> Callable[[Site], str]:
            rows.append(Row(action, commands, expected, happens))
            return happens

        return add

    return row


def counted(jobs: Iterable[str]) -> str:
    """Jobs in words: how many of each kind."""
    jobs = list(jobs)
    kinds = Counter(next(kind for start, kind in MADE.items() if job.startswith(start)) for job in jobs)
    named = [f"{kinds[kind]} {_form(kind, kinds[kind])}" for kind in dict.fromkeys(MADE.values()) if kinds[kind]]
    return f"{len(jobs)} {_form('job', len(jobs))}: {', '.join(named)}" if jobs else IDLE


def _form(kind: str, number: int) -> str:
    """Singular or plural of a kind of job."""
    if number == 1:
        return kind
    first, *rest = kind.split(" of ")
    return " of ".join([f"{first[:-1]}ies" if first.endswith("y") else f"{first}s", *rest])


def assert_jobs(found: Iterable[str], expected: Iterable[str]) -> str:
    """The jobs are those that the parameters say; returns them in words."""
    found, expected = sorted(found), sorted(expected)
    assert found == expected, (
        f"not planned: {set(expected) - set(found)}; planned as well: {set(found) - set(expected)}"
    )
    return counted(found)


def assert_clean(project: Project) -> str:
    """Snakemake has nothing to do, DVC nothing to say, and git no changes."""
    said = project.snakemake("--dry-run"), project.dvc("status"), project.git("status", "--short")
    assert "Nothing to be done" in said[0], said[0]
    assert said[1].strip() == "Data and pipelines are up to date.", said[1]
    assert said[2] == "", said[2]
    return f"{IDLE}, `dvc status` and `git status` clean"
