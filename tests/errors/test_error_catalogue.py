"""Every mistake of the catalogue shows what docs/errors.md says, and loses nothing."""

import re
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from error_bench import TRACEBACK, Bench, Case
from error_catalogue import CASES, OPENING, PAGE, run, section


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.title, marks=[pytest.mark.slow] if case.slow else []) for case in CASES],
)
def test_a_mistake_shows_what_the_page_says_and_loses_nothing(case: Case, stock: Path, tmp_path: Path) -> None:
    found = section(case, run(case, stock, tmp_path / "a folder"))
    page = dict(re.findall(r"^(### [^\n]+\n)(.*?)(?=^##|\Z)", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL))
    written = page.get(f"### {case.title}\n", "(no section)")
    assert found.split("\n", 1)[1].strip() == written.strip(), "run `python tests/errors/error_catalogue.py`"


def test_the_page_has_a_section_for_each_case_and_no_other() -> None:
    assert re.findall(r"^### (.*)$", PAGE.read_text(), flags=re.MULTILINE) == [case.title for case in CASES]
    assert PAGE.read_text().startswith(OPENING)


@pytest.mark.parametrize(
    ("meddle", "complaint"),
    [
        (lambda bench: None, "changed or added"),
        (lambda bench: setattr(bench, "leaves", ("new.txt",)), ""),
        (lambda bench: bench.cvoting("recipe data sudoku"), "no error"),
        (lambda bench: setattr(bench, "text", f"{TRACEBACK}:"), "Traceback"),
        (lambda bench: setattr(bench, "text", ""), "no message"),
    ],
    ids=["an added file", "an allowed file", "success", "a traceback", "silence"],
)
def test_the_bench_notices_a_loss_a_success_and_a_traceback(
    stock: Path, tmp_path: Path, meddle: Callable[[Bench], None], complaint: str
) -> None:
    shutil.copytree(stock, tmp_path / "bench")
    bench = Bench(tmp_path / "bench")
    bench.cvoting("recipe data absent")
    bench.write("new.txt", "")
    meddle(bench)
    with pytest.raises(AssertionError, match=complaint) if complaint else nullcontext():
        bench.check()
