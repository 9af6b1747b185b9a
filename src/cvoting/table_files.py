"""The tables that later stages read, as CSV files: their columns, and how they are written and read.

Numbers are fractions (figures show percent).  Seeds are text: a number, or "all" in rows over several.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cvoting.atomic import atomic_path
from cvoting.errors import CvotingError

#: The metrics of whole answers that tables of confidence and figures show, of a task those it has.  `optimal` counts
#: any shortest path of a maze, where the label is one of many; Sudoku has no such metric.
METRICS = ("board", "optimal")
#: In place of a seed: all of them.
ALL = "all"
#: The estimator over K that figures against K, tables and the summary show.
ESTIMATOR = "expected"
#: The name of what every vote gives at K = 1.
NO_VOTE = "random"
#: The name of what the best choice among the candidates gives.
ORACLE = "oracle"

OF = ("study", "run", "model", "dataset", "split", "origin", "T_eval")
SIZES = ("training_seed", "inference_seed", "puzzles", "candidates")
INTERVAL = ("low", "high", "level", "interval")
WHICH = ("K", "estimator", "metric", *SIZES, "subsets")
#: The share of the gap between random choice and the oracle that a vote closes, and on how many puzzles there is one.
GAP = ("gap_closed", "gap_closed_low", "gap_closed_high", "gap_puzzles")
#: A model of which one candidate solves a smaller share of the puzzles has not learned its task.
LEARNED = 0.01
#: Why a share of the gap is empty.
NO_GAP = "no gap: no puzzle has right and wrong candidates"
VOTING_COLUMNS = (*OF, "vote", *WHICH, "value", *INTERVAL, "tie_share", "distinct_answers", *GAP)
PAIRED_COLUMNS = (*OF, "vote", "against", *WHICH, "difference", *INTERVAL, "p", "better", "worse")
CALIBRATION_COLUMNS = (*OF, *SIZES, "of", "temperature", "fitted", "metric", "value", *INTERVAL)
RELIABILITY_COLUMNS = (
    *OF, *SIZES, "of", "unit", "binning", "temperature", "fitted", "bin", "lower", "upper", "count", "confidence",
    "accuracy", *INTERVAL,
)  # fmt: skip
RISK_COLUMNS = (*OF, *SIZES, "of", "metric", "coverage", "risk", *INTERVAL)
DISCRIMINATION_COLUMNS = (*OF, *SIZES, "metric", "measure", "value", *INTERVAL)
ADAPTIVE_COLUMNS = (
    *OF, *SIZES, "rule", "parameter", "vote", "K_max", "subsets", "threshold", "metric", "value", *INTERVAL,
    "drawn", "drawn_low", "drawn_high", "coverage", "coverage_low", "coverage_high",
    "accuracy_answered", "accuracy_answered_low", "accuracy_answered_high",
    "difference", "difference_low", "difference_high",
)  # fmt: skip
TRAJECTORIES_COLUMNS = (
    *OF, *SIZES, "puzzle", "pooled", "example", "candidate", "step", "confidence", "board", "optimal",
)  # fmt: skip
SOLVED_BOARD_COLUMNS = (
    *OF, *SIZES, "chosen_from", "box_rows", "box_columns", "puzzle", "question", "label", "candidate", "step",
    "confidence", "board", "leads", "answer",
)  # fmt: skip
SCALING_COLUMNS = (*OF, *SIZES, "vote", "estimator", "metric", "measure", "K", "flops", "from_step", "value", *INTERVAL)
#: Of a set of puzzles, for which nothing else is known of them.
DIFFICULTY_COLUMNS = ("puzzle", "measure", "value", "stratum")
#: Over all seeds, of which the columns say how many there are.
STRATA_COLUMNS = (
    *OF, "training_seeds", "inference_seeds", "measure", "stratum", "puzzles", "candidates", "vote", "K", "estimator",
    "metric", "subsets", "value", *INTERVAL, *GAP,
)  # fmt: skip
#: Of a training log the columns of every model that later stages read.
LOG_COLUMNS = ("update", "validation_loss", "validation_board")
#: What a table is called, and what its columns are.
TABLES = {
    "voting table": VOTING_COLUMNS,
    "paired comparison": PAIRED_COLUMNS,
    "calibration table": CALIBRATION_COLUMNS,
    "reliability table": RELIABILITY_COLUMNS,
    "risk table": RISK_COLUMNS,
    "discrimination table": DISCRIMINATION_COLUMNS,
    "adaptive table": ADAPTIVE_COLUMNS,
    "table of trajectories": TRAJECTORIES_COLUMNS,
    "solved board table": SOLVED_BOARD_COLUMNS,
    "table of scaling": SCALING_COLUMNS,
    "table of strata": STRATA_COLUMNS,
    "table of difficulty": DIFFICULTY_COLUMNS,
}
TYPES: dict[str, Any] = {
    "training_seed": str,
    "inference_seed": str,
    "subsets": "Int64",
    "gap_puzzles": "Int64",
    **dict.fromkeys(("puzzle", "question", "label", "answer", "stratum"), str),
}


Row = dict[str, object]


class TableError(CvotingError):
    """A file that is not the whole table it should be."""


def of_bank(study: str, header: object) -> Row:
    """The columns `OF` of the rows about a bank.

    Args:
        study: its name.
        header: the bank's (`cvoting.bank.BankHeader`).
    """
    return {"study": study} | {name: getattr(header, name) for name in OF[1:]}


def rounded(numbers: Mapping[str, float]) -> Row:
    """Numbers without the rounding errors of sums, and 0 for -0."""
    return {name: round(float(number), 12) + 0.0 for name, number in numbers.items()}


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table; the same table gives the same bytes, and `read_csv` gives the same numbers back."""
    with atomic_path(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")


def read_csv(path: Path) -> pd.DataFrame:
    """Read one of `TABLES`.

    Raises:
        TableError: when the file is none of them, holds no row, or was cut off.
    """
    return _read(path, "table of results", lambda header: header in TABLES.values(), f"{','.join(OF[:4])!r} and so on")


def read_log(path: Path) -> pd.DataFrame:
    """Read a training log.

    Raises:
        TableError: when the file lacks one of `LOG_COLUMNS`, holds no row, or was cut off.
    """
    return _read(path, "training log", set(LOG_COLUMNS).issubset, f"{', '.join(LOG_COLUMNS)} among them")


def read_tables(kind: str, banks: Sequence[str], paths: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """The tables of some banks, by bank.

    Args:
        kind: which of `TABLES` they are.
        banks: names.
        paths: the file of each bank.

    Raises:
        TableError: when a file is not a whole table of this kind, or there is not one for each bank.
    """
    if len(paths) != len(banks):
        raise TableError(f"{len(paths)} files, expected {len(banks)}: the {kind} of {', '.join(banks)}, in that order")
    tables = dict(zip(banks, map(read_csv, paths), strict=True))
    for path, table in zip(paths, tables.values(), strict=True):
        if tuple(table.columns) != TABLES[kind]:
            found = next(name for name, columns in TABLES.items() if columns == tuple(table.columns))
            raise TableError(f"{path}: a {found}, expected the {kind} of the same bank: give that")
    return tables


def without_vote(rows: pd.DataFrame) -> pd.DataFrame:
    """Of the rows of a voting table those at K = 1, which are the same for every vote, under the name of none."""
    one = rows[rows["K"] == 1]
    return one[one["vote"] == one["vote"].iloc[0]].assign(vote=NO_VOTE)


def one_candidate(table: pd.DataFrame) -> float:
    """The share of the puzzles that one candidate solves, by any of `METRICS`; NaN where no row says.

    Args:
        table: with K and estimator; the rows at K = 1 and the last step count, over all seeds there are.
    """
    one = over_all_seeds(table[(table["K"] == 1) & (table["estimator"] == ESTIMATOR) & table["metric"].isin(METRICS)])
    return float(one.loc[one["T_eval"] == one["T_eval"].max(), "value"].max())


def unlearned(table: pd.DataFrame) -> str | None:
    """Why no votes of a bank are drawn, or None: one candidate solves less than `LEARNED` of the puzzles.

    Args:
        table: as of `one_candidate`.
    """
    solved = one_candidate(table)
    return f"one candidate: {solved:.1%} of puzzles; no votes drawn below {LEARNED:.0%}" if solved < LEARNED else None


def over_all_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """The rows over all seeds there are."""
    for column in ("training_seed", "inference_seed"):
        if column in table and (table[column] == ALL).any():
            table = table[table[column] == ALL]
    return table


def seeds_of(table: pd.DataFrame) -> dict[str, int]:
    """How many training and inference seeds a table is over."""
    return {f"{kind}s": table.loc[table[kind] != ALL, kind].nunique() for kind in ("training_seed", "inference_seed")}


def _read(path: Path, what: str, fits: Callable[[tuple[str, ...]], bool], expected: str) -> pd.DataFrame:
    """A CSV file, where its columns fit and the last of its rows is whole."""
    content = path.read_bytes()
    header = tuple(content.split(b"\n", 1)[0].decode(errors="replace").split(","))
    problem = None
    if not fits(header):
        problem = f"the columns {','.join(header)[:60]!r}, expected {expected}"
    elif content.count(b"\n") < 2 or not content.endswith(b"\n"):
        problem = "it was cut off"
    if problem:
        raise TableError(f"{path}: not a {what} ({problem}): delete it and make it again")
    return pd.read_csv(path, dtype={name: kind for name, kind in TYPES.items() if name in header})
