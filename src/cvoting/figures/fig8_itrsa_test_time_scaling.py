"""Figure 8: board accuracy of ItrSA++ against the number of steps at test time (appendix on test-time scaling).

The paper does not say whether its curves vote: the mean of the candidates (no vote) stands beside votes of all M.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

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
from cvoting.figures.style import ACROSS, COLOURS, MARKERS, NAMES, OPTIMAL, OPTIMAL_NAME, WIDTH, percent_axis, style
from cvoting.params.figures import StepsFigure
from cvoting.table_files import ESTIMATOR, METRICS, NO_VOTE, over_all_seeds, seeds_of, unlearned, without_vote

NAME = "fig8_itrsa_test_time_scaling"
COLUMNS = (
    "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "estimator", "metric", "vote", "K", "value", "low",
    "high", "note",
)  # fmt: skip


def prepare(
    tables: Mapping[str, pd.DataFrame], params: StepsFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: one row for each vote and step of each panel.

    Args:
        tables: tables of the votes at the listed steps, by bank.
        params: panels and curves.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper prints no number of this figure.
        published: the published numbers.
    """
    panels = [_panel(tables[bank], params).assign(bank=bank, title=title) for bank in params.banks]
    return pd.concat(panels, ignore_index=True)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    banks = list(dict.fromkeys(data["bank"]))
    down, across = rows_and_columns(len(banks), ACROSS)
    with style():
        figure = Figure(figsize=(WIDTH / 2 * max(2, across), 3.2 * down), layout="constrained")
        places = row_by_row(figure, len(banks), ACROSS, "Board accuracy (%)")
        for axes, bank in zip(places, banks, strict=True):
            rows = data[data["bank"] == bank]
            _draw_panel(axes, rows)
            title_panel(axes, rows, among=data)
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data), loc="outside lower center", ncols=3)
    return figure


def _panel(table: pd.DataFrame, params: StepsFigure) -> pd.DataFrame:
    """The rows of one bank: votes of all candidates, and the mean of the candidates."""
    rows = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & table["metric"].isin(METRICS)])
    shown = [vote for vote in params.votes if (rows["vote"] == vote).any()]
    voted = rows[rows["vote"].isin(shown) & (rows["K"] == rows["K"].max())]
    rows = pd.concat([voted, without_vote(rows)])
    rows = rows.assign(place=rows["vote"].map([*shown, NO_VOTE].index))
    return rows.sort_values(["metric", "place", "T_eval"]).assign(note=unlearned(table), **seeds_of(table))


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    """One curve with its band for each vote and metric."""
    for _, rows in without_note(data).groupby(["metric", "vote"], sort=False):
        look = _look(rows.iloc[0])
        axes.fill_between(rows["T_eval"], rows["low"], rows["high"], color=look["color"], alpha=0.18, linewidth=0)
        axes.plot(rows["T_eval"], rows["value"], **look)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axes.set_xlabel("Steps $T_\\mathrm{eval}$")
    percent_axis(axes)
    draw_notes(axes, data)


def _look(row: pd.Series) -> dict[str, Any]:
    """Colour and marker of the vote; `optimal` hollow."""
    look = {"color": COLOURS[row["vote"]], "marker": MARKERS[row["vote"]] or "."}
    return look | (OPTIMAL if row["metric"] == "optimal" else {})


def _legend(data: pd.DataFrame) -> list[Line2D | Patch]:
    """One entry for each vote and way of counting, and for the band."""
    handles: list[Line2D | Patch] = []
    for _, row in data[data["metric"] == "board"].drop_duplicates("vote").iterrows():
        label = NAMES[row["vote"]] + ("" if row["vote"] == NO_VOTE else ", $K$ = $M$")
        handles.append(Line2D([], [], label=label, **_look(row)))
    if (data["metric"] == "optimal").any():
        handles.append(Line2D([], [], color="0.3", marker="o", label=OPTIMAL_NAME, **OPTIMAL))
    return [*handles, Patch(color="0.85", label=f"{data['level'].iloc[0]:.0%} bootstrap interval")]


write = partial(write_figure, NAME, StepsFigure, prepare, draw)
