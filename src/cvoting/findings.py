"""A page of sentences whose numbers come from published tables: each names the row that it is read from.

In the template `{{laptop/claims.csv: claim=c3; K=64}}` stands for the one row of that table with these values, and
becomes its `value` and interval, linked to the table.  `-> column unit` after the row names another column (its
interval is in `column_low` and `column_high`), a unit for tables that state none ("%" of fractions, "count"), or both.
"""

import math
import re
from pathlib import Path

import pandas as pd

from cvoting.atomic import atomic_path
from cvoting.claims.page import ours
from cvoting.errors import CvotingError

PLACE = re.compile(r"\{\{(?P<file>[^:{}]+):(?P<row>[^{}]*?)(?:->(?P<shown>[^{}]+))?\}\}")
ABOUT = "<!-- made by `python -m cvoting findings` from {}: do not edit -->\n"


def write_findings(template: Path, results: Path, page: Path, check: bool) -> None:
    """Write the page, or only check that it is there.

    Args:
        template: the sentences.
        results: the folder of published results, in which tables are named.
        page: the page, from whose folder links go.
        check: whether another page is an error, and nothing is written.

    Raises:
        CvotingError: for a number whose table, row or column is not there, or whose row is not the only one; with
            `check`, for another page.
    """
    links = results.relative_to(page.parent)

    def number(place: re.Match[str]) -> str:
        row = find(results / place["file"].strip(), place["row"], (place["shown"] or "").split())
        words = " ".join(place["row"].split()).replace('"', "'")
        return f'[{ours(row)}]({(links / place["file"].strip()).as_posix()} "{words}")'

    text = ABOUT.format(template.name) + PLACE.sub(number, template.read_text(encoding="utf-8"))
    if check and (not page.exists() or page.read_text(encoding="utf-8") != text):
        raise CvotingError(f"{page} has other numbers than {results}: run `python -m cvoting findings`")
    if not check:
        with atomic_path(page) as temporary:
            temporary.write_text(text, encoding="utf-8")


def find(path: Path, conditions: str, shown: list[str]) -> pd.Series:
    """The one row of a table that meets all conditions, with `value`, `low`, `high`, `level` and `unit`.

    Args:
        path: the table.
        conditions: `column=value`, separated by semicolons.
        shown: of which column the value is, and its unit, where they are not `value` and the table's own.

    Raises:
        CvotingError: where there is no such table, column or row, or more than one row.
    """
    if not path.is_file():
        raise CvotingError(f"{path}: no such table: expected a CSV file of published results")
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    wanted = dict(condition.strip().partition("=")[::2] for condition in conditions.split(";"))
    units = [word for word in shown if word in ("%", "count")]
    column = next((word for word in shown if word not in units), "value")
    if unknown := [name for name in (*wanted, column) if name not in table]:
        raise CvotingError(f"{path}: no column {unknown[0]!r}: expected one of {', '.join(map(str, table))}")
    rows = table[(table[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    if len(rows) != 1:
        raise CvotingError(f"{path}: {len(rows)} rows with {conditions.strip()}: expected one")
    row = rows.iloc[0]
    own = "" if column == "value" else f"{column}_"
    names = {"value": column, "low": f"{own}low", "high": f"{own}high", "level": "level"}
    numbers = {name: float(row.get(source) or "nan") for name, source in names.items()}
    if math.isnan(numbers["low"]):
        numbers["level"] = math.nan  # of another number of the row
    return pd.Series(numbers | {"unit": (units or [row.get("unit", "")])[0]})
