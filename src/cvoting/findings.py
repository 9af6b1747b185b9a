"""A page of sentences whose numbers come from published tables: each names the row that it is read from.

The template is one of Jinja.  In it `{{ number("laptop/claims.csv", claim="c3", K=64) }}` stands for the one row of
that table with these values, and becomes its `value` and interval, linked to the table.  `show="column"` names another
column (its interval is in `column_low` and `column_high`), `unit` that of a table that states none ("%" of fractions,
"count").
"""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import jinja2
import pandas as pd

from cvoting.atomic import atomic_path
from cvoting.claims.page import ours
from cvoting.errors import CvotingError

ABOUT = "<!-- made by `python -m cvoting findings` from {}: do not edit -->\n"


def write_findings(template: Path, results: Path, page: Path, check: bool) -> None:
    """Write the page, or only check that it is there.

    Args:
        template: the sentences.
        results: the folder of published results, in which tables are named.
        page: the page, from whose folder links go.
        check: whether another page is an error, and nothing is written.

    Raises:
        CvotingError: for a number whose table, row or column is not there, or whose row is not the only one; for what
            is no template; with `check`, for another page.
    """
    sentences = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    )
    try:
        made = sentences.from_string(template.read_text(encoding="utf-8"), {"number": numbers(results, page.parent)})
        text = ABOUT.format(template.name) + made.render()
    except jinja2.TemplateError as error:
        raise CvotingError(f"{template}: {error}") from error
    if check and (not page.exists() or page.read_text(encoding="utf-8") != text):
        raise CvotingError(f"{page} has other numbers than {results}: run `python -m cvoting findings`")
    if not check:
        with atomic_path(page) as temporary:
            temporary.write_text(text, encoding="utf-8")


def numbers(results: Path, folder: Path) -> Callable[..., str]:
    """What a template calls for a number: table, other column, unit, and the values of the row -> number and link."""
    links = results.relative_to(folder)

    @cache
    def table(file: str) -> pd.DataFrame:
        return read_results(results / file)

    def number(file: str, show: str = "value", unit: str = "", **row: object) -> str:
        wanted = {column: str(value) for column, value in row.items()}
        title = "; ".join(f"{column}={value}" for column, value in wanted.items()).replace('"', "'")
        found = find(table(file), f"{results / file}", wanted, show, unit)
        return f'[{ours(found)}]({(links / file).as_posix()} "{title}")'

    return number


def read_results(path: Path) -> pd.DataFrame:
    """A published table, as text.

    Raises:
        CvotingError: where there is none.
    """
    if not path.is_file():
        raise CvotingError(f"{path}: no such table: expected a CSV file of published results")
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def find(table: pd.DataFrame, name: str, wanted: dict[str, str], show: str, unit: str) -> pd.Series:
    """The one row of a table with all wanted values, with `value`, `low`, `high`, `level` and `unit`.

    Args:
        table: its text.
        name: what errors call it.
        wanted: values by column.
        show: the column of the value.
        unit: that of the value, if it is not the row's own.

    Raises:
        CvotingError: where there is no such column or row, more than one row, or no number.
    """
    if unknown := [column for column in (*wanted, show) if column not in table]:
        raise CvotingError(f"{name}: no column {unknown[0]!r}: expected one of {', '.join(map(str, table))}")
    rows = table[(table[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    if len(rows) != 1:
        raise CvotingError(f"{name}: {len(rows)} rows with {wanted}: expected one")
    row = rows.iloc[0]
    own = "" if show == "value" else f"{show}_"
    sources = {"value": show, "low": f"{own}low", "high": f"{own}high", "level": "level"}
    try:
        values = {key: float(row.get(source) or "nan") for key, source in sources.items()}
    except ValueError as error:
        raise CvotingError(f"{name}: {show} of {wanted}: {error}: expected a column of numbers") from error
    if math.isnan(values["low"]):
        values["level"] = math.nan  # of another number of the row
    return pd.Series(values | {"unit": unit or row.get("unit", "")})
