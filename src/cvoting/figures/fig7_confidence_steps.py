"""Figure 7: confidence against the number of steps (Section 6.5).

The paper shows one puzzle a panel and does not say how it was chosen: here it is the first one, in the order of the
puzzles' hashes, whose C-vote is wrong, or right; behind it stand the candidates of all pooled puzzles.
"""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from cvoting.figures.base import model_names, note_below
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
from cvoting.figures.style import OUTCOME_COLOURS, WIDTH, percent_axis, style
from cvoting.params.figures import TrajectoriesFigure

NAME = "fig7_confidence_steps"
NUMBERS = (
    "group", "shown", "puzzle", "candidate", "outcome", "shown_puzzles", "shown_candidates", "step", "value",
    "quartile_1", "quartile_3",
)  # fmt: skip
COLUMNS = ("bank", "title", *ABOUT_TRAJECTORIES, "training_seeds", "inference_seeds", *NUMBERS)
QUARTILES = {"quartile_1": 0.25, "value": 0.5, "quartile_3": 0.75}
BAND, MEDIAN = "0.6", "0.15"


def prepare(
    tables: Tables, params: TrajectoriesFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, as fractions.

    `shown` is "pooled" in a row for each step, `value` being the median over the candidates of the pooled puzzles that
    are at the end what `group` says; and "example" in a row for each step and candidate of one puzzle, whose C-vote is
    what `group` says; `outcome` says what that candidate is at the end.

    Args:
        tables: tables of trajectories, by bank.
        params: the banks.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper prints no number of this figure.
        published: the published numbers.
    """
    return rows_of_banks(tables["trajectories"], title, params.banks, _bank)[list(COLUMNS)].astype(
        {"candidate": "Int64"}
    )


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    banks = list(dict.fromkeys(data["bank"]))
    with style():
        figure = Figure(figsize=(WIDTH, 0.6 + 3.1 * len(banks)), layout="constrained")
        panels = figure.subplots(len(banks), len(GROUPS), squeeze=False, sharex="row", sharey="row")
        for row, bank in zip(panels, banks, strict=True):
            for axes, group in zip(row, GROUPS, strict=True):
                rows = data[(data["bank"] == bank) & (data["group"] == group)]
                _draw_panel(axes, rows)
                title_bank(axes, data, bank, _puzzle(rows))
            row[0].set_ylabel("Confidence (%)")
            percent_axis(row[0])
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(), loc="outside lower center", ncols=2)
    return figure


def _bank(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of one bank."""
    rows = with_outcomes(table).rename(columns={"group": "outcome"})
    parts = []
    for group in GROUPS:
        pooled, example = rows[rows["pooled"] & (rows["outcome"] == group)], rows[rows["example"] == group]
        steps = pd.DataFrame({"step": sorted(rows["step"].unique())})
        by_step = pooled.groupby("step")["confidence"]
        quartiles = pd.DataFrame({name: by_step.quantile(q) for name, q in QUARTILES.items()})
        parts += [
            _counted(steps.join(quartiles, on="step"), pooled).assign(group=group, shown="pooled", outcome=group),
            _counted(example.rename(columns={"confidence": "value"}), example).assign(group=group, shown="example"),
        ]
    data = pd.concat([part.reindex(columns=list(NUMBERS)) for part in parts if len(part)], ignore_index=True)
    return data.assign(**{name: rows[name].iloc[0] for name in ABOUT_TRAJECTORIES})


def _counted(rows: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Rows that say how many puzzles and candidates they show."""
    candidates = len(shown[["puzzle", "candidate"]].drop_duplicates())
    return rows.assign(shown_puzzles=shown["puzzle"].nunique(), shown_candidates=candidates)


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    """A line for each candidate of the example, over it the median and the quartiles of the pooled candidates."""
    pooled, example = data[data["shown"] == "pooled"], data[data["shown"] == "example"]
    marker = "." if len(pooled) == 1 else ""
    for _, rows in example.groupby("candidate"):
        colour = OUTCOME_COLOURS[rows["outcome"].iloc[0]]
        axes.plot(rows["step"], rows["value"], color=colour, linewidth=0.6, alpha=0.6, marker=marker)
    group, n, puzzles = pooled[["group", "shown_candidates", "shown_puzzles"]].iloc[0]
    note = f"no candidate of the pooled puzzles is {group}"
    if n:
        axes.fill_between(
            pooled["step"], pooled["quartile_1"], pooled["quartile_3"], color=BAND, alpha=0.35, linewidth=0, zorder=3
        )
        axes.plot(pooled["step"], pooled["value"], color=MEDIAN, zorder=4, marker=marker)
        note = f"median and band: {counted(n, f'{group} candidate')} of {counted(puzzles, 'pooled puzzle')}"
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axes.set_xlabel("Step")
    note_below(axes, note)


def _puzzle(data: pd.DataFrame) -> str:
    """Which puzzle a panel shows."""
    group, example = data["group"].iloc[0], data[data["shown"] == "example"]
    if example.empty:
        return f"no puzzle whose C-vote is {group}"
    return f"C-vote {group}: puzzle {shown_puzzle(example['puzzle'].iloc[0])}"


def _legend() -> list[Line2D | Patch]:
    """One entry for each kind of line, and for the band."""
    lines = [
        Line2D([], [], color=colour, linewidth=1, label=f"candidate of the puzzle, {outcome} at the end")
        for outcome, colour in OUTCOME_COLOURS.items()
    ]
    return [
        *lines,
        Line2D([], [], color=MEDIAN, label="median, wrong (right) candidates of the pooled puzzles"),
        Patch(color=BAND, alpha=0.35, linewidth=0, label="quartiles 1 to 3"),
    ]


write = partial(write_confidence_figure, NAME, TrajectoriesFigure, prepare, draw)
