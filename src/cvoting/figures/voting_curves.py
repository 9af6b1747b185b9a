"""Board accuracy against the number of candidates K, as Figures 2, 3, 4, 9 and 10 show it."""

from collections.abc import Callable, Mapping, Sequence
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
    panel_rows,
    row_by_row,
    rows_and_columns,
    title_panel,
    without_note,
)
from cvoting.figures.style import (
    ACROSS,
    COLOURS,
    MARKERS,
    MODELS,
    NAMES,
    OPTIMAL,
    OPTIMAL_NAME,
    PUBLISHED,
    PUBLISHED_NAME,
    WIDTH,
    candidates_axis,
    model_colours,
    percent_axis,
    style,
)
from cvoting.params.figures import FigureParams
from cvoting.published import published_accuracies
from cvoting.table_files import ESTIMATOR, NO_VOTE, over_all_seeds, seeds_of, without_vote

#: Drawn as lines without a band, where the tables have them.
REFERENCES = ("oracle", NO_VOTE)
DASHES: dict[str, Any] = {"oracle": (0, (1, 1.5)), NO_VOTE: (0, (4, 2))}
UNSTATED_K: dict[str, Any] = {"linestyle": (0, (6, 2, 1, 2)), "linewidth": 1}

OURS = ("vote", "K", "value", "low", "high", "tie_share", "distinct_answers")
NUMBERS = (*OURS, "published", "published_spread", "published_id", "note")
COLUMNS = ("panel", "bank", "title", *ABOUT, "training_seeds", "inference_seeds", "estimator", "metric", *NUMBERS)


