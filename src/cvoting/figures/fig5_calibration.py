"""Figure 5: reliability at several temperatures, and calibration error against accuracy (Section 6.5).

The paper does not say what its points are.  We read it thus: the reliability of every cell that the candidates predict;
below, a point for each temperature, its expected calibration error (ECE) that of all the candidates' cells and its
accuracy the cell accuracy of C-voting's answer among the same candidates, whose ranking the temperature can change.
Of its numbers the paper states one: the ECE is least at T = 2.
"""

from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cvoting.figures.base import ABOUT, SMALL, model_names, note_below
from cvoting.figures.confidence_base import Tables, at_temperatures, title_bank, write_confidence_figure
from cvoting.figures.style import (
    COLOURS,
    DIAGONAL,
    PUBLISHED,
    WIDTH,
    ordered_colours,
    percent_axis,
    percent_x_axis,
    style,
)
from cvoting.params.figures import CalibrationFigure
from cvoting.table_files import over_all_seeds, seeds_of

NAME = "fig5_calibration"
COLUMNS = (
    "part", "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "of", "metric", "temperature", "fitted",
    "least", "published_least", "bin", "lower", "upper", "count", "confidence", "value", "low", "high",
)  # fmt: skip
#: The calibration error and the accuracy of a point; further numbers of each temperature in the CSV file.
ERROR, ACCURACY = ("candidates", "cell_ece_width"), ("voted", "cell_accuracy")
WITHOUT_VOTE = ("candidates", "cell_accuracy")
SWEEP = (
    ERROR, ACCURACY, WITHOUT_VOTE, ("candidates", "cell_confidence"), ("candidates", "cell_ece_mass"),
    ("candidates", "cell_brier"), ("candidates", "cell_nll"), ("voted", "board"), ("candidates", "board"),
    ("voted", "optimal"), ("candidates", "optimal"), ("voted", "cell_accuracy_change"), ("voted", "board_change"),
    ("voted", "optimal_change"),
)  # fmt: skip
#: Paired differences of C-voting's answers from those at temperature 1, whose largest is written in the panel.
CHANGES = {"cell_accuracy_change": "cells", "board_change": "boards"}
#: What the published temperature is called in reference/published.csv.
PUBLISHED_METRIC = "least_ece_temperature"
#: Bins of fewer predictions are hollow.  Of 30 that are all right, one in ten may be wrong of many more (3 / n, the
#: rule of three), while the bootstrap interval of such a bin has no width.
FEW = 30
MARKERS = "osD^vPX"
FITTED: dict[str, Any] = {"color": COLOURS["energy_sum"], "marker": "*", "markersize": 9, "linestyle": "", "zorder": 4}
LEAST: dict[str, Any] = {
    "color": "0.15", "marker": "o", "markersize": 9, "markerfacecolor": "none", "markeredgewidth": 0.9,
    "linestyle": "", "zorder": 4,
}  # fmt: skip
DASHED: dict[str, Any] = {"color": COLOURS["random"], "linestyle": (0, (4, 2)), "linewidth": 1, "zorder": 1}
#: Least distance of two labels above a panel, as a share of its width; how many of them stand in one row.
GAP, IN_A_ROW = 0.088, 11


