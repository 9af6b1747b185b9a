"""The table of strata of a bank: what its votes achieve on puzzles that are as difficult as each other."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cvoting.errors import CvotingError
from cvoting.params.voting import VotingParams
from cvoting.statistics import wilson
from cvoting.table_files import (
    ALL,
    ESTIMATOR,
    METRICS,
    STRATA_COLUMNS,
    over_all_seeds,
    read_tables,
    seeds_of,
    write_csv,
)
from cvoting.tables import check_votes, voting_tables
from cvoting.tally import Tally, tally
from cvoting.tasks.base import Task


class StrataError(CvotingError):
    """Puzzles of a bank whose difficulty is not known."""


def write_by_difficulty(
    shards: Sequence[Path], strata: Path, params: VotingParams, task: Task, study: str, out: Path
) -> None:
    """Write the table of strata of a bank: its voting table of each stratum, from the easiest measure up, and of all.

    Rows are over all seeds, by the estimator of the figures, of each of `METRICS` that the task has.  Puzzles are found
    by their hashes; nothing is judged anew, so that banks without boards have this table too.  An outcome that all
    puzzles of a stratum share has no spread that a resample could show: Wilson's interval stands in.

    Args:
        shards: the bank's files, of all training seeds, inference seeds and shards.
        strata: the table of difficulty of the bank's dataset.
        params: which votes, numbers of candidates and intervals.
        task: the task of the bank's puzzles.
        study: name of the study.
        out: the CSV file.

    Raises:
        ParameterError: for an unknown vote.
        TableError: when there is no table of difficulty.
        ShardsError: when the files are not all those of one bank.
        TallyError: when a vote of them cannot be held.
        StrataError: when a puzzle is not in the table of difficulty.
    """
    check_votes(params)
    counted = tally(shards, params, task)
    graded = _graded(counted, strata)
    ascending = graded.sort_values("value")["stratum"].unique()
    parts = {ALL: counted} | {name: counted.of((graded["stratum"] == name).to_numpy()) for name in ascending}
    tables = [_rows(part, params, study).assign(stratum=name) for name, part in parts.items()]
    table = pd.concat(tables, ignore_index=True).assign(measure=graded["measure"].iloc[0])
    write_csv(table[list(STRATA_COLUMNS)], out)


def _graded(counted: Tally, strata: Path) -> pd.DataFrame:
    """The difficulty of each puzzle of a bank, in its order."""
    dataset = counted.header.dataset
    known = read_tables("table of difficulty", [dataset], [strata])[dataset].set_index("puzzle")
    if missing := [puzzle for puzzle in counted.puzzles if puzzle not in known.index]:
        raise StrataError(
            f"{strata}: {len(missing)} of the {len(counted.puzzles)} puzzles of the bank are missing, the first is "
            f"{missing[0]}: give the table of its dataset, {dataset}"
        )
    return known.loc[counted.puzzles]


def _rows(counted: Tally, params: VotingParams, study: str) -> pd.DataFrame:
    """The rows of one stratum, or of all puzzles."""
    table, _ = voting_tables(counted, params, study)
    rows = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & table["metric"].isin(METRICS)])
    rows, puzzles = rows.assign(**seeds_of(table)), len(counted.puzzles)
    for value in (0, 1):
        alike = (rows["value"] == value) & (rows["low"] == rows["high"])
        for name, end in zip(("low", "high"), wilson(value * puzzles, puzzles, params.level), strict=True):
            rows.loc[alike, name] = round(end, 12)
        rows.loc[alike, "interval"] = "Wilson, puzzles only"
    return rows