def prepare(
    tables: Mapping[str, pd.DataFrame], params: FigureParams, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions: one row for each curve and K of each panel.

    Curves are the `expected` estimator over all seeds there are; `random` is the mean of the candidates, the value of
    every vote at K = 1, and all there is of a bank of one candidate.  Published values stand beside ours only at the
    paper's scale.  A `note` says which banks have not learned their task: no curve of theirs is drawn.

    Args:
        tables: voting tables, by bank.
        params: panels and curves.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale.
        published: the published numbers.
    """
    known = published if paper_scale else published.iloc[:0]

    def curves(table: pd.DataFrame, banks: int, metric: str) -> pd.DataFrame:
        return _curves(table, _shown(params, banks, metric), metric, known)

    return panel_rows(tables, params, title, curves)[list(COLUMNS)]


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    panels, look = list(dict.fromkeys(data["panel"])), _looks(data)
    down, across = rows_and_columns(len(panels), ACROSS)
    with style():
        figure = Figure(figsize=(WIDTH / 2 * max(2, across), 3.4 * down), layout="constrained")
        places = row_by_row(figure, len(panels), ACROSS, "Board accuracy (%)")
        for axes, panel in zip(places, panels, strict=True):
            _draw_panel(axes, data[data["panel"] == panel], look)
        figure.suptitle(f"{model_names(data[~_alone(data)])}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(data), loc="outside lower center", ncols=3)
    return figure


def _shown(params: FigureParams, banks: int, metric: str) -> list[str]:
    """The votes of a panel, for board accuracy with references; the oracles of several models would hide the votes."""
    references = () if metric != "board" else REFERENCES if banks == 1 else (NO_VOTE,)
    return [*params.votes, *(vote for vote in references if vote not in params.votes)]


def _curves(table: pd.DataFrame, shown: Sequence[str], metric: str, published: pd.DataFrame) -> pd.DataFrame:
    """The rows of one bank and metric."""
    rows = over_all_seeds(table[(table["estimator"] == ESTIMATOR) & (table["metric"] == metric)])
    about = rows.iloc[0]
    if about["candidates"] == 1:
        rows, shown = without_vote(rows), [NO_VOTE]
    known = published_accuracies(published, about["model"], about["dataset"], metric)
    curves = rows.loc[rows["vote"].isin(shown), list(OURS)]
    curves = curves.astype({"K": "Int64"}).merge(known[known["vote"].isin(shown)], on=["vote", "K"], how="outer")
    curves = curves.assign(place=curves["vote"].map(shown.index)).sort_values(["place", "K"])
    return curves.assign(estimator=ESTIMATOR, metric=metric, **seeds_of(table), **{name: about[name] for name in ABOUT})


def _alone(data: pd.DataFrame) -> pd.Series:
    """Which rows are of a bank of one candidate: without a vote, such as of a model with one fixed initial state."""
    return data["candidates"] == 1


def _draw_panel(axes: Axes, data: pd.DataFrame, look: Callable[[pd.Series], dict[str, Any]]) -> None:
    """Our curves, and published values with their spread."""
    K = sorted({int(k) for k in data.loc[data["value"].notna(), "K"]})
    for _, rows in data.groupby(["bank", "metric", "vote"], sort=False):
        line, theirs = look(rows.iloc[0]), rows[rows["published"].notna()]
        ours = without_note(rows[rows["value"].notna()])
        if len(ours):
            _draw_ours(axes, ours.astype({"K": int}), K, line)
        for value in theirs.loc[theirs["K"].isna(), "published"]:
            axes.axhline(value, color=line["color"], **UNSTATED_K)
        theirs = theirs[theirs["K"].notna()]
        if len(theirs):
            points = theirs["K"], theirs["published"], theirs["published_spread"].to_numpy()
            axes.errorbar(*points, color=line["color"], capsize=2.5, zorder=3, **PUBLISHED)
    candidates_axis(axes, K)
    percent_axis(axes)
    title_panel(axes, data)
    draw_notes(axes, data)


def _draw_ours(axes: Axes, rows: pd.DataFrame, K: Sequence[int], line: Mapping[str, Any]) -> None:
    """A curve with its band, which is level where there is no vote; a reference without one."""
    vote, alone = rows["vote"].iloc[0], _alone(rows).all()
    if alone:
        rows = rows.loc[rows.index.repeat(len(K))].assign(K=list(K))
    if alone or vote not in REFERENCES:
        axes.fill_between(rows["K"], rows["low"], rows["high"], color=line["color"], alpha=0.18, linewidth=0)
        axes.plot(rows["K"], rows["value"], **line)
    elif vote == NO_VOTE:
        axes.axhline(rows["value"].iloc[0], **line, linewidth=1, zorder=1)
    else:
        axes.plot(rows["K"], rows["value"], **line, linewidth=1.2)


def _looks(data: pd.DataFrame) -> Callable[[pd.Series], dict[str, Any]]:
    """How the curve of a row is drawn: colours tell votes apart, or models where several vote; dotted: no vote."""
    by_model, colours = _several(data), model_colours(data["model"])

    def look(row: pd.Series) -> dict[str, Any]:
        alone = row["candidates"] == 1
        line = {
            "color": colours[row["model"]] if alone or by_model else COLOURS[row["vote"]],
            "marker": MARKERS[row["vote"]],
            "linestyle": DASHES.get(row["vote"], "-"),
        }
        if row["metric"] == "optimal":
            line |= OPTIMAL | ({"marker": "o"} if alone else {})
        return line | ({"linestyle": ":"} if alone else {})

    return look


def _several(data: pd.DataFrame) -> bool:
    """Whether several models vote."""
    return data.loc[~_alone(data), "model"].nunique() > 1


def _legend(data: pd.DataFrame) -> list[Line2D | Patch]:
    """One entry for each vote, model and way of counting, for the band and for the published values."""
    look, several = _looks(data), _several(data)
    rows = data[data["metric"] == "board"]
    voting, alone = rows[~_alone(rows)], rows[_alone(rows)].drop_duplicates("model")
    handles: list[Line2D | Patch] = []
    if several:
        for model, colour in model_colours(voting["model"]).items():
            if model in set(voting["model"]):
                handles.append(Line2D([], [], color=colour, linewidth=3, label=MODELS.get(model, model)))
    handles += [
        Line2D([], [], label=MODELS.get(row["model"], row["model"]), **look(row)) for _, row in alone.iterrows()
    ]
    for _, row in voting.drop_duplicates("vote").iterrows():
        line = look(row) | ({"color": "0.3"} if several else {})
        handles.append(Line2D([], [], label=NAMES[row["vote"]], **line))
    if (data["metric"] == "optimal").any():
        handles.append(Line2D([], [], color="0.3", marker="o", label=OPTIMAL_NAME, **OPTIMAL))
    handles.append(Patch(color="0.85", label=f"{data['level'].iloc[0]:.0%} bootstrap interval"))
    if data["published"].notna().any():
        handles.append(Line2D([], [], color="0.3", label=PUBLISHED_NAME, **PUBLISHED))
    if (data["published"].notna() & data["K"].isna()).any():
        handles.append(Line2D([], [], color="0.3", label="published, $K$ not stated", **UNSTATED_K))
    return handles