def prepare(
    tables: Tables, params: CalibrationFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions.

    Part "reliability": a row for each bin that is not empty, `value` being the accuracy in it.  Part "sweep": a row for
    each temperature and metric of `SWEEP`; `least` marks the smallest calibration error of those that were not fitted,
    `published_least` that of the temperature where the paper's is least.  Part "largest_change": of each of `CHANGES`
    the row of the sweep where it is the largest in size.

    Args:
        tables: calibration and reliability tables, by bank.
        params: the banks, and the temperatures whose reliability is drawn.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale: elsewhere no published temperature is marked.
        published: the published numbers.

    Raises:
        TableError: when a reliability table lacks a temperature.
    """
    rows = [
        part.assign(bank=bank, title=title, **seeds_of(tables["calibration"][bank]))
        for bank in params.banks
        for part in (
            _reliability(tables["reliability"][bank], params.temperatures, bank),
            *_sweep(tables["calibration"][bank], published if paper_scale else None),
        )
    ]
    data = pd.concat([part.reindex(columns=list(COLUMNS)) for part in rows if len(part)], ignore_index=True)
    return data.astype({"least": bool, "published_least": bool, "bin": "Int64", "count": "Int64"})


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    banks, colours = list(dict.fromkeys(data["bank"])), ordered_colours(data.loc[~data["fitted"], "temperature"])
    with style():
        figure = Figure(figsize=(WIDTH / 2 * max(2, len(banks)), 5.9), layout="constrained")
        upper, lower = figure.subplots(2, len(banks), squeeze=False)
        for place, bank in enumerate(banks):
            rows = data[data["bank"] == bank]
            _draw_reliability(upper[place], rows[rows["part"] == "reliability"], colours)
            _draw_sweep(lower[place], rows[rows["part"] == "sweep"], colours)
            _write_changes(lower[place], rows[rows["part"] == "largest_change"])
            title_bank(upper[place], data, bank)
        upper[0].set_ylabel("Cell accuracy in the bin (%)")
        lower[0].set_ylabel("Cell accuracy of C-voting (%)")
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data, colours), loc="outside lower center", ncols=4)
    return figure


def _reliability(table: pd.DataFrame, temperatures: tuple[float, ...], bank: str) -> pd.DataFrame:
    """The bins of all cells that the candidates of a bank predict."""
    rows = over_all_seeds(table)
    rows = rows[(rows["of"] == "candidates") & (rows["unit"] == "cell") & (rows["binning"] == "width")]
    rows = at_temperatures(rows[rows["accuracy"].notna()], temperatures, bank)
    rows = rows.sort_values(["temperature", "bin"]).rename(columns={"accuracy": "value"})
    return rows.assign(part="reliability", metric="cell_accuracy", least=False, published_least=False)


def _sweep(table: pd.DataFrame, published: pd.DataFrame | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The numbers of each temperature, a fitted one last; and those of the largest changes."""
    rows = over_all_seeds(table)
    which = pd.Series(list(zip(rows["of"], rows["metric"], strict=True)), index=rows.index)
    rows = rows.assign(place=which.map({key: place for place, key in enumerate(SWEEP)}))
    rows = rows[rows["place"].notna()].sort_values(["place", "fitted", "temperature"])
    swept = rows[~rows["fitted"]]
    errors = swept[swept["place"] == SWEEP.index(ERROR)]
    stated = errors["temperature"].isin(_published_temperatures(published, rows["model"].iloc[0]))
    changes = swept.loc[swept["metric"].isin(list(CHANGES)), ["metric", "value"]]
    by_size = changes.assign(value=changes["value"].abs()).sort_values("value", kind="stable")
    largest = by_size.drop_duplicates("metric", keep="last")
    largest_changes = rows.loc[largest.index].sort_values("place")
    return (
        rows.assign(
            part="sweep",
            least=rows.index == errors["value"].idxmin(),
            published_least=rows.index.isin(errors.index[stated]),
        ),
        largest_changes.assign(part="largest_change", least=False, published_least=False),
    )


def _published_temperatures(published: pd.DataFrame | None, model: str) -> list[float]:
    """Where the calibration error of a model is least in the paper, if it says so; None where nothing is compared."""
    if published is None:
        return []
    return list(published.loc[(published["metric"] == PUBLISHED_METRIC) & (published["model"] == model), "value"])


def _draw_reliability(axes: Axes, data: pd.DataFrame, colours: dict[float, str]) -> None:
    """A curve with intervals for each temperature, and the diagonal."""
    axes.plot([0, 1], [0, 1], **DIAGONAL)
    for place, (_, rows) in enumerate(data.groupby("temperature")):
        look: dict[str, Any] = {"color": colours[rows["temperature"].iloc[0]], "zorder": 2 + 0.1 * place}
        axes.vlines(rows["confidence"], rows["low"], rows["high"], linewidth=0.8, alpha=0.6, **look)
        look["marker"] = MARKERS[place % len(MARKERS)]
        axes.plot(rows["confidence"], rows["value"], **look)
        few = rows[rows["count"] < FEW]
        if len(few):
            axes.plot(few["confidence"], few["value"], linestyle="", markerfacecolor="white", **look)
    least = min(data["confidence"].min(), data["value"].min(), data["low"].min())
    start = max(0.0, int(10 * least) / 10)
    limits = (start - 0.02 * (1 - start), 1 + 0.02 * (1 - start))
    axes.set(xlim=limits, ylim=limits)
    axes.set_xlabel("Confidence: mean top-1 probability in the bin (%)")
    percent_x_axis(axes)
    percent_axis(axes)


def _draw_sweep(axes: Axes, data: pd.DataFrame, colours: dict[float, str]) -> None:
    """A point with both intervals for each temperature, and the mean of the candidates."""
    x, y, without = (
        data[(data["of"] == of) & (data["metric"] == metric)].set_index(["fitted", "temperature"])
        for of, metric in (ERROR, ACCURACY, WITHOUT_VOTE)
    )
    points = x.join(y[["value", "low", "high"]].add_suffix("_y"), how="inner").reset_index()
    axes.axhline(without["value"].iloc[0], **DASHED)
    swept = points[~points["fitted"]]
    axes.plot(swept["value"], swept["value_y"], color="0.6", linewidth=0.8, zorder=2)
    for _, point in points.iterrows():
        colour = FITTED["color"] if point["fitted"] else colours[point["temperature"]]
        at = (point["value"], point["value_y"])
        axes.hlines(at[1], point["low"], point["high"], color=colour, linewidth=0.8, alpha=0.6)
        axes.vlines(at[0], point["low_y"], point["high_y"], color=colour, linewidth=0.8, alpha=0.6)
        axes.plot(*at, **FITTED if point["fitted"] else {"color": colour, "marker": "o", "zorder": 3})
        if point["published_least"]:
            axes.plot(*at, color=colour, zorder=3.5, **PUBLISHED)
        if point["least"]:
            axes.plot(*at, **LEAST)
    axes.set_xlabel("ECE of the candidates' cells (%)")
    percent_x_axis(axes)
    percent_axis(axes)
    _label(axes, points.sort_values(["value", "temperature"]), colours)


def _write_changes(axes: Axes, data: pd.DataFrame) -> None:
    """How far C-voting's accuracy moves with the temperature, in words."""
    changes = [f"{CHANGES[row['metric']]} at most {100 * abs(row['value']):.2g}" for _, row in data.iterrows()]
    if changes:
        note_below(axes, f"change of C-voting's accuracy from $T$ = 1:\n{', '.join(changes)} points")


def _label(axes: Axes, points: pd.DataFrame, colours: dict[float, str]) -> None:
    """The temperatures above the panel, many of them in two rows, each with a line to its point."""
    low, high = axes.get_xlim()
    rows = 1 if len(points) <= IN_A_ROW else 2
    places = _apart([(x - low) / (high - low) for x in points["value"]], GAP / rows)
    heights = [1.05 + 0.07 * (number % rows) for number in range(len(points))]
    for place, height, (_, point) in zip(places, heights, points.iterrows(), strict=True):
        colour = FITTED["color"] if point["fitted"] else colours[point["temperature"]]
        axes.annotate(
            f"{point['temperature']:.3g}", (point["value"], point["value_y"]), (place, height), "data", "axes fraction",
            arrowprops={"arrowstyle": "-", "color": "0.8", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3},
            **SMALL | {"color": colour, "fontweight": "bold" if point["fitted"] else "normal"},
        )  # fmt: skip
    axes.set_title("temperature $T$ of each point", fontsize=6.5, color="0.35", pad=7 + 10 * rows)


def _apart(wanted: list[float], gap: float) -> list[float]:
    """Places near ascending wanted ones that are so far apart, or less where there are too many."""
    last = len(wanted) - 1
    gap = min(gap, 0.96 / max(1, last))
    right, left = list(wanted), list(wanted)
    for i in range(1, last + 1):
        right[i] = max(right[i], right[i - 1] + gap)
        left[last - i] = min(left[last - i], left[last - i + 1] - gap)
    middle = [(a + b) / 2 for a, b in zip(left, right, strict=True)]
    middle = [max(place, 0.02 + i * gap) for i, place in enumerate(middle)]
    return [min(place, 0.98 - (last - i) * gap) for i, place in enumerate(middle)]


def _legend(data: pd.DataFrame, colours: dict[float, str]) -> list[Line2D]:
    """One entry for each curve, and for what is marked."""
    drawn = sorted(set(data.loc[data["part"] == "reliability", "temperature"]))
    handles = [
        Line2D([], [], color=colours[T], marker=MARKERS[place % len(MARKERS)], label=f"$T$ = {T:g}")
        for place, T in enumerate(drawn)
    ]
    handles += [
        Line2D([], [], label="confidence = accuracy", **DIAGONAL),
        Line2D([], [], label="least ECE of the sweep", **LEAST),
    ]
    if data["fitted"].any():
        handles.append(Line2D([], [], label="$T$ fitted on other puzzles", **FITTED))
    if data["published_least"].any():
        handles.append(Line2D([], [], color="0.3", label="published: least ECE", **PUBLISHED))
    if (data["count"] < FEW).any():
        hollow: dict[str, Any] = {"color": "0.3", "marker": "o", "markerfacecolor": "white", "linestyle": ""}
        handles.append(Line2D([], [], label=f"fewer than {FEW} predictions", **hollow))
    interval = f"{data['level'].max():.0%} interval"
    handles += [
        Line2D([], [], label="mean of candidates", **DASHED),
        Line2D([], [], color="0.3", linestyle="", marker="|", markersize=8, label=interval),
    ]
    return handles


write = partial(write_confidence_figure, NAME, CalibrationFigure, prepare, draw)
