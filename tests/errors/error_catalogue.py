"""Writes docs/errors.md: `python tests/errors/error_catalogue.py` makes every mistake again and notes what is shown."""

import shutil
import tempfile
from pathlib import Path

import cases_data
import cases_machine
import cases_models
import cases_parameters
import cases_results
from error_bench import ROOT, Bench, Case
from error_stock import make_stock

PAGE = ROOT / "docs/errors.md"
SECTIONS = {
    "Parameters and recipes": cases_parameters.CASES,
    "Published files and puzzles": cases_data.CASES,
    "Checkpoints, rollouts and tables": cases_results.CASES,
    "Released weights and puzzles to solve": cases_models.CASES,
    "Disk, memory, interrupts, numbers": cases_machine.CASES,
}
CASES = [case for cases in SECTIONS.values() for case in cases]
OPENING = """\
# Errors

Made by `python tests/errors/error_catalogue.py`, which makes every mistake below and notes what is shown: do not edit.
The tests make them again and compare; they also check that every command ends with a status other than 0, prints no
traceback, and changes and adds no file but those named under "Kept".

Messages stand here as they are shown, after lines of progress; only the path of the folder they were shown in is left
out. A wrong verb or option is answered with the usage of the command, as everywhere. What is not here and ends with a
traceback is a bug: please report it.
"""


def run(case: Case, stock: Path, folder: Path) -> Bench:
    """Make a mistake in a copy of the stock, and check what was lost."""
    shutil.copytree(stock, folder)
    bench = Bench(folder, case.leaves)
    case.provoke(bench)
    bench.check()
    return bench


def section(case: Case, bench: Bench) -> str:
    """What the page says of a case."""
    happened = " ".join((case.provoke.__doc__ or "").split())
    advice = f"**Do:** {case.do}\n\n" if case.do else ""
    screen = f"```\n$ {bench.command}\n{bench.text}\n```"
    return f"### {case.title}\n\n{happened}\n\n{screen}\n\n{advice}**Kept:** {case.kept}\n"


def main() -> None:
    """Write the page."""
    with tempfile.TemporaryDirectory() as name:
        stock = Path(name) / "stock"
        stock.mkdir()
        make_stock(stock)
        parts = [OPENING]
        for title, cases in SECTIONS.items():
            parts.append(f"## {title}\n")
            for i, case in enumerate(cases):
                print(case.title)
                parts.append(section(case, run(case, stock, Path(name) / f"{title} {i}")))
    PAGE.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
