"""Figure 6: confidence of the candidates that are wrong and of those that are right (Section 6.5).

"32 samples with 32 different initial states" may be one puzzle or many: the candidates of all pooled puzzles, grouped
by their own answer, stand behind those of the one puzzle of Figure 7.
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cvoting.figures.base import model_names
from cvoting.figures.confidence_base import (
    ABOUT_TRAJECTORIES,
    GROUPS,
    Tables,
    counted,
    rows_of_banks,
    shown_puzzle,
    title_bank,
    with_outcomes,
    write_confidence_figure,
)
from cvoting.figures.style import OUTCOME_COLOURS, WIDTH, percent_axis, percent_x_axis, style
from cvoting.params.figures import TrajectoriesFigure

NAME = "fig6_confidence_histograms"
BINS = 24
#: Range of the bins of a bank whose candidates are all equally confident.
LEAST_RANGE = 1e-3
NUMBERS = (
    "group", "shown", "puzzle", "shown_puzzles", "shown_candidates", "right", "optimal", "mean", "standard_deviation",
    "standard_deviation_within", "quartile_1", "quartile_3", "interquartile_range", "bin", "lower", "upper", "count",
    "share",
)  # fmt: skip
COLUMNS = ("bank", "title", *ABOUT_TRAJECTORIES, "training_seeds", "inference_seeds", *NUMBERS)
OUTLINE: dict[str, Any] = {"color": "0.1", "linewidth": 1, "linestyle": (0, (3, 1))}


def prepare(
    tables: Tables, params: TrajectoriesFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: one row for each bin of each histogram.

    `shown` is "pooled" for the candidates of the group among those of all pooled puzzles, and "example" for all
    candidates of one puzzle, whose C-vote is what `group` says.  `right` and `optimal` are shares of the candidates
    shown.  `standard_deviation` is that of a sample, of all these together, empty for a single one;
    `standard_deviation_within` that of those of one puzzle, the mean over the puzzles with two or more.

    Args:
        tables: tables of trajectories, by bank.
        params: the banks.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper prints no number of this figure.
        published: the published numbers.
    """
    return rows_of_banks(tables["trajectories"], title, params.banks, _bank)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    banks = list(dict.fromkeys(data["bank"]))
    with style():
        figure = Figure(figsize=(WIDTH, 0.4 + 3.0 * len(banks)), layout="constrained")
        panels = figure.subplots(len(banks), len(GROUPS), squeeze=False, sharex="row", sharey="row")
        for row, bank in zip(panels, banks, strict=True):
            for axes, group in zip(row, GROUPS, strict=True):
                _draw_panel(axes, data[(data["bank"] == bank) & (data["group"] == group)])
                title_bank(axes, data, bank, f"bars: {group} candidates\noutline: a puzzle with a {group} C-vote")
                axes.set_xlabel("Confidence at the last step (%)")
            _finish(row, data[data["bank"] == bank])
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
    return figure


def _bank(table: pd.DataFrame) -> pd.DataFrame:
    """The histograms of one bank, in bins that all of them share."""
    ends = with_outcomes(table)
    ends = ends[ends["step"] == ends["step"].max()]
    edges, histograms = _edges(ends["confidence"]), []
    for group in GROUPS:
        pooled, example = ends[ends["pooled"] & (ends["group"] == group)], ends[ends["example"] == group]
        histograms.append(_histogram(pooled, edges).assign(group=group, shown="pooled"))
        if len(example):
            name = example["puzzle"].iloc[0]
            histograms.append(_histogram(example, edges).assign(group=group, shown="example", puzzle=name))
    about = {name: ends[name].iloc[0] for name in ABOUT_TRAJECTORIES}
    return pd.concat(histograms, ignore_index=True).assign(**about)


def _edges(confidence: pd.Series) -> np.ndarray:
    """The edges of the bins, from the least to the largest confidence."""
    low, high = confidence.min(), confidence.max()
    if high - low < LEAST_RANGE:
        low = high - LEAST_RANGE
    return np.linspace(low, high, BINS + 1)


