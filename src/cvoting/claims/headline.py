"""README's headline tables: the main numbers of a published study, from its table of claims."""

from pathlib import Path

import pandas as pd

from cvoting.claims.page import markdown, ours, paper, seeds
from cvoting.claims.table import COLUMNS
from cvoting.marked_page import update
from cvoting.table_files import TableError

BEGIN = "<!-- made by `python -m cvoting headline` from docs/results/{study}/claims.csv: do not edit -->"


def write_headline(claims: Path, page: Path, check: bool) -> None:
    """Write the table into a page, or only check that it is there.

    Args:
        claims: `claims.csv` of the study.
        page: README.
        check: whether another table is an error, and nothing is written.

    Raises:
        CvotingError: for a page without a place for the table; with `check`, for one with another table.
        TableError: when the file is no table of claims.
    """
    table = read_claims(claims)
    begin = BEGIN.format(study=table["study"].iloc[0])
    stale = f"has other numbers than {claims}: run `python -m cvoting headline`"
    update(page, begin, markdown(headline(table)), check, stale)


def read_claims(path: Path) -> pd.DataFrame:
    """A table of claims.

    Raises:
        TableError: when the file has other columns.
    """
    table = pd.read_csv(path, dtype={"puzzles": str, "training_seeds": str, "inference_seeds": str})
    if tuple(table.columns) != COLUMNS:
        found = ", ".join(table.columns)[:60]
        raise TableError(f"{path}: not a table of claims (the columns {found}): make it again, `make publish`")
    return table


def headline(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that README shows: those with a headline, where the study has the number.

    Args:
        table: of claims.
    """
    shown = table[table["headline"].notna() & table["value"].notna()]
    rows = [row for _, row in shown.iterrows()]
    study = table["study"].iloc[0]
    return pd.DataFrame(
        {
            "claim": [f"{row['claim']}: {row['headline']}" for row in rows],
            "paper": map(paper, rows),
            f"ours, {study}": map(ours, rows),
            "n": shown["puzzles"].fillna("").to_list(),
            "seeds": map(seeds, rows),
            "verdict": shown["verdict"].to_list(),
        }
    )
