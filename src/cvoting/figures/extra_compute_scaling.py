"""Beyond the paper: accuracy against the floating point operations of a puzzle, with more candidates or more steps.

Both cost; at every cost, one combination of them is the most accurate.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
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
    pairs_row_by_row,
    rows_and_columns,
    title_panel,
    write_figure,
)
from cvoting.figures.style import ACROSS, COLOURS, NAMES, WIDTH, ordered_colours, percent_axis, style
from cvoting.params.figures import ScalingFigure
from cvoting.table_files import METRICS, over_all_seeds, read_tables, seeds_of, unlearned

NAME = "extra_compute_scaling"
COLUMNS = (
    "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "estimator", "metric", "vote", "measure", "K",
    "flops", "front", "from_step", "value", "low", "high", "share", "share_low", "share_high",
    "note",
)  # fmt: skip
#: The gains that are drawn, left to right: colour, filled or not, and name.
DEPTH, BREADTH, OTHER = COLOURS["latent_residual"], COLOURS["majority_answer"], "0.4"
GAINS = {
    "depth_alone": (DEPTH, False, "depth\nalone"),
    "breadth_alone": (BREADTH, False, "breadth\nalone"),
    "interaction": (OTHER, False, "inter-\naction"),
    "depth": (DEPTH, True, "depth"),
    "breadth": (BREADTH, True, "breadth"),
    "gain": (OTHER, True, "both"),
}
WAYS = {"board": "Board accuracy", "optimal": "Any shortest path"}
#: The iso-compute front, chosen after the fact and judged by other puzzles.
FRONT: dict[str, Any] = {
    "linestyle": "", "marker": "o", "markersize": 6.5, "markerfacecolor": "none", "markeredgecolor": "black",
    "markeredgewidth": 0.7,
}  # fmt: skip
JUDGED: dict[str, Any] = {"color": "black", "linewidth": 0.8, "linestyle": (0, (3, 1.5)), "drawstyle": "steps-post"}


def read_scaling(params: ScalingFigure, tables: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """The tables of a figure, by bank.

    Args:
        params: of the figure.
        tables: the table of each bank, in the order of `params.banks`.

    Raises:
        TableError: when a file is not a whole table of scaling, or there is not one for each bank.
    """
    return read_tables("table of scaling", params.banks, tables)


def prepare(
    tables: Mapping[str, pd.DataFrame], params: ScalingFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: rows of each vote and metric of each bank.

    `measure` is "accuracy", of each number of candidates and steps, where `front` says which of them are on the
    iso-compute front; "front_held_out"; or one of `GAINS`, of which depth and breadth have their `share` of the gain.
    They mean what `cvoting.scaling_table.write_scaling` says.

    Args:
        tables: tables of scaling, by bank.
        params: banks and votes.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper has no such figure.
        published: the published numbers.
    """
    rows = [
        _numbers(table, metric, vote).assign(
            bank=bank, title=title, note=unlearned(table[table["measure"] == "accuracy"]), **seeds_of(tables[bank])
        )
        for vote in params.votes
        for bank, table in ((bank, over_all_seeds(tables[bank])) for bank in params.banks)
        for metric in METRICS
        if ((table["metric"] == metric) & (table["vote"] == vote)).any()
    ]
    return pd.concat(rows, ignore_index=True)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made: accuracy against cost above what is gained, `ACROSS` banks side by side."""
    panels = data[["vote", "bank", "metric"]].drop_duplicates().values.tolist()
    down, across = rows_and_columns(len(panels), ACROSS)
    with style():
        figure = Figure(figsize=(WIDTH / 2 * max(2, across), 6.6 * down), layout="constrained")
        colours = ordered_colours(data["K"].astype(float).tolist())
        pairs = pairs_row_by_row(figure, len(panels), ACROSS)
        for (upper, lower), (vote, bank, metric) in zip(pairs, panels, strict=True):
            rows = data[(data["vote"] == vote) & (data["bank"] == bank) & (data["metric"] == metric)]
            gains = rows[rows["measure"].isin(list(GAINS))]
            _draw_accuracies(upper, rows, colours)
            _draw_gains(lower, gains)
            for axes, shown in ((upper, rows), (lower, gains)):
                title_panel(axes, shown, among=data)
            upper.set_ylabel(f"{WAYS[metric]}, {NAMES[vote]} (%)")
            lower.set_ylabel(f"{WAYS[metric]}, gain (points)")
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data, colours), loc="outside lower center", ncols=across + 1)
    return figure


def _numbers(table: pd.DataFrame, metric: str, vote: str) -> pd.DataFrame:
    """The rows of one bank, metric and vote; those of shares as columns of what they are shares of."""
    table = table[(table["metric"] == metric) & (table["vote"] == vote)]
    cells = ["K", "T_eval"]
    on_front = table.loc[table["measure"] == "front", cells]
    rows = table[table["measure"].isin(["accuracy", "front_held_out", *GAINS])]
    rows = rows.merge(on_front.assign(front=True), how="left", on=cells)
    rows["front"] = rows["front"].notna() & (rows["measure"] == "accuracy")
    shares = table[table["measure"].str.endswith("_share")]
    shares = shares.assign(measure=shares["measure"].str.removesuffix("_share"))
    shares = shares.rename(columns={"value": "share", "low": "share_low", "high": "share_high"})
    return rows.merge(shares[["measure", "share", "share_low", "share_high"]], how="left", on="measure")


def _draw_accuracies(axes: Axes, data: pd.DataFrame, colours: Mapping[float, str]) -> None:
    """A curve with its band for each K, along which steps grow; the front as rings, and as other puzzles judge it."""
    if data["note"].notna().any():
        draw_notes(axes, data)
        return
    cells = data[data["measure"] == "accuracy"]
    for K in dict.fromkeys(cells["K"]):
        rows, colour = cells[cells["K"] == K].sort_values("T_eval"), colours[K]
        axes.fill_between(rows["flops"], rows["low"], rows["high"], color=colour, alpha=0.1, linewidth=0)
        axes.plot(rows["flops"], rows["value"], color=colour, marker=".")
    front, judged = cells[cells["front"]], data[data["measure"] == "front_held_out"]
    axes.plot(front["flops"], front["value"], zorder=4, **FRONT)
    band: dict[str, Any] = {"step": "post", "color": "black", "alpha": 0.1, "linewidth": 0}
    axes.fill_between(judged["flops"], judged["low"], judged["high"], **band)
    axes.plot(judged["flops"], judged["value"], zorder=3, **JUDGED)
    axes.set_xscale("log")
    axes.set_xlabel("FLOPs per puzzle")
    percent_axis(axes)


def _draw_gains(axes: Axes, data: pd.DataFrame) -> None:
    """A bar with its interval for each gain; what is gained over what, and the shares, in words."""
    rows = data.set_index("measure").loc[list(GAINS)]
    if data["note"].notna().any():
        draw_notes(axes, data)
        return
    for place, (measure, row) in enumerate(rows.iterrows()):
        colour, filled, _ = GAINS[str(measure)]
        axes.bar(place, row["value"], width=0.7, edgecolor=colour, facecolor=colour if filled else "none")
        axes.vlines(place, row["low"], row["high"], color="black", linewidth=0.9)
    axes.hlines(0, -0.5, len(GAINS) - 0.5, color="0.4", linewidth=0.7)
    axes.set_xticks(range(len(GAINS)), [name for *_, name in GAINS.values()])
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="x", visible=False)
    both, limits = rows.loc["gain"], axes.get_ylim()
    percent_axis(axes)
    axes.set_ylim(limits)  # a gain can be negative, unlike the fractions of that axis
    deep = rows.loc["depth_alone"]
    words = f"depth: {deep['from_step']} to {deep['T_eval']} steps; breadth: $K$ = {deep['K']} to {both['K']}"
    axes.set_xlabel(f"{words}\n{_shares(rows)}", fontsize=7)


def _shares(gains: pd.DataFrame) -> str:
    """The shares of depth and breadth with their intervals, in words."""
    shares = gains.loc[["depth", "breadth"]]
    if shares["share"].isna().any():
        return "shares: undefined, as there may be no gain"
    depth, breadth = (
        f"{name} {100 * row['share']:.0f}% ({100 * row['share_low']:.0f} to {100 * row['share_high']:.0f})"
        for name, (_, row) in zip(("depth", "breadth"), shares.iterrows(), strict=True)
    )
    return f"shares: {depth}, {breadth}"


def _legend(data: pd.DataFrame, colours: Mapping[float, str]) -> list[Line2D | Patch]:
    """One entry for each number of candidates, for the front, and for bars and bands."""
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=colour, marker=".", label=f"$K$ = {K:.0f}") for K, colour in colours.items()
    ]
    handles += [
        Line2D([], [], label="iso-compute front, after the fact", **FRONT),
        Line2D([], [], label="the front, judged by other puzzles", **JUDGED),
        Patch(edgecolor=OTHER, facecolor="none", label="without the other"),
        Patch(color=OTHER, label="mean over both orders"),
    ]
    return [*handles, Patch(color="0.85", label=f"{data['level'].iloc[0]:.0%} bootstrap interval")]


write = partial(write_figure, NAME, ScalingFigure, prepare, draw, read=read_scaling)
