"""What the figures of the candidates' confidence have in common: the tables they are drawn from, titles and notes."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from cvoting.figures.base import ABOUT, title_panel, write_figure
from cvoting.params.figures import ConfidenceFigure
from cvoting.table_files import TABLES, TableError, read_tables, seeds_of

#: The kinds of tables in parameters, and what files of a kind are called.
KINDS = {kind.removesuffix(" table").removeprefix("table of ").replace(" ", "_"): kind for kind in TABLES}
#: Candidates by their last step: the columns of figures of trajectories, left to right.
GROUPS = ("wrong", "right")
#: What the rows of a figure of single candidates are of: there is no interval.
ABOUT_CANDIDATES = tuple(name for name in ABOUT if name not in ("level", "interval"))
#: Likewise where every candidate of the pooled puzzles counts; `pooled_up_to` is the largest hash of these, which are
#: those of the lowest.
ABOUT_TRAJECTORIES = (*ABOUT_CANDIDATES, "pooled_puzzles", "pooled_up_to")
#: Length of a puzzle's name in a figure; the CSV file has the whole hash.
SHOWN_DIGITS = 8

#: Tables by kind and bank.
Tables = Mapping[str, Mapping[str, pd.DataFrame]]


def read_kinds(params: ConfidenceFigure, paths: Sequence[Path]) -> dict[str, dict[str, pd.DataFrame]]:
    """The tables of a figure by kind and bank.

    Args:
        params: of the figure.
        paths: kind by kind in the order of `params.tables`, the table of each bank in the order of `params.banks`.

    Raises:
        TableError: when there is not one file for each kind and bank, or one is not the table it should be.
    """
    banks = len(params.banks)
    if len(paths) != len(params.tables) * banks:
        kinds = ", then the ".join(KINDS[kind] for kind in params.tables)
        raise TableError(
            f"{len(paths)} files, expected {len(params.tables) * banks}: the {kinds} of {', '.join(params.banks)}"
        )
    parts = [paths[start : start + banks] for start in range(0, len(paths), banks)]
    return {k: read_tables(KINDS[k], params.banks, part) for k, part in zip(params.tables, parts, strict=True)}


write_confidence_figure = partial(write_figure, read=read_kinds)


def at_temperatures(rows: pd.DataFrame, temperatures: Sequence[float], bank: str) -> pd.DataFrame:
    """Of the rows of a calibration or reliability table those at some temperatures, fitted ones left out.

    Args:
        rows: of the table of one bank.
        temperatures: which.
        bank: its name, for the error.

    Raises:
        TableError: when there is none at one of them.
    """
    rows = rows[~rows["fitted"]]
    for T in temperatures:
        if not (rows["temperature"] == T).any():
            found = ", ".join(f"{known:g}" for known in rows["temperature"].unique())
            raise TableError(f"tables of {bank}: no temperature {T:g}, expected one of {found}")
    return rows[rows["temperature"].isin(temperatures)]


def title_bank(axes: Axes, data: pd.DataFrame, bank: str, below: str = "", candidates: str = "") -> None:
    """Above a panel: its bank, and the sizes, seeds and intervals behind its numbers.

    Args:
        axes: the panel.
        data: the rows of all banks; the model is named where there are several.
        bank: the panel's.
        below: more lines, under the name.
        candidates: how many there are, where they are not the first K.
    """
    rows = data[data["bank"] == bank]
    about = rows.iloc[0]
    puzzles = f"$n$ = {about['puzzles']:,} puzzles"
    candidates = candidates or f"$K$ = {about['candidates']:,} candidates"
    sizes = f"{puzzles}, {candidates}"
    if "pooled_puzzles" in data:
        hashes = f"hashes up to {shown_puzzle(about['pooled_up_to'])}"
        sizes = f"{about['pooled_puzzles']:,} of {puzzles} pooled: {hashes}\n{candidates}"
    title_panel(axes, rows, sizes, among=data)
    axes.set_title(axes.get_title() + (f"\n{below}" if below else ""), pad=31)


def rows_of_banks(
    tables: Mapping[str, pd.DataFrame],
    title: str,
    banks: Sequence[str],
    rows_of: Callable[[pd.DataFrame], pd.DataFrame],
) -> pd.DataFrame:
    """The rows of every bank.

    Args:
        tables: of one kind, by bank.
        title: how the study is named.
        banks: in this order.
        rows_of: makes those of one table.
    """
    rows = [rows_of(tables[bank]).assign(bank=bank, title=title, **seeds_of(tables[bank])) for bank in banks]
    return pd.concat(rows, ignore_index=True)


def with_outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """Trajectories with `group`, whether a candidate is "right" or "wrong" at its last step, and which are pooled.

    Args:
        table: of trajectories, of one bank.
    """
    last = table.loc[table["step"] == table["step"].max(), ["puzzle", "candidate", "board"]]
    groups = last.assign(group=last["board"].map({0: "wrong", 1: "right"})).drop(columns="board")
    pooled = table.loc[table["pooled"], "puzzle"]
    outcomes = table.merge(groups, on=["puzzle", "candidate"])
    return outcomes.assign(pooled_puzzles=pooled.nunique(), pooled_up_to=pooled.max())


def shown_puzzle(puzzle: str) -> str:
    """The name of a puzzle in a figure."""
    return puzzle[:SHOWN_DIGITS]


def counted(n: int | np.integer, noun: str) -> str:
    """A number of things, in words.

    Args:
        n: how many.
        noun: what one of them is called.
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
