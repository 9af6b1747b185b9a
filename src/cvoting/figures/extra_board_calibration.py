"""Beyond the paper: what confidence says of whole boards, and the accuracy of answering only where it is high.

A board's confidence in C-voting is the mean top-1 probability of its cells.  The product of the same probabilities
would be the probability of the whole board, were the cells independent and calibrated.
"""

from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cvoting.figures.base import ABOUT, SMALL, model_names, note_below
from cvoting.figures.confidence_base import Tables, at_temperatures, title_bank, write_confidence_figure
from cvoting.figures.style import COLOURS, DIAGONAL, OPTIMAL, OPTIMAL_NAME, WIDTH, percent_axis, percent_x_axis, style
from cvoting.params.figures import BoardCalibrationFigure
from cvoting.table_files import METRICS, over_all_seeds, seeds_of

NAME = "extra_board_calibration"
COLUMNS = (
    "part", "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "of", "unit", "metric", "bin", "lower",
    "upper", "count", "confidence", "coverage", "value", "low", "high",
)  # fmt: skip
#: The confidences of a board: colour, marker and name.
UNITS = {
    "board_mean": (COLOURS["confidence"], "o", "mean of its top-1 probabilities"),
    "board_joint": (COLOURS["energy_last"], "s", "product of its top-1 probabilities"),
}
#: That of C-voting.
TEMPERATURE = 1.0
#: The answers whose risk is shown: colour and name.
ANSWERS = {
    "voted": (COLOURS["confidence"], "C-voting"),
    "candidates": (COLOURS["random"], "single candidates"),
}


