"""Figure 2: board accuracy of AKOrN under C-voting and E-voting against the number of candidates K (Section 6.2)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cvoting.figures.style import (
    COLOURS,
    DATASETS,
    MARKERS,
    NAMES,
    WIDTH,
    candidates_axis,
    percent_axis,
    save,
    style,
)
from cvoting.params.core import build
from cvoting.params.figures import AkornVotingFigure
from cvoting.pools import ALL
from cvoting.published import published_accuracies, read_published
from cvoting.tables import over_all_seeds, read_voting, write_csv

NAME = "fig2_akorn_voting"
ESTIMATOR, METRIC = "expected", "board"
#: Drawn as lines without a band, where the tables have them.
REFERENCES = ("oracle", "random")
DASHES: dict[str, Any] = {"oracle": (0, (1, 1.5)), "random": (0, (4, 2))}
PUBLISHED: dict[str, Any] = {
    "linestyle": "", "marker": "D", "markersize": 5, "markerfacecolor": "white", "markeredgewidth": 1.2,
}  # fmt: skip
SMALL: dict[str, Any] = {"fontsize": 6.5, "color": "0.35", "ha": "center", "va": "bottom"}

ABOUT = (
    "study", "run", "model", "dataset", "split", "origin", "T_eval", "puzzles", "candidates", "level", "interval",
)  # fmt: skip
NUMBERS = ("vote", "K", "value", "low", "high", "published", "published_spread", "published_id")
COLUMNS = ("bank", "title", *ABOUT, "training_seeds", "inference_seeds", "estimator", "metric", *NUMBERS)


def write(recipe: Mapping[str, Any], tables: Sequence[Path], published: Path, out_dir: Path) -> None:
    """Draw the figure: PDF, PNG, and CSV with every number drawn, under its name.

    Args:
        recipe: `title` and `paper_scale` of the study, and `params` of the figure.
        tables: the voting table of each bank, in the order of `params.banks`.
        published: reference/published.csv.
        out_dir: the folder of the three files.
    """
    params = build(AkornVotingFigure, recipe["params"], f"figures.{NAME}")
    data = prepare(
        read_voting(params.banks, tables), params, recipe["title"], recipe["paper_scale"], read_published(published)
    )
    write_csv(data, out_dir / f"{NAME}.csv")
    save(draw(data), out_dir / f"{NAME}.pdf", out_dir / f"{NAME}.png")


def prepare(
    tables: Mapping[str, pd.DataFrame],
    params: AkornVotingFigure,
    title: str,
    paper_scale: bool,
    published: pd.DataFrame,
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: one row for each vote and K of each panel.

    Curves are the `expected` estimator over all seeds there are; `random` is the mean of the candidates, the value of
    every vote at K = 1.  Published values stand beside ours only at the paper's scale.

    Args:
        tables: voting tables, by bank.
        params: panels and curves.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale.
        published: the published numbers.
    """
    known = published if paper_scale else published.iloc[:0]
    panels = [_panel(tables[bank], params.votes, known).assign(bank=bank, title=title) for bank in params.banks]
    return pd.concat(panels, ignore_index=True)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    banks = list(dict.fromkeys(data["bank"]))
    with style():
        figure = Figure(figsize=(WIDTH / 2 * max(2, len(banks)), 3.4), layout="constrained")
        panels = figure.subplots(1, len(banks), squeeze=False)[0]
        for axes, bank in zip(panels, banks, strict=True):
            _draw_panel(axes, data[data["bank"] == bank])
        panels[0].set_ylabel("Board accuracy (%)")
        figure.suptitle(f"AKOrN, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data), loc="outside lower center", ncols=3)
    return figure


def _panel(table: pd.DataFrame, votes: Sequence[str], published: pd.DataFrame) -> pd.DataFrame:
    """The rows of one panel."""
    shown = [*votes, *(vote for vote in REFERENCES if vote not in votes)]
    rows = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & (table["metric"] == METRIC)])
    about = rows.iloc[0]
    known = published_accuracies(published, about["model"], about["dataset"], METRIC)
    panel = rows[rows["vote"].isin(shown)][["vote", "K", "value", "low", "high"]]
    panel = panel.merge(known[known["vote"].isin(shown)], on=["vote", "K"], how="outer")
    panel = panel.assign(place=panel["vote"].map(shown.index)).sort_values(["place", "K"])
    seeds = {f"{kind}s": table.loc[table[kind] != ALL, kind].nunique() for kind in ("training_seed", "inference_seed")}
    return panel.assign(estimator=ESTIMATOR, metric=METRIC, **seeds, **{name: about[name] for name in ABOUT})


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    """Curves with bands, references, and published values with their spread."""
    about = data.iloc[0]
    for vote in dict.fromkeys(data["vote"]):
        rows, colour = data[data["vote"] == vote], COLOURS[vote]
        ours, theirs = rows[rows["value"].notna()], rows[rows["published"].notna()]
        if vote == "random":
            for value in ours["value"].iloc[:1]:
                axes.axhline(value, color=colour, linestyle=DASHES[vote], linewidth=1, zorder=1)
        elif vote in REFERENCES:
            axes.plot(ours["K"], ours["value"], color=colour, linestyle=DASHES[vote], linewidth=1.2)
        else:
            axes.fill_between(ours["K"], ours["low"], ours["high"], color=colour, alpha=0.18, linewidth=0)
            axes.plot(ours["K"], ours["value"], color=colour, marker=MARKERS[vote])
        spread = theirs["published_spread"].to_numpy()
        axes.errorbar(theirs["K"], theirs["published"], spread, color=colour, capsize=2.5, zorder=3, **PUBLISHED)
    candidates_axis(axes, sorted(set(data.loc[data["value"].notna(), "K"])))
    percent_axis(axes)
    name = DATASETS.get(about["dataset"], about["dataset"])
    axes.set_title(f"{name} (generated data)" if about["origin"] == "generated" else name, pad=31)
    sizes = f"$n$ = {about['puzzles']:,} puzzles, $M$ = {about['candidates']:,}"
    sizes += f", $T_\\mathrm{{eval}}$ = {about['T_eval']}"
    seeds = f"training seeds: {about['training_seeds']}, inference seeds: {about['inference_seeds']}"
    interval = f"interval: {about['interval']}"
    axes.text(0.5, 1.02, f"{sizes}\n{seeds}\n{interval}", transform=axes.transAxes, **SMALL)


def _legend(data: pd.DataFrame) -> list[Line2D | Patch]:
    """One entry for each line, for the band and for the published values."""
    handles: list[Line2D | Patch] = []
    for vote in dict.fromkeys(data["vote"]):
        look = {"color": COLOURS[vote], "marker": MARKERS[vote], "linestyle": DASHES.get(vote, "-")}
        handles.append(Line2D([], [], label=NAMES[vote], **look))
    handles.append(Patch(color="0.85", label=f"{data['level'].iloc[0]:.0%} bootstrap interval"))
    if data["published"].notna().any():
        handles.append(Line2D([], [], color="0.3", label="published, ± its spread", **PUBLISHED))
    return handles
