"""The page of all result files: `python benchmarks/page.py`, with `--check` only to see that it is up to date."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cvoting.claims.page import markdown
from cvoting.errors import CvotingError
from cvoting.marked_page import update
from harness import ROOT

FOLDER = ROOT / "docs/benchmarks"
BEGIN = "<!-- made by `python benchmarks/page.py` from the JSON files beside it: do not edit -->"
STALE = "is not what the files beside it say: run `python benchmarks/page.py`"
#: Sections with a history, and the yardstick that ratios are to.
HISTORY = {
    "training": "linear map",
    "rollouts": "linear map",
    "voting": "sort",
    "generator": "loop",
    "parsers": "loop",
    "plan": "loop",
    "load": "loop",
}
#: Files that a table of history shows, from the latest.
SHOWN = 4
#: Work that takes seconds: its time is shown in place of its rate.
SLOW = "plans/s"

Run = dict[str, Any]
Row = dict[str, Any]


def write(check: bool, folder: Path = FOLDER) -> None:
    """Write the page, or only check it.

    Args:
        check: whether another content is an error, and nothing is written.
        folder: of the result files and the page.

    Raises:
        CvotingError: for a page without a place for the tables; with `check`, for one with others.
    """
    update(folder / "README.md", BEGIN, content(read(folder)), check, STALE)


def read(folder: Path) -> list[Run]:
    """The result files, from the latest; `name`: that of the file.

    Args:
        folder: where they lie.
    """
    runs = [json.loads(path.read_text()) | {"name": path.stem} for path in folder.glob("*.json")]
    return sorted(runs, key=lambda run: (run["date"], run["name"]), reverse=True)


def content(runs: Sequence[Run]) -> str:
    """All tables.

    Args:
        runs: the result files, from the latest.
    """
    tables = {"Runs": markdown(pd.DataFrame([_about(run) for run in runs]))}
    for section, yardstick in HISTORY.items():
        if having := [run for run in runs if section in run["sections"]][:SHOWN]:
            tables[f"{section.capitalize()}: rate (ratio to the {yardstick})"] = markdown(
                history(having, section, yardstick)
            )
    for section, make in LATEST.items():
        if having := [run for run in runs if section in run["sections"]]:
            run = having[0]
            heading = f"{section.capitalize()}: {run['name']}, {_threads(run)}"
            tables[heading] = markdown(make(run["sections"][section]))
    return "\n\n".join(f"## {heading}\n\n{table}" for heading, table in tables.items())


def history(runs: Sequence[Run], section: str, yardstick: str) -> pd.DataFrame:
    """A row for everything that was measured, a column for each run.

    Args:
        runs: from the latest.
        section: of their rows.
        yardstick: what ratios are to.
    """
    of_runs = [{row["what"]: _cell(row, yardstick) for row in run["sections"][section]} for run in runs]
    names = dict.fromkeys(name for cells in of_runs for name in cells)
    table = {"": list(names)}
    for run, cells in zip(runs, of_runs, strict=True):
        table[f"{run['name']}, {_threads(run)}"] = [cells.get(name, "") for name in names]
    return pd.DataFrame(table)


def roofline(rows: Sequence[Row]) -> pd.DataFrame:
    """Rates as shares of the yardsticks', and the time of each kind of work with what bounds it.

    Args:
        rows: of the section; those of a rollout, of its linear maps alone, and of the kinds of work follow each other.
    """
    lines = []
    for place, row in enumerate(rows):
        if row["what"].endswith(": linear maps alone"):
            continue
        whole = row["unit"] == "GFLOP/s"
        if whole:
            known = row["yardsticks"] | {"linear maps alone": rows[place + 1]}
        rates = {"GFLOP/s": row["value"] if whole else row.get("GFLOP/s"), "GB/s": row.get("GB/s")}
        lines.append(
            {
                "": row["what"],
                "ms": number(1000 * row["seconds"]),
                "% of the time": "" if whole else number(row["value"]),
            }
            | {unit: "" if rate is None else number(rate) for unit, rate in rates.items()}
            | {f"% of the {name}": _share(rates[about["unit"]], about) for name, about in known.items()}
        )
    return pd.DataFrame(lines)


def plain(rows: Sequence[Row]) -> pd.DataFrame:
    """Every number of every row.

    Args:
        rows: of a section.
    """
    lines = []
    for row in rows:
        known = {"what", "value", "unit", "yardsticks"} | ({"seconds"} if row["unit"] == "s" else set())
        rest = {name: value for name, value in row.items() if name not in known}
        lines.append({"": row["what"], row["unit"]: row["value"]} | rest)
    table = pd.DataFrame(lines)
    return table.map(lambda cell: cell if isinstance(cell, str) else "" if pd.isna(cell) else number(cell))


def printed(rows: Sequence[Row]) -> str:
    """The rows of a section, for the terminal.

    Args:
        rows: of a section.
    """
    return "\n".join(f"{number(row['value']):>10} {row['unit']:<16} {row['what']}" for row in rows)


def number(value: float) -> str:
    """Three digits, or as many as stand before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


#: Sections of which the latest run alone is shown, and how.
LATEST: dict[str, Callable[[Sequence[Row]], pd.DataFrame]] = {
    "roofline": roofline,
    "memory": plain,
    "numerics": plain,
    "sweep": plain,
}


def _cell(row: Row, yardstick: str) -> str:
    known = row["yardsticks"].get(yardstick)
    ratio = f" ({number(row['value'] / known['value'])})" if known else ""
    value, unit = (row["seconds"], "s") if row["unit"] == SLOW else (row["value"], row["unit"])
    return f"{number(value)} {unit}{ratio}"


def _share(rate: float | None, known: Row) -> str:
    return "" if rate is None else f"{100 * rate / known['value']:.0f}"


def _threads(run: Run) -> str:
    return f"{run['threads']} thread{'s' * (run['threads'] != 1)}"


def _about(run: Run) -> Row:
    versions = run["versions"]
    return {
        "file": f"[{run['name']}]({run['name']}.json)",
        "date": run["date"],
        "commit": run["commit"],
        "machine": f"{run['machine']}, {run['cores']} cores",
        "threads": str(run["threads"]),
        "torch": versions.get("torch", ""),
        "measured": ", ".join(run["sections"]),
        "note": run.get("note", ""),
    }


def main(words: Sequence[str]) -> None:
    """Write the page, or check it.

    Args:
        words: of the command line.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only see whether the page is up to date")
    try:
        write(parser.parse_args(words).check)
    except CvotingError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
