"""Published numbers, to stand beside ours: the paper's in reference/published.csv, others' in reference/field.csv."""

from pathlib import Path

import pandas as pd

from cvoting.errors import CvotingError

#: `value` is a fraction for accuracies and their differences, and empty where the claim is an ordering; `spread` is
#: what stands behind the +-; `n` is what the value is over, where that is stated.
COLUMNS = (
    "id", "claim", "figure_or_section", "model", "vote", "dataset", "K",
    "metric", "value", "spread", "n", "source", "note",
)  # fmt: skip
#: Of what others have published since, one row per number: `value` is a fraction, empty where a range is known.
FIELD_COLUMNS = (
    "system", "arxiv", "parameters_millions", "dataset", "metric", "value", "low", "high", "setting", "scales_by",
    "code", "seen",
)  # fmt: skip
#: How a number of the field is known.
SEEN = ("read", "second-hand")


class PublishedError(CvotingError):
    """A file that is not a table of published numbers."""


def read_published(path: Path) -> pd.DataFrame:
    """The published numbers.

    Raises:
        PublishedError: when the file is no table, columns are missing, an id comes twice or a number has no source.
    """
    try:
        table = pd.read_csv(path, dtype={"K": "Int64", "n": "Int64"})
    except ValueError as error:
        raise PublishedError(f"{path}: not a table of published numbers: restore it with git") from error
    if tuple(table.columns) != COLUMNS:
        raise PublishedError(f"{path}: columns {', '.join(table.columns)}: expected {', '.join(COLUMNS)}")
    if table["id"].duplicated().any():
        raise PublishedError(f"{path}: id {table['id'][table['id'].duplicated()].iloc[0]!r} twice: expected unique ids")
    if table["source"].isna().any():
        raise PublishedError(
            f"{path}: {table['id'][table['source'].isna()].iloc[0]!r} has no source: say where it stands"
        )
    return table


def read_field(path: Path) -> pd.DataFrame:
    """What others have published since, in the order of the file; arXiv numbers and sizes are text.

    Raises:
        PublishedError: when the file is no table, columns are missing, a row has no number, or does not say how its
            number is known.
    """
    try:
        table = pd.read_csv(path, dtype={"arxiv": str, "parameters_millions": str})
    except ValueError as error:
        raise PublishedError(f"{path}: not a table of published numbers: restore it with git") from error
    if tuple(table.columns) != FIELD_COLUMNS:
        raise PublishedError(f"{path}: columns {', '.join(table.columns)}: expected {', '.join(FIELD_COLUMNS)}")
    known = table["value"].notna() | (table["low"].notna() & table["high"].notna())
    for problem, rows in {
        "has no number: expected value, or low and high": table[~known],
        f"does not say how it is known: expected {' or '.join(SEEN)}": table[~table["seen"].isin(SEEN)],
    }.items():
        if len(rows):
            raise PublishedError(f"{path}: {rows['system'].iloc[0]!r} on {rows['dataset'].iloc[0]} {problem}")
    return table


def published_accuracies(published: pd.DataFrame, model: str, dataset: str, metric: str) -> pd.DataFrame:
    """The published accuracies of a model on a dataset by vote and K, as columns of that name beside ours.

    K is missing where it is not stated.
    """
    ours = (published["model"] == model) & (published["dataset"] == dataset) & (published["metric"] == metric)
    rows = published[ours & published["value"].notna()]
    names = {"value": "published", "spread": "published_spread", "id": "published_id"}
    return rows.rename(columns=names)[["vote", "K", *names.values()]]
