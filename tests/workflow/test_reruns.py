"""All that docs/reruns.md promises happens, and the page says what."""

import re

import pytest
from rerun_catalogue import DECLARATION, KEPT, OPENING, PAGE, ROWS, declaration, line, of_step
from rerun_rows import Row, counted
from rerun_site import Site
from rerun_walk import STEPS, walk

STALE = "run `python tests/workflow/rerun_catalogue.py`"


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.action)
def test_a_promise_is_kept_as_the_page_says(row: Row, site: Site) -> None:
    found = row.happens(site)
    assert line(row, lambda: found) in PAGE.read_text().splitlines(), STALE


@pytest.mark.slow
def test_each_step_of_the_walk_costs_the_jobs_that_the_page_says(site: Site) -> None:
    page = PAGE.read_text()
    for number, (step, difference, jobs) in enumerate(walk(site), start=1):
        assert of_step(number, step, difference, jobs) in page, STALE


def test_the_page_has_a_line_for_each_promise_and_each_step_and_no_other() -> None:
    page = PAGE.read_text()
    assert page.startswith(f"{OPENING}\n{DECLARATION}\n{declaration()}"), STALE
    lines = [text for text in page.splitlines() if text.startswith("| ") and text.endswith((f"{KEPT} |", "✗ |"))]
    assert [text.split(" | ")[0].removeprefix("| ") for text in lines] == [row.action for row in ROWS]
    assert all(text.endswith(f" {KEPT} |") for text in lines)
    assert re.findall(r"^### \d+\. (.*)$", page, flags=re.MULTILINE) == [step.title for step in STEPS]


def test_a_promise_that_is_broken_is_marked() -> None:
    def broken() -> str:
        raise AssertionError("not planned: {'training a'}\nand more")

    shown = line(Row("an edit", "snakemake -n", "one job", lambda site: ""), broken)
    assert shown == "| an edit | `snakemake -n` | one job | not planned: {'training a'} | ✗ |"


def test_jobs_are_counted_by_what_they_make() -> None:
    jobs = ["training a with seed 0", "training a with seed 1", "making the puzzles of b", "making table1_itrsa"]
    assert counted(jobs) == "4 jobs: 1 dataset, 2 trainings, 1 table of the paper"
    assert counted(["copying a to figures/", "copying b to figures/"]) == "2 jobs: 2 copies of a figure"
    assert counted(jobs[:1]) == "1 job: 1 training"
    assert counted([]) == "0 jobs"