def prepare(
    tables: Tables, params: BoardCalibrationFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions, at temperature 1.

    Parts: "reliability", a row for each bin of equal mass of C-voting's answers, `value` being the share of whole
    boards that are right; "ece", their expected calibration errors; "risk", a row for each coverage, `value` being the
    risk; "aurc", the areas under those curves.

    Args:
        tables: calibration, reliability and risk tables, by bank.
        params: the banks.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper has no such figure.
        published: the published numbers.

    Raises:
        TableError: when a table lacks temperature 1.
    """
    rows = [
        part.assign(bank=bank, title=title, **seeds_of(tables["calibration"][bank]))
        for bank in params.banks
        for part in (
            _reliability(tables["reliability"][bank], bank),
            *_numbers(tables["calibration"][bank], bank),
            _risk(tables["risk"][bank]),
        )
    ]
    data = pd.concat([part.reindex(columns=list(COLUMNS)) for part in rows], ignore_index=True)
    return data.astype({"bin": "Int64", "count": "Int64"})


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    banks = list(dict.fromkeys(data["bank"]))
    with style():
        figure = Figure(figsize=(WIDTH / 2 * max(2, len(banks)), 6.2), layout="constrained")
        upper, lower = figure.subplots(2, len(banks), squeeze=False)
        for place, bank in enumerate(banks):
            rows = data[data["bank"] == bank].set_index("part")
            _draw_reliability(upper[place], rows.loc[["reliability"]], rows.loc[["ece"]])
            _draw_risk(lower[place], rows.loc[["risk"]], rows.loc[["aurc"]])
            title_bank(upper[place], data[data["part"] == "reliability"], bank)
        upper[0].set_ylabel("Board accuracy in the bin (%)")
        lower[0].set_ylabel("Risk: wrong boards (%)")
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data), loc="outside lower center", ncols=2)
    return figure


def _reliability(table: pd.DataFrame, bank: str) -> pd.DataFrame:
    """The bins of C-voting's answers that are not empty."""
    rows = over_all_seeds(table)
    rows = rows[(rows["of"] == "voted") & rows["unit"].isin(list(UNITS)) & (rows["binning"] == "mass")]
    rows = at_temperatures(rows[rows["accuracy"].notna()], [TEMPERATURE], bank)
    rows = rows.rename(columns={"accuracy": "value"}).sort_values(["unit", "bin"])
    return rows.assign(part="reliability", metric="board")


def _numbers(table: pd.DataFrame, bank: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Expected calibration errors of C-voting's answers, and areas under the curves of risk."""
    rows = at_temperatures(over_all_seeds(table), [TEMPERATURE], bank)
    units = {f"{unit}_ece_mass": unit for unit in UNITS}
    errors = rows[rows["metric"].isin(list(units)) & (rows["of"] == "voted")]
    areas = rows[rows["metric"].isin([f"aurc_{metric}" for metric in METRICS]) & rows["of"].isin(list(ANSWERS))]
    areas = areas.sort_values(["metric", "of"], ascending=[True, False])
    return errors.assign(part="ece", unit=errors["metric"].map(units)), areas.assign(part="aurc")


def _risk(table: pd.DataFrame) -> pd.DataFrame:
    """Risk at each coverage."""
    rows = over_all_seeds(table)
    rows = rows[rows["of"].isin(list(ANSWERS)) & rows["metric"].isin(METRICS)]
    return rows.rename(columns={"risk": "value"}).sort_values(["metric", "of", "coverage"]).assign(part="risk")


def _draw_reliability(axes: Axes, data: pd.DataFrame, errors: pd.DataFrame) -> None:
    """A curve with intervals for each confidence of a board, and the diagonal; its calibration error in words."""
    axes.plot([0, 1], [0, 1], **DIAGONAL)
    for unit, (colour, marker, _) in UNITS.items():
        rows = data[data["unit"] == unit]
        axes.vlines(rows["confidence"], rows["low"], rows["high"], color=colour, linewidth=0.8, alpha=0.6)
        axes.plot(rows["confidence"], rows["value"], color=colour, marker=marker)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="Confidence in the bin (%)")
    percent_x_axis(axes)
    percent_axis(axes)
    names = {unit: unit.removeprefix("board_").replace("joint", "product") for unit in UNITS}
    note_below(axes, "\n".join(f"ECE, {names[row['unit']]}: {_points(row)}" for _, row in errors.iterrows()))


def _draw_risk(axes: Axes, data: pd.DataFrame, areas: pd.DataFrame) -> None:
    """A curve with its band for each kind of answer and way of counting; the areas under them in words."""
    for _, rows in data.groupby(["of", "metric"], sort=False):
        of, metric = rows.iloc[0][["of", "metric"]]
        look = _look(of, metric)
        band: dict[str, Any] = {"color": look["color"], "alpha": 0.1 if metric == "optimal" else 0.18, "linewidth": 0}
        axes.fill_between(rows["coverage"], rows["low"], rows["high"], **band)
        axes.plot(rows["coverage"], rows["value"], markevery=(5, 12), **look)
    intervals = ", ".join(dict.fromkeys(data["interval"]))
    axes.text(0.5, 1.02, f"interval: {intervals}", transform=axes.transAxes, **SMALL)
    axes.set(xlim=(0, 1.02), xlabel="Coverage, the most confident first (%)")
    highest = max(0.01, data["high"].max())
    axes.set_ylim(-0.02 * highest, 1.04 * highest)
    percent_x_axis(axes)
    percent_axis(axes)
    words = {"aurc_board": "", "aurc_optimal": ", any shortest path"}
    note_below(
        axes, "\n".join(f"AURC, {ANSWERS[r['of']][1]}{words[r['metric']]}: {_points(r)}" for _, r in areas.iterrows())
    )


def _points(row: pd.Series) -> str:
    """A number with its interval, in percent."""
    return f"{100 * row['value']:.1f}% ({100 * row['low']:.1f} to {100 * row['high']:.1f})"


def _look(of: str, metric: str) -> dict[str, Any]:
    """How a curve of risk is drawn; `optimal` hollow."""
    return {"color": ANSWERS[of][0]} | (OPTIMAL | {"marker": "o"} if metric == "optimal" else {})


def _legend(data: pd.DataFrame) -> list[Line2D | Patch]:
    """One entry for each curve, and for the band."""
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=colour, marker=marker, label=f"C-voting's board: {name}")
        for colour, marker, name in UNITS.values()
    ]
    handles.append(Line2D([], [], label="confidence = accuracy", **DIAGONAL))
    handles += [Line2D([], [], color=colour, label=f"risk of {name}") for colour, name in ANSWERS.values()]
    if (data["metric"] == "optimal").any():
        handles.append(Line2D([], [], color="0.3", marker="o", label=OPTIMAL_NAME, **OPTIMAL))
    return [*handles, Patch(color="0.85", label=f"{data['level'].max():.0%} interval")]


write = partial(write_confidence_figure, NAME, BoardCalibrationFigure, prepare, draw)
