"""Beyond the paper: how much of the gap between random choice and the oracle each selection rule closes, against K.

Every rule selects among the same candidates, so their numbers are paired; shares compare rules across models and tasks
whose accuracies differ.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cvoting.figures.base import (
    ABOUT,
    draw_notes,
    model_names,
    note_below,
    row_by_row,
    rows_and_columns,
    title_panel,
    without_note,
    write_figure,
)
from cvoting.figures.confidence_base import counted
from cvoting.figures.style import COLOURS, MARKERS, NAMES, candidates_axis, percent_ticks, style
from cvoting.figures.voting_curves import DASHES
from cvoting.params.figures import RulesFigure
from cvoting.table_files import ESTIMATOR, GAP, METRICS, NO_GAP, NO_VOTE, ORACLE, over_all_seeds, seeds_of, unlearned

NAME = "extra_selection_rules"
#: They are 0 and 1 by definition.
REFERENCES = (NO_VOTE, ORACLE)
NUMBERS = ("value", "low", "high", "accuracy", "accuracy_low", "accuracy_high", "gap", "gap_puzzles", "note")
COLUMNS = (
    "panel", "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "estimator", "metric", "vote", "K",
    "subsets", *NUMBERS,
)  # fmt: skip
#: Panels side by side, and their sizes in inches.
ACROSS, WIDE, HIGH = 5, 2.9, 3.1
ANY_PATH = "any shortest path is right"


def prepare(
    tables: Mapping[str, pd.DataFrame], params: RulesFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: one row for each rule and K of each panel, K = 1 left out.

    `value` is the share of the gap that a rule closes, by the `expected` estimator over all seeds there are; empty,
    with a `note`, where there is no gap.  A bank that has not learned its task has a `note` too, and no curves.  `gap`
    is the accuracy of the oracle less that of random choice, and `gap_puzzles` the number of puzzles that it is on.
    `subsets` is how many subsets of candidates a majority is the mean over; empty where a number is exact.

    Args:
        tables: voting tables, by bank.
        params: panels and rules.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper has no such figure.
        published: the published numbers.
    """
    panels = [
        _panel(tables[bank], metric, params).assign(bank=bank, title=title)
        for bank in params.banks
        for metric in METRICS
        if (tables[bank]["metric"] == metric).any()
    ]
    rows = [panel.assign(panel=place) for place, panel in enumerate(panels, start=1)]
    return pd.concat(rows, ignore_index=True)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    panels = data[["bank", "metric"]].drop_duplicates().values.tolist()
    down, across = rows_and_columns(len(panels), ACROSS)
    with style():
        figure = Figure(figsize=(WIDE * across, 0.9 + HIGH * down), layout="constrained")
        places = row_by_row(figure, len(panels), ACROSS, "Share of the gap closed (%)")
        for axes, (bank, metric) in zip(places, panels, strict=True):
            _draw_panel(axes, data[(data["bank"] == bank) & (data["metric"] == metric)])
        figure.suptitle(f"Selection rules, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data), loc="outside lower center", ncols=min(5, 2 * across - 1))
    return figure


def _panel(table: pd.DataFrame, metric: str, params: RulesFigure) -> pd.DataFrame:
    """The rows of one bank and metric."""
    shown = [*(vote for vote in params.votes if vote not in REFERENCES), *REFERENCES]
    rows = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & (table["metric"] == metric) & (table["K"] > 1)])
    accuracies = rows.pivot(index="K", columns="vote", values="value")
    rows = rows[rows["vote"].isin(shown)].rename(columns={name: f"accuracy_{name}" for name in ("low", "high")})
    rows = rows.rename(columns={"value": "accuracy"} | dict(zip(GAP, ("value", "low", "high"), strict=False)))
    rows = rows.assign(gap=rows["K"].map(accuracies[ORACLE] - accuracies[NO_VOTE]), place=rows["vote"].map(shown.index))
    rows = rows.assign(
        note=unlearned(table) or rows["value"].isna().map({True: NO_GAP, False: None}), **seeds_of(table)
    )
    return rows.sort_values(["place", "K"])


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    """A curve with its band for each rule, and the references as lines; in words where there is no gap."""
    defined = without_note(data)
    for vote in dict.fromkeys(defined["vote"]):
        rows = defined[defined["vote"] == vote]
        if vote in REFERENCES:
            axes.plot(rows["K"], rows["value"], **_look(vote))
        else:
            axes.fill_between(rows["K"], rows["low"], rows["high"], color=COLOURS[vote], alpha=0.1, linewidth=0)
            axes.plot(rows["K"], rows["value"], **_look(vote))
    candidates_axis(axes, sorted(set(data["K"])))
    percent_ticks(axes.yaxis)
    optimal = data["metric"].iloc[0] == "optimal"
    title_panel(axes, data)
    axes.set_title("\n".join([f"{model_names(data)}", axes.get_title(), *[ANY_PATH] * optimal]), pad=33)
    if not len(defined):
        draw_notes(axes, data)
    last = data[data["K"] == data["K"].max()].iloc[0]
    on = counted(last["gap_puzzles"], "puzzle")
    note_below(axes, f"oracle $-$ random at $K$ = {last['K']:,}: {100 * last['gap']:.1f} points, on {on}")


def _look(vote: str) -> dict[str, Any]:
    """How the curve of a rule is drawn."""
    line = {"color": COLOURS[vote], "marker": MARKERS[vote]}
    return line | ({"linestyle": DASHES[vote], "linewidth": 1} if vote in REFERENCES else {})


def _legend(data: pd.DataFrame) -> list[Line2D | Patch]:
    """One entry for each rule, and for the band."""
    known = sorted(dict.fromkeys(data["vote"]), key=REFERENCES.__contains__)
    handles: list[Line2D | Patch] = [Line2D([], [], label=NAMES[vote], **_look(vote)) for vote in known]
    return [*handles, Patch(color="0.85", label=f"{data['level'].iloc[0]:.0%} bootstrap interval")]


write = partial(write_figure, NAME, RulesFigure, prepare, draw)