def _histogram(shown: pd.DataFrame, edges: np.ndarray) -> pd.DataFrame:
    """One histogram, with what describes its candidates; empty where there are none."""
    values = shown["confidence"].to_numpy()
    counts, _ = np.histogram(values, edges)
    n = len(values)
    first, third = np.quantile(values, [0.25, 0.75]) if n else (np.nan, np.nan)
    numbers = {
        "puzzle": None,
        "shown_puzzles": shown["puzzle"].nunique(),
        "shown_candidates": n,
        "right": shown["board"].mean(),
        "optimal": shown["optimal"].mean(),
        "mean": shown["confidence"].mean(),
        "standard_deviation": shown["confidence"].std(ddof=1),
        "standard_deviation_within": shown.groupby("puzzle")["confidence"].std(ddof=1).mean(),
        "quartile_1": first,
        "quartile_3": third,
        "interquartile_range": third - first,
    }
    bins = {"bin": np.arange(1, BINS + 1), "lower": edges[:-1], "upper": edges[1:], "count": counts}
    return pd.DataFrame(bins | {"share": counts / n if n else np.nan}).assign(**numbers)


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    """Bars of the pooled candidates, the outline of the example, and what describes both."""
    group = data["group"].iloc[0]
    for shown, look in (
        ("pooled", {"fill": True, "color": OUTCOME_COLOURS[group], "alpha": 0.55}),
        ("example", OUTLINE),
    ):
        rows = data[data["shown"] == shown]
        if rows.empty:
            axes.plot([], [], linestyle="", label=f"no puzzle whose C-vote is {group}")
        elif rows["share"].isna().all():
            axes.plot([], [], linestyle="", label=f"no candidate of the pooled puzzles is {group}")
        else:
            edges = [*rows["lower"], rows["upper"].iloc[-1]]
            axes.stairs(rows["share"], edges, label=_words(rows.iloc[0]), **look)
    axes.legend(loc="upper left", fontsize=6, borderaxespad=0.2, labelspacing=0.4, handlelength=1.6)


def _finish(row: np.ndarray, data: pd.DataFrame) -> None:
    """The axes that the panels of a bank share, with room for the legends above the bars."""
    axes, largest = row[0], data["share"].max()
    margin = 0.03 * (data["upper"].max() - data["lower"].min())
    axes.set_xlim(data["lower"].min() - margin, data["upper"].max() + margin)
    percent_x_axis(axes)
    percent_axis(axes)
    highest = largest if largest > 0 else 1.0
    axes.set_ylim(0, min(1, 1.15 * highest))
    axes.set_yticks([y for y in axes.get_yticks() if 0 <= y <= min(1, 1.15 * highest)])
    axes.set_ylim(0, 1.6 * highest)
    axes.set_ylabel("Share of candidates (%)")


def _words(histogram: pd.Series) -> str:
    """How many candidates a histogram is of, and how far they spread."""
    n, puzzles = histogram["shown_candidates"], histogram["shown_puzzles"]
    if histogram["shown"] == "example":
        who = f"puzzle {shown_puzzle(histogram['puzzle'])}, C-vote {histogram['group']}:\n"
        who += f"{counted(n, 'candidate')}, {histogram['right']:.0%} of them right"
    else:
        who = f"{counted(n, 'candidate')} of {counted(puzzles, 'puzzle')}"
    if histogram["group"] == "wrong" and histogram["shown"] == "pooled" and pd.notna(histogram["optimal"]):
        who += f", {histogram['optimal']:.0%} a shortest path"
    if n == 1:
        return who
    names = ("standard_deviation", "standard_deviation_within", "interquartile_range")
    sd, within, between = (100 * histogram[name] for name in names)
    pooled = f" (within a puzzle {within:.3g})" if puzzles > 1 and pd.notna(within) else ""
    return f"{who}\nsd {sd:.3g}{pooled}, IQR {between:.3g} points"


write = partial(write_confidence_figure, NAME, TrajectoriesFigure, prepare, draw)
