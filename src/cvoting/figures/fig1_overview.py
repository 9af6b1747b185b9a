"""Figure 1: how C-voting works, and board accuracy without a vote and with votes of all candidates (Section 1)."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cvoting.figures.base import ABOUT, note_below, notes, panel_rows, title_panel, write_figure
from cvoting.figures.overview import SIZE, draw_overview
from cvoting.figures.style import (
    MODELS,
    NAMES,
    OPTIMAL_NAME,
    PUBLISHED,
    PUBLISHED_NAME,
    WIDTH,
    model_colours,
    percent_axis,
    style,
)
from cvoting.params.figures import SummaryFigure
from cvoting.published import published_accuracies
from cvoting.table_files import ESTIMATOR, NO_VOTE, over_all_seeds, seeds_of, without_vote

NAME = "fig1_overview"
#: Bars of the paper's own vote are filled; of other votes hatched, in this order.
FILLED, HATCHES = "confidence", ("/////", ".....", "xxxxx", "-----")
#: Space between the bars of two banks, in bars.
GAP = 0.7
OUTLINE: dict[str, Any] = {"linestyle": (0, (3, 1)), "linewidth": 0.9, "zorder": 0.5}
NUMBERS = ("vote", "K", "value", "low", "high", "published", "published_spread", "published_id", "note")
COLUMNS = ("panel", "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "estimator", "metric", *NUMBERS)


def prepare(
    tables: Mapping[str, pd.DataFrame], params: SummaryFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: one row for each bar of each panel.

    A bank has a bar without a vote and one for each of the votes that it can hold, of as many candidates as its table
    has; with one candidate there is no vote.  Published values stand beside ours only at the paper's scale, where they
    are of the same number of candidates or of one that is not stated.  A `note` says which banks have not learned their
    task: no votes of theirs are drawn.

    Args:
        tables: voting tables, by bank.
        params: panels and votes.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale.
        published: the published numbers.
    """
    known = published if paper_scale else published.iloc[:0]

    def bars(table: pd.DataFrame, banks: int, metric: str) -> pd.DataFrame:
        return _bars(table, params.votes, metric, known)

    return panel_rows(tables, params, title, bars)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made, under the drawing of the method."""
    panels = list(dict.fromkeys(data["panel"]))
    with style():
        width = WIDTH / 2 * max(2, len(panels))
        drawing = width * SIZE[1] / SIZE[0]
        figure = Figure(figsize=(width, drawing + 3.7), layout="constrained")
        grid = figure.add_gridspec(2, len(panels), height_ratios=(drawing, 2.5))
        overview, first = figure.add_subplot(grid[0, :]), figure.add_subplot(grid[1, 0])
        draw_overview(overview)
        others = [figure.add_subplot(grid[1, place], sharey=first) for place in range(1, len(panels))]
        looks = _looks(data)
        for axes, panel in zip([first, *others], panels, strict=True):
            _draw_panel(axes, data[data["panel"] == panel], looks)
            axes.label_outer()
        percent_axis(first)
        first.set_ylim(bottom=0)
        first.set_ylabel("Board accuracy (%)")
        for axes, name, pad in ((overview, "(a)", 0), (first, "(b)", 31)):
            axes.set_title(name, loc="left", fontweight="bold", pad=pad)
        figure.suptitle(f"C-voting, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data), loc="outside lower center", ncols=3)
    return figure


def _bars(table: pd.DataFrame, votes: Sequence[str], metric: str, published: pd.DataFrame) -> pd.DataFrame:
    """The rows of one bank and metric."""
    rows = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & (table["metric"] == metric)])
    about, most = rows.iloc[0], rows["K"].max()
    voted = rows[rows["vote"].isin(votes) & (rows["K"] == most) & (most > 1)]
    bars = pd.concat([without_vote(rows), voted])[["vote", "K", "value", "low", "high"]].astype({"K": "Int64"})
    known = published_accuracies(published, about["model"], about["dataset"], metric)
    known = known.assign(K=known["K"].fillna(known["vote"].map(bars.set_index("vote")["K"])))
    bars = bars.assign(place=bars["vote"].map([NO_VOTE, *votes].index)).sort_values("place")
    bars = bars.merge(known, on=["vote", "K"], how="left")
    return bars.assign(estimator=ESTIMATOR, metric=metric, **seeds_of(table), **{name: about[name] for name in ABOUT})


def _draw_panel(axes: Axes, data: pd.DataFrame, looks: Mapping[str, tuple[float, str | None]]) -> None:
    """One group of bars, those of a bank side by side, each with its interval, its K and its number."""
    title_panel(axes, data)
    note_below(axes, notes(data))
    data = data[data["note"].isna() | (data["vote"] == NO_VOTE)]
    bars, banks = data.drop_duplicates(["bank", "vote"]), list(dict.fromkeys(data["bank"]))
    places = [place + GAP * banks.index(bank) for place, bank in enumerate(bars["bank"])]
    at = dict(zip(zip(bars["bank"], bars["vote"], strict=True), places, strict=True))
    colours, metrics = model_colours(data["model"]), data["metric"].nunique()
    for _, row in data.iterrows():
        place, colour = at[row["bank"], row["vote"]], colours[row["model"]]
        optimal = row["metric"] == "optimal"
        face = {"color": "none", "edgecolor": colour, **OUTLINE} if optimal else _filled(colour, *looks[row["vote"]])
        axes.bar(place, row["value"], 0.8, **face)
        # Intervals of the two ways of counting stand side by side.
        beside = 0.1 * (metrics > 1) * (1 if optimal else -1)
        dashes = OUTLINE["linestyle"] if optimal else "-"
        axes.vlines(place + beside, row["low"], row["high"], color="0.15", linewidth=0.9, linestyle=dashes)
        if pd.notna(row["published"]):
            theirs = (place, row["published"], row["published_spread"])
            axes.errorbar(*theirs, color="0.15", capsize=2.5, clip_on=False, zorder=4, **PUBLISHED)
    axes.set_xticks(places, [f"{K}\n({100 * value:.1f})" for K, value in zip(bars["K"], bars["value"], strict=True)])
    axes.set_xlabel("Number of candidates $K$ (board accuracy in %)")
    axes.grid(axis="x", visible=False)


def _looks(data: pd.DataFrame) -> dict[str, tuple[float, str | None]]:
    """How much of its model's colour the bar of a vote has, and its hatch."""
    hatched = [vote for vote in dict.fromkeys(data["vote"]) if vote not in (NO_VOTE, FILLED)]
    hatches = dict(zip(hatched, cycle(HATCHES), strict=False))
    return {NO_VOTE: (0.3, None), FILLED: (1.0, None)} | {vote: (0.1, hatch) for vote, hatch in hatches.items()}


