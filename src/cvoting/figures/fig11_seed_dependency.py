"""Figure 11: the spread of board accuracy over inference seeds, against the number of candidates K (appendix)."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from cvoting.figures.base import ABOUT, draw_notes, model_names, title_panel, write_figure
from cvoting.figures.style import COLOURS, NAMES, WIDTH, percent_axis, style
from cvoting.params.figures import SeedsFigure
from cvoting.table_files import ALL, METRICS, seeds_of, unlearned

NAME = "fig11_seed_dependency"
#: Candidates 1..K of each seed vote, as in the paper: the mean over subsets would hide what the figure shows.
ESTIMATOR = "prefix"
COLUMNS = (
    "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "estimator", "metric", "vote", "K", "training_seed",
    "inference_seed", "value", "note",
)  # fmt: skip


def prepare(
    tables: Mapping[str, pd.DataFrame], params: SeedsFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: one row for each vote, K and seed of each panel.

    Args:
        tables: voting tables, by bank.
        params: panels and votes.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper prints no number of this figure.
        published: the published numbers.
    """
    panels = [_panel(tables[bank], params).assign(bank=bank, title=title) for bank in params.banks]
    return pd.concat(panels, ignore_index=True)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made: a box per K, whiskers to the least and the most, and every seed as a point."""
    panels = data[["bank", "metric"]].drop_duplicates().values.tolist()
    with style():
        figure = Figure(figsize=(WIDTH / 2 * max(2, len(panels)), 3.2), layout="constrained")
        for axes, (bank, metric) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            rows = data[(data["bank"] == bank) & (data["metric"] == metric)]
            _draw_panel(axes, rows)
            title_panel(axes, rows, among=data)
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        handles = [Patch(facecolor=COLOURS[v], alpha=0.5, label=NAMES[v]) for v in dict.fromkeys(data["vote"])]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _panel(table: pd.DataFrame, params: SeedsFigure) -> pd.DataFrame:
    """The rows of one bank: an inference seed each, of the first training seed, whose spread is no matter here."""
    note = unlearned(table)
    first = min((seed for seed in table["training_seed"] if seed != ALL), key=int)
    table = table[(table["training_seed"] == first) & (table["inference_seed"] != ALL)]
    rows = table[(table["estimator"] == ESTIMATOR) & table["metric"].isin(METRICS) & table["vote"].isin(params.votes)]
    rows = rows.assign(interval="none, a point for each inference seed", note=note, **seeds_of(table))
    return rows.assign(place=rows["vote"].map(params.votes.index)).sort_values(
        ["metric", "place", "K", "inference_seed"]
    )


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    """Boxes side by side for the votes of one K."""
    votes, K = list(dict.fromkeys(data["vote"])), sorted(set(data["K"]))
    width = 0.7 / len(votes)
    for place, vote in enumerate(votes if data["note"].isna().all() else []):
        groups = [data.loc[(data["vote"] == vote) & (data["K"] == k), "value"].to_numpy() for k in K]
        at = np.arange(len(K)) + (place - (len(votes) - 1) / 2) * width
        look = {"facecolor": COLOURS[vote], "alpha": 0.5}
        axes.boxplot(
            groups, positions=at, widths=0.85 * width, whis=(0, 100), showfliers=False, patch_artist=True,
            boxprops=look, medianprops={"color": "black"}, manage_ticks=False,
        )  # fmt: skip
        for x, values in zip(at, groups, strict=True):
            axes.plot(np.full(len(values), x), values, ".", color="0.2", markersize=2.5)
    axes.set_xticks(range(len(K)), [str(k) for k in K])
    axes.set_xlabel("Number of candidates $K$")
    optimal = data["metric"].iloc[0] == "optimal"
    axes.set_ylabel("Any shortest path (%)" if optimal else "Board accuracy (%)")
    percent_axis(axes)
    draw_notes(axes, data)


write = partial(write_figure, NAME, SeedsFigure, prepare, draw)
