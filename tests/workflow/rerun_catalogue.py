"""Writes docs/reruns.md: `python tests/workflow/rerun_catalogue.py` does all it promises and notes what happens."""

import dataclasses
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import rerun_code
import rerun_interruptions
import rerun_parameters
import rerun_storage
from rerun_rows import TOY, Row
from rerun_site import Site
from rerun_walk import Step, walk

from cvoting.params.study import STAGES, Study

PAGE = Path(__file__).parents[2] / "docs/reruns.md"
KEPT, BROKEN = "✓", "✗"
SECTIONS = {
    "Edits of parameters": rerun_parameters.ROWS,
    "Edits of the code": rerun_code.ROWS,
    "Clones, DVC and git": rerun_storage.ROWS,
    "What goes wrong": rerun_interruptions.ROWS,
}
ROWS = [row for rows in SECTIONS.values() for row in rows]
OPENING = """\
# What runs again

Made by `python tests/workflow/rerun_catalogue.py`, which does everything on this page with the toy study
(`params/toy.yaml`), in copies and clones of this project, and notes what happens: do not edit. The tests do it again
and compare. ✓: as expected, ✗: not. [provenance.md](provenance.md) says how it works.

`snakemake -n` says what a run would do, with the reason of each job; `dvc status` which stages DVC would run. A stage
of DVC may run without a job: Snakemake decides about those.
"""
DECLARATION = """\
## What each block of params.yaml concerns

As the schema (`x-affects` in `workflow/schemas/params.schema.yaml`) and `dvc.yaml` have it. A test changes every single
value of the toy study and compares the jobs' parameters with it. Within a stage only those jobs run that use what was
changed.
"""
WALK = """\
## A walk through ablations

Each step edits `params.yaml` (here the toy study's, of {runs} runs and {banks} banks) as the step before left it, and
runs `snakemake`. `dvc repro` runs the same jobs; so does, for a single value, `dvc exp run -S <key>=<value>`.
"""


def declaration() -> str:
    """The stages that each block declares, as a table."""
    header = f"| block | {' | '.join(STAGES)} |\n|---|{'---|' * len(STAGES)}\n"
    return header + "".join(
        f"| `{field.name}` | {' | '.join('×' if stage in field.metadata['affects'] else '' for stage in STAGES)} |\n"
        for field in dataclasses.fields(Study)
    )


def line(row: Row, happens: Callable[[], str]) -> str:
    """What the page says of a row."""
    try:
        found, mark = happens(), KEPT
    except AssertionError as error:
        traceback.print_exception(error)
        found, mark = (str(error) or "a comparison failed").splitlines()[0], BROKEN
    commands = "<br>".join(f"`{command}`" for command in row.commands.splitlines())
    return f"| {row.action} | {commands} | {row.expected} | {found} | {mark} |"


def of_step(number: int, step: Step, difference: str, jobs: str) -> str:
    """What the page says of a step of the walk."""
    return f"### {number}. {step.title}\n\n```diff\n{difference}\n```\n\n{jobs}. {step.note}\n"


def main() -> None:
    """Write the page."""
    with tempfile.TemporaryDirectory() as name:
        site = Site(Path(name))
        parts = [OPENING, DECLARATION, declaration()]
        for title, rows in SECTIONS.items():
            parts.append(f"## {title}\n")
            table = ["| a user | commands | may expect | found | |", "|---|---|---|---|---|"]
            for row in rows:
                table.append(line(row, lambda row=row: row.happens(site)))  # type: ignore[misc]
                print(table[-1], flush=True)
            parts.append("\n".join(table) + "\n")
        parts.append(WALK.format(runs=len(TOY.study["runs"]), banks=len(TOY.study["banks"])))
        for number, (step, difference, jobs) in enumerate(walk(site), start=1):
            parts.append(of_step(number, step, difference, jobs))
            print(parts[-1], flush=True)
    PAGE.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