def _filled(colour: str, share: float, hatch: str | None) -> dict[str, Any]:
    """A bar of a colour, of which its face has a share; the rest is white."""
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(colour))
    return {"facecolor": (red, green, blue), "edgecolor": colour, "hatch": hatch, "linewidth": 0.9}


def _legend(data: pd.DataFrame) -> list[Line2D | Patch]:
    """One entry for each model, vote and way of counting, for the interval and for the published values."""
    handles: list[Line2D | Patch] = [
        Patch(color=colour, label=MODELS.get(model, model))
        for model, colour in model_colours(data["model"]).items()
        if model in set(data["model"])
    ]
    for vote, look in _looks(data).items():
        if vote in set(data["vote"]):
            label = NAMES[vote] + ("" if vote == NO_VOTE else ", largest $K$")
            handles.append(Patch(label=label, **_filled("0.35", *look)))
    if (data["metric"] == "optimal").any():
        handles.append(Patch(facecolor="none", edgecolor="0.35", label=OPTIMAL_NAME, **OUTLINE))
    interval = f"{data['level'].iloc[0]:.0%} bootstrap interval"
    handles.append(Line2D([], [], color="0.15", linestyle="", marker="|", markersize=9, label=interval))
    if data["published"].notna().any():
        handles.append(Line2D([], [], color="0.15", label=PUBLISHED_NAME, **PUBLISHED))
    return handles


write = partial(write_figure, NAME, SummaryFigure, prepare, draw)
