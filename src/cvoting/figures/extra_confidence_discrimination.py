"""Beyond the paper: why voting helps or not.

C-voting gains where the candidates of a puzzle differ, where some of them are right, and where confidence tells these
from the others: the diversity, the oracle, and the AUROC within puzzles.
"""

from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cvoting.figures.base import ABOUT, SMALL, dataset_name, model_names
from cvoting.figures.confidence_base import Tables, write_confidence_figure
from cvoting.figures.style import COLOURS, MODELS, OUTCOME_COLOURS, percent_x_axis, style
from cvoting.params.figures import DiscriminationFigure
from cvoting.table_files import METRICS, over_all_seeds, seeds_of

NAME = "extra_confidence_discrimination"
COLUMNS = (
    "row", "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "metric", "panel", "measure", "value", "low",
    "high",
)  # fmt: skip
#: Of mazes by their label only: elsewhere no wrong candidate can be right otherwise.
WRONG_PATHS = "wrong_but_optimal"
GREY, PLAIN = "0.3", COLOURS["confidence"]
FILLED, HOLLOW = "full", "none"
#: Of each measure: its panel, how far below the middle of its row it stands, colour, marker, filled or not, and name.
MEASURES: dict[str, tuple[str, float, str, str, Any, str]] = {
    "distinct_answers": ("a", 0.0, PLAIN, "o", FILLED, "distinct answers"),
    "sd_within": ("b", -0.27, GREY, "o", FILLED, "within a puzzle: all candidates"),
    "sd_within_right": ("b", -0.09, OUTCOME_COLOURS["right"], "^", FILLED, "within: right candidates"),
    "sd_within_wrong": ("b", 0.09, OUTCOME_COLOURS["wrong"], "v", FILLED, "within: wrong candidates"),
    "sd_between": ("b", 0.27, GREY, "o", HOLLOW, "between puzzles"),
    "auroc_within": ("c", -0.3, PLAIN, "D", FILLED, "AUROC within a puzzle"),
    "auroc_between": ("c", -0.14, PLAIN, "D", HOLLOW, "AUROC between puzzles"),
    "auroc_within_energy_last": ("c", 0.02, COLOURS["energy_last"], "D", FILLED, "AUROC within: last energy"),
    "auroc_within_energy_sum": ("c", 0.16, COLOURS["energy_sum"], "D", FILLED, "AUROC within: summed energy"),
    "no_vote": ("d", -0.3, COLOURS["random"], "s", FILLED, "without a vote"),
    "vote": ("d", -0.14, COLOURS["confidence"], "o", FILLED, "C-voting"),
    "oracle": ("d", 0.02, COLOURS["oracle"], "|", FILLED, "oracle: any candidate right"),
    "mixed_puzzles": ("c", 0.32, GREY, "", FILLED, "{value} of puzzles are mixed"),
    WRONG_PATHS: ("d", 0.3, GREY, "", FILLED, "{value} of the wrong are shortest paths"),
}
PANELS = {
    "a": "Distinct answers\nof $K$ candidates",
    "b": "Standard deviation of\nconfidence (points)",
    "c": "AUROC of confidence, or of\nthe energy, for right candidates",
    "d": "Accuracy (%)",
}
UNDEFINED = "–"


