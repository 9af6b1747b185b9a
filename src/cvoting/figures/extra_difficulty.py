"""Beyond the paper: accuracy against the difficulty of the puzzles, without a vote, with votes and with the oracle."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cvoting.figures.base import (
    ABOUT,
    draw_notes,
    model_names,
    row_by_row,
    rows_and_columns,
    title_panel,
    without_note,
    write_figure,
)
from cvoting.figures.style import COLOURS, MARKERS, NAMES, OPTIMAL_NAME, percent_axis, style
from cvoting.figures.voting_curves import DASHES
from cvoting.params.figures import DifficultyFigure
from cvoting.table_files import ALL, METRICS, NO_VOTE, ORACLE, read_tables, unlearned, without_vote

NAME = "extra_difficulty"
COLUMNS = (
    "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "estimator", "metric", "measure", "stratum", "vote",
    "K", "subsets", "value", "low", "high", "note",
)  # fmt: skip
#: Panels side by side, and their sizes in inches.
ACROSS, WIDE, HIGH = 4, 3.1, 2.9
#: What measures count.
MEASURES = {
    "givens": "Number of givens",
    "rating": "Rating: backtracks of a solver",
    "path_cells": "Cells of the path, S to G",
}
#: Between the points of one stratum, and between the strata and all puzzles, in strata.
APART, GAP = 0.11, 0.4


def read_strata(params: DifficultyFigure, tables: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """The tables of a figure, by bank.

    Args:
        params: of the figure.
        tables: the table of each bank, in the order of `params.banks`.

    Raises:
        TableError: when a file is not a whole table of strata, or there is not one for each bank.
    """
    return read_tables("table of strata", params.banks, tables)


def prepare(
    tables: Mapping[str, pd.DataFrame], params: DifficultyFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: one row for each stratum, and for all puzzles, of each curve.

    `puzzles` is the number of those of the stratum.  Curves are without a vote, and the votes and the oracle at the
    largest K of the bank's table.

    Args:
        tables: tables of strata, by bank.
        params: the banks and votes.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper has no such figure.
        published: the published numbers.
    """
    panels = [_panel(tables[bank], params).assign(bank=bank, title=title) for bank in params.banks]
    return pd.concat(panels, ignore_index=True)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    panels = data[["bank", "metric"]].drop_duplicates().values.tolist()
    down, across = rows_and_columns(len(panels), ACROSS)
    with style():
        figure = Figure(figsize=(WIDE * max(2, across), 0.8 + HIGH * down), layout="constrained")
        places = row_by_row(figure, len(panels), ACROSS, "Accuracy (%)")
        for axes, (bank, metric) in zip(places, panels, strict=True):
            _draw_panel(axes, data[(data["bank"] == bank) & (data["metric"] == metric)])
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data), loc="outside lower center", ncols=3)
    return figure


def _panel(table: pd.DataFrame, params: DifficultyFigure) -> pd.DataFrame:
    """The rows of one bank."""
    curves = [*(vote for vote in params.votes if vote not in (NO_VOTE, ORACLE)), ORACLE]
    voted = table[table["vote"].isin(curves) & (table["K"] == table["K"].max()) & (table["K"] > 1)]
    rows = pd.concat([without_vote(table), voted])
    place = {name: rows[name].map(list(order).index) for name, order in (
        ("metric", METRICS), ("vote", [NO_VOTE, *curves]), ("stratum", table["stratum"].unique())
    )}  # fmt: skip
    rows = rows.assign(note=unlearned(table[table["stratum"] == ALL]))
    return rows.loc[pd.DataFrame(place).sort_values(list(place)).index]


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    """A curve of points with their intervals for each vote; to the right, apart, all puzzles; n below."""
    puzzles = data.drop_duplicates("stratum").set_index("stratum")["puzzles"]
    names = [name for name in puzzles.index if name != ALL]
    places = {name: float(place) for place, name in enumerate(names)} | {ALL: len(names) + GAP}
    votes = list(dict.fromkeys(data["vote"]))
    for number, vote in enumerate(votes):
        rows = without_note(data[data["vote"] == vote])
        if not len(rows):
            continue
        x = np.array([places[name] for name in rows["stratum"]]) + APART * (number - (len(votes) - 1) / 2)
        axes.vlines(x, rows["low"], rows["high"], color=COLOURS[vote], linewidth=0.9, alpha=0.7)
        for part in (rows["stratum"] != ALL, rows["stratum"] == ALL):
            axes.plot(x[part], rows.loc[part, "value"], **_look(vote))
    axes.set_xticks(list(places.values()), [f"{name}\n{puzzles[name]:,}" for name in places], fontsize=6)
    axes.set_xlim(-0.6, len(names) + GAP + 0.6)
    axes.grid(axis="x", visible=False)
    measure = data["measure"].iloc[0]
    axes.set_xlabel(f"{MEASURES.get(measure, measure)}; below: puzzles")
    percent_axis(axes)
    about = data.iloc[0]
    sizes = f"$n$ = {puzzles[ALL]:,} puzzles, $M$ = {about['candidates']:,}, $K$ = {data['K'].max():,}"
    title_panel(axes, data, sizes)
    metric = [OPTIMAL_NAME.removeprefix("the same, ")] * (about["metric"] == "optimal")
    axes.set_title("\n".join([model_names(data), axes.get_title(), *metric]), pad=33)
    draw_notes(axes, data)


def _look(vote: str) -> dict[str, Any]:
    """Colour, marker and line of a vote."""
    return {"color": COLOURS[vote], "marker": MARKERS[vote] or ".", "linestyle": DASHES.get(vote, "-"), "linewidth": 1}


def _legend(data: pd.DataFrame) -> list[Line2D]:
    """One entry for each vote, and for the interval."""
    handles = []
    for vote in dict.fromkeys(data["vote"]):
        label = NAMES[vote] + ("" if vote == NO_VOTE else ", largest $K$")
        handles.append(Line2D([], [], label=label, **_look(vote)))
    label = f"{data['level'].iloc[0]:.0%} interval"
    return [*handles, Line2D([], [], color="0.4", linestyle="", marker="|", markersize=9, label=label)]


write = partial(write_figure, NAME, DifficultyFigure, prepare, draw, read=read_strata)
