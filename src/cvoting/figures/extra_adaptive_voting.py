"""Beyond the paper: accuracy against the mean number of candidates, where it varies from puzzle to puzzle.

Candidates of a puzzle are drawn until one is confident enough, or until an answer has been given m times; beside that
stand votes with as many candidates for every puzzle.
"""

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
    pairs_row_by_row,
    rows_and_columns,
    without_note,
)
from cvoting.figures.confidence_base import Tables, title_bank, write_confidence_figure
from cvoting.figures.style import (
    COLOURS,
    MARKERS,
    NAMES,
    OPTIMAL,
    OPTIMAL_NAME,
    candidates_axis,
    percent_axis,
    percent_x_axis,
    style,
)
from cvoting.params.figures import AdaptiveFigure
from cvoting.table_files import ADAPTIVE_COLUMNS, ESTIMATOR, INTERVAL, SIZES, over_all_seeds, seeds_of, unlearned

NAME = "extra_adaptive_voting"
#: What is said of a rule to stop, and of what it achieves.
NUMBERS = ADAPTIVE_COLUMNS[ADAPTIVE_COLUMNS.index("rule") :]
COLUMNS = (
    "bank", "title", *ABOUT, "training_seeds", "inference_seeds",
    *(name for name in NUMBERS if name not in (*SIZES, *INTERVAL[2:])), "note",
)  # fmt: skip
#: The most banks side by side, each with two panels.
ACROSS = 4
#: Rules that draw until something holds: colour, marker and name.
UNTIL: dict[str, tuple[str, str, str]] = {
    "threshold": ("#D55E00", "s", "until a candidate is confident enough"),
    "agreement": ("#332288", "^", "until an answer has been given $m$ times"),
}
#: Votes with as many candidates for every puzzle.
FIXED = ("confidence", "majority_answer")
#: How opaque a band is, by metric.
BANDS = {"board": 0.16, "optimal": 0.08}


def prepare(
    tables: Tables, params: AdaptiveFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: the rows of the banks' adaptive tables over all seeds there are.

    `difference`, the accuracy less that of C-voting with the same mean number of candidates, is in the CSV file only.

    Args:
        tables: adaptive tables, by bank.
        params: the banks.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper has no such figure.
        published: the published numbers.
    """
    of_banks = tables["adaptive"]
    rows = [_of_bank(of_banks[bank]).assign(bank=bank, title=title) for bank in params.banks]
    return pd.concat(rows, ignore_index=True)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    banks = list(dict.fromkeys(data["bank"]))
    down, across = rows_and_columns(len(banks), ACROSS)
    with style():
        figure = Figure(figsize=(3.1 * max(2, across), 5.6 * down + 0.9), layout="constrained")
        pairs = pairs_row_by_row(figure, len(banks), ACROSS)
        for place, ((upper, lower), bank) in enumerate(zip(pairs, banks, strict=True)):
            rows = data[data["bank"] == bank]
            for axes, draw_rows in ((upper, _draw_accuracy), (lower, _draw_abstention)):
                if len(without_note(rows)):
                    draw_rows(axes, rows)
                draw_notes(axes, rows)
            drawn = f"at most $K$ = {rows['K_max'].max():,} of {rows['candidates'].iloc[0]:,} candidates"
            title_bank(upper, data, bank, candidates=drawn)
            if place % across == 0:
                upper.set_ylabel("Board accuracy (%)")
                lower.set_ylabel("Board accuracy of its answers (%)")
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data), loc="outside lower center", ncols=max(2, across - 1))
    return figure


def _of_bank(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of one bank."""
    fixed = table[table["rule"] == "fixed"].assign(K=table["K_max"], estimator=ESTIMATOR)
    return over_all_seeds(table).assign(note=unlearned(fixed), **seeds_of(table))


def _draw_accuracy(axes: Axes, data: pd.DataFrame) -> None:
    """Accuracy against the mean number of candidates: curves of thresholds and fixed numbers, points of agreement."""
    for metric in data["metric"].unique():
        rows = data[data["metric"] == metric]
        for vote in FIXED:
            of_vote = rows[(rows["rule"] == "fixed") & (rows["vote"] == vote)]
            axes.plot(of_vote["drawn"], of_vote["value"], linewidth=1, **_look(COLOURS[vote], MARKERS[vote], metric))
        _draw_until(axes, rows, "drawn", "value")
    candidates_axis(axes, _powers(data["drawn"].max()))
    axes.set_xlabel("Mean number of candidates drawn")
    percent_axis(axes)


def _draw_abstention(axes: Axes, data: pd.DataFrame) -> None:
    """Accuracy of the answers against how often there is one, where none is given unless the rule stops."""
    for _, rows in data.groupby("metric", sort=False):
        _draw_until(axes, rows[rows["accuracy_answered"].notna()], "coverage", "accuracy_answered")
    axes.set(xlim=(-0.03, 1.03), xlabel="Coverage: how often the rule stops (%)")
    percent_x_axis(axes)
    percent_axis(axes)
    by_threshold = data.loc[(data["rule"] == "threshold") & data["accuracy_answered"].notna(), "drawn"]
    if len(by_threshold):
        note_below(axes, f"drawn: {by_threshold.max():.3g} (left) to {by_threshold.min():.3g} (right)")


def _draw_until(axes: Axes, data: pd.DataFrame, x: str, y: str) -> None:
    """A curve with its band of the thresholds, and a point with its interval of each number that is to agree."""
    ends = "" if y == "value" else f"{y}_"
    for rule, (colour, marker, _) in UNTIL.items():
        rows = data[data["rule"] == rule]
        if not len(rows):
            continue
        metric, low, high = rows["metric"].iloc[0], rows[f"{ends}low"], rows[f"{ends}high"]
        look = _look(colour, marker, metric)
        if rule == "threshold":
            axes.fill_between(rows[x], low, high, color=colour, alpha=BANDS[metric], linewidth=0)
        else:
            axes.vlines(rows[x], low, high, color=colour, linewidth=0.8, alpha=0.6)
            look["linestyle"] = ""
        axes.plot(rows[x], rows[y], **look)


def _look(colour: str, marker: str, metric: str) -> dict[str, Any]:
    """How a curve is drawn; `optimal` hollow."""
    return {"color": colour, "marker": marker} | (OPTIMAL if metric == "optimal" else {})


def _powers(most: float) -> list[int]:
    """Powers of two up to a number."""
    return [2**power for power in range(int(most).bit_length())]


def _legend(data: pd.DataFrame) -> list[Line2D | Patch]:
    """One entry for each rule that is there, for the other way of counting, and for the band."""
    handles: list[Line2D | Patch] = []
    for rule, (colour, marker, name) in UNTIL.items():
        if (data["rule"] == rule).any():
            handles.append(Line2D([], [], color=colour, marker=marker, label=name))
            if rule == "agreement":
                handles[-1].set_linestyle("")
    for vote in FIXED:
        if ((data["rule"] == "fixed") & (data["vote"] == vote)).any():
            look = _look(COLOURS[vote], MARKERS[vote], "board")
            handles.append(Line2D([], [], linewidth=1, label=f"{NAMES[vote]}, a fixed number", **look))
    if (data["metric"] == "optimal").any():
        handles.append(Line2D([], [], color="0.3", marker="o", label=OPTIMAL_NAME, **OPTIMAL))
    return [*handles, Patch(color="0.85", label=f"{data['level'].max():.0%} interval")]


write = partial(write_confidence_figure, NAME, AdaptiveFigure, prepare, draw)