def prepare(
    tables: Tables, params: DiscriminationFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: one row for each measure of each bank and metric.

    Every measure is of the first K candidates of each puzzle, as many as `candidates` says.
    `row` counts the rows of the figure from the top; an empty `value` is undefined, such as the AUROC where no
    candidate is wrong.

    Args:
        tables: discrimination tables, by bank.
        params: the banks.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper has no such figure.
        published: the published numbers.
    """
    places = {measure: place for place, measure in enumerate(MEASURES)}
    rows: list[pd.DataFrame] = []
    for bank in params.banks:
        table = tables["discrimination"][bank]
        known = over_all_seeds(table)
        of_mazes = (known["measure"] != WRONG_PATHS) | (
            (known["metric"] == "board") & (METRICS[1] in set(known["metric"]))
        )
        known = known[known["measure"].isin(list(MEASURES)) & of_mazes]
        for metric in METRICS:
            one = known[known["metric"] == metric]
            if len(one):
                one = one.sort_values("measure", key=lambda measures: measures.map(places))
                rows.append(one.assign(row=len(rows) + 1, bank=bank, title=title, **seeds_of(table)))
    data = pd.concat(rows, ignore_index=True)
    return data.assign(panel=data["measure"].map({name: look[0] for name, look in MEASURES.items()}))[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    count = data["row"].max()
    with style():
        figure = Figure(figsize=(11, 2.1 + 0.56 * count), layout="constrained")
        panels = figure.subplots(1, len(PANELS), sharey=True)
        for axes, (panel, name) in zip(panels, PANELS.items(), strict=True):
            _draw_panel(axes, data[data["panel"] == panel])
            axes.set_title(f"({panel})", loc="left", fontweight="bold")
            axes.set_xlabel(name)
            axes.grid(axis="y", visible=False)
            axes.tick_params(axis="y", length=0)
        panels[0].set_ylim(count + 0.55, 0.45)
        panels[0].set_yticks(range(1, count + 1), [_about(rows) for _, rows in data.groupby("row")], fontsize=6.5)
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data), loc="outside lower center", ncols=5)
    return figure


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    """A mark with its interval for each measure, in the row of its bank and metric."""
    panel = data["panel"].iloc[0]
    for y in data["row"].unique():
        axes.axhline(y + 0.5, color="0.85", linewidth=0.6)
    if panel == "c":
        axes.axvline(0.5, color="0.6", linestyle=":", linewidth=1)
    for y in data["row"].unique():
        rows = data[data["row"] == y]
        if panel == "d":
            ends = rows.loc[rows["measure"].isin(["no_vote", "oracle"]), "value"]
            axes.hlines(y + MEASURES["vote"][1], ends.min(), ends.max(), color="0.75", linewidth=3, zorder=1)
        for _, row in rows.iterrows():
            _draw_measure(axes, row)
    if panel == "a":
        axes.set_xlim(0, 1.05 * max(1, data["high"].max(), data["value"].max()))
    elif panel in ("c", "d"):
        axes.set_xlim(-0.03, 1.03)
    if panel in ("b", "d"):
        percent_x_axis(axes)


def _draw_measure(axes: Axes, row: pd.Series) -> None:
    """The mark and the interval of one measure; in words where it has no mark, or no value."""
    _, below, colour, marker, fill, name = MEASURES[row["measure"]]
    y, defined = row["row"] + below, pd.notna(row["value"])
    if marker and defined:
        axes.hlines(y, row["low"], row["high"], color=colour, linewidth=0.9)
        look: dict[str, Any] = {"color": colour, "marker": marker, "fillstyle": fill, "markersize": _size(marker)}
        axes.plot(row["value"], y, zorder=3, **look)
    elif marker:
        _write(axes, 0.03, y, f"{UNDEFINED} {name.removeprefix('AUROC ')}", "left")
    elif defined:
        _write(axes, 0.5, y, name.format(value=f"{100 * row['value']:.3g}%"), "center")


def _write(axes: Axes, x: float, y: float, words: str, align: str) -> None:
    """Small words in a row, at a share of the panel's width."""
    look = SMALL | {"ha": align, "va": "center", "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.4}}
    axes.text(x, y, words, transform=axes.get_yaxis_transform(), **look)


def _size(marker: str) -> float:
    """Of a mark, in points."""
    return 8.0 if marker == "|" else 4.0


def _about(rows: pd.DataFrame) -> str:
    """What a row is of."""
    about = rows.iloc[0]
    model = MODELS.get(about["model"], about["model"])
    counted = ", any shortest path" if about["metric"] == "optimal" else ""
    K = f"$K$ = {about['candidates']:,} candidates"
    seeds = f"training seeds: {about['training_seeds']}, inference seeds: {about['inference_seeds']}"
    intervals = ", ".join(dict.fromkeys(rows["interval"].dropna()))
    return "\n".join((
        f"{model}, {dataset_name(rows)}{counted}",
        f"$n$ = {about['puzzles']:,} puzzles, {K}, $T_\\mathrm{{eval}}$ = {about['T_eval']:,}",
        seeds,
        f"interval: {intervals}",
    ))  # fmt: skip


def _legend(data: pd.DataFrame) -> list[Line2D | Patch]:
    """One entry for each mark, by panel, and for the interval."""
    handles: list[Line2D | Patch] = []
    for measure in (measure for measure in MEASURES if (data["measure"] == measure).any()):
        panel, _, colour, marker, fill, name = MEASURES[measure]
        if marker:
            look: dict[str, Any] = {"color": colour, "marker": marker, "fillstyle": fill, "markersize": _size(marker)}
            handles.append(Line2D([], [], linestyle="", label=f"({panel}) {name}", **look))
    handles.append(Line2D([], [], color=GREY, linewidth=0.9, label=f"{data['level'].max():.0%} interval"))
    return handles


write = partial(write_confidence_figure, NAME, DiscriminationFigure, prepare, draw)
