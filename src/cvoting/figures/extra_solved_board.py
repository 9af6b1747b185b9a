"""Beyond the paper: one board that C-voting solves, from its K candidates to the answer it picks.

Above, all candidates at some steps, stacked by their confidence, of which the highest leads; below, the puzzle, the
answer of the one that leads at the end, and the wrong answer that most candidates give.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from cvoting.figures.base import SMALL, model_names
from cvoting.figures.confidence_base import (
    ABOUT_CANDIDATES,
    Tables,
    counted,
    rows_of_banks,
    shown_puzzle,
    title_bank,
    write_confidence_figure,
)
from cvoting.figures.style import OUTCOME_COLOURS, WIDTH, percent_axis, style
from cvoting.params.figures import SolvedBoardFigure

NAME = "extra_solved_board"
NUMBERS = (
    "frame", "step", "right", "place", "candidate", "leads", "picked", "row", "column", "answered", "wrong_cells",
    "box_rows", "box_columns",
)  # fmt: skip
OF_PUZZLE = (*ABOUT_CANDIDATES, "chosen_from", "puzzle")
COLUMNS = (
    "part", "bank", "title", *OF_PUZZLE, "training_seeds", "inference_seeds", *NUMBERS, "digit", "outcome",
    "confidence", "level",
)  # fmt: skip
#: The boards below, and their titles.
BOARDS = {"puzzle": "The puzzle", "picked": "What C-voting picks", "wrong": "Most frequent wrong answer"}
#: Levels of confidence in a frame, its width, where the next begins at 1, and how many candidates fit in a level.
LEVELS, FRAME, STACK = 36, 0.8, 18
INK = "0.15"
DOT: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 3.2, "markeredgewidth": 0.7}
MARKS: dict[str, dict[str, Any]] = {
    "right": DOT | {"color": OUTCOME_COLOURS["right"]},
    "wrong": DOT | {"color": OUTCOME_COLOURS["wrong"], "markerfacecolor": "white"},
}
RING: dict[str, Any] = {"marker": "o", "linestyle": "", "markerfacecolor": "none", "markeredgecolor": INK}
LEADER, PICKED = RING | {"markersize": 7}, RING | {"markersize": 4.6}
PATH: dict[str, Any] = {"color": "0.6", "linewidth": 0.8, "zorder": 1.5}
#: Of the cells of a board: colour and weight of the digit, and what is behind it.
CELLS = {
    "given": (INK, "bold", "0.92"),
    "blank": (INK, "normal", "white"),
    "right": (OUTCOME_COLOURS["right"], "normal", "white"),
    "wrong": ("white", "bold", OUTCOME_COLOURS["wrong"]),
}


def prepare(
    tables: Tables, params: SolvedBoardFigure, title: str, paper_scale: bool, published: pd.DataFrame
) -> pd.DataFrame:
    """Every number the figure shows, confidences as fractions.

    Parts: "candidates", a row for each framed step and candidate, whose `place` is that in the stack of those at its
    `level` of confidence; one of each step `leads`, `picked` is the one that leads at the end, `right` is how many are.
    "puzzle", "picked" and "wrong", a row for each cell of a board: of answers with the number of candidates that gave
    it, their largest confidence, and the number of wrong cells.  Of a table without a puzzle there is one row without a
    part.

    Args:
        tables: solved board tables, by bank.
        params: the banks, and the steps that have a frame.
        title: how the study is named.
        paper_scale: whether the study is at the paper's scale; the paper has no such figure.
        published: the published numbers.
    """
    rows = rows_of_banks(tables["solved_board"], title, params.banks, partial(_bank, params.steps))
    return rows[list(COLUMNS)].astype(dict.fromkeys(NUMBERS, "Int64"))


def draw(data: pd.DataFrame) -> Figure:
    """The figure of what `prepare` made."""
    banks = list(dict.fromkeys(data["bank"]))
    with style():
        figure = Figure(figsize=(WIDTH, 0.6 + 5.2 * len(banks)))
        figure.set_layout_engine("constrained", h_pad=0.08)
        grid = figure.add_gridspec(2 * len(banks), len(BOARDS))
        for place, bank in enumerate(banks):
            rows = data[data["bank"] == bank]
            frames = figure.add_subplot(grid[2 * place, :])
            _draw_frames(frames, rows[rows["part"] == "candidates"])
            title_bank(frames, data, bank, _puzzle(rows))
            for column, part in enumerate(BOARDS):
                _draw_board(figure.add_subplot(grid[2 * place + 1, column]), rows[rows["part"] == part])
        figure.suptitle(f"{model_names(data)}, {data['title'].iloc[0]}", fontweight="bold")
        figure.legend(handles=_legend(), loc="outside lower center", ncols=4)
    return figure


def _bank(steps: tuple[int, ...], table: pd.DataFrame) -> pd.DataFrame:
    """The rows of one bank."""
    if table["puzzle"].isna().any():
        return table.reindex(columns=list(COLUMNS))
    table = table.assign(outcome=table["board"].map({0: "wrong", 1: "right"}))
    end = table[table["step"] == table["T_eval"]]
    picked, wrong = end[end["leads"] == 1].iloc[0], end[end["outcome"] == "wrong"]
    most = str(wrong.groupby("answer", sort=False).size().idxmax())
    parts = {
        "candidates": _candidates(table, steps or table["step"].unique().tolist(), int(picked["candidate"])),
        "puzzle": _cells(picked, picked["question"]).replace({"outcome": {"wrong": "blank"}}),
        "picked": _answer(end, picked["answer"]),
        "wrong": _answer(end, most),
    }
    data = pd.concat([rows.assign(part=part).reindex(columns=list(COLUMNS)) for part, rows in parts.items()])
    return data.assign(**picked[list(OF_PUZZLE)])


def _candidates(table: pd.DataFrame, steps: Sequence[int], picked: int) -> pd.DataFrame:
    """The candidates at some steps, in stacks of similar confidence: the picked one first, then right ones."""
    rows = table[table["step"].isin(steps)].assign(picked=(table["candidate"] == picked).astype(int))
    rows = rows.sort_values(["step", "picked", "board", "leads"], ascending=[True, False, False, False], kind="stable")
    low, high = rows["confidence"].min(), rows["confidence"].max()
    height = (high - low) / (LEVELS - 1) or 1 / LEVELS
    rows = rows.assign(level=low + height * ((rows["confidence"] - low) / height).round())
    by_step = rows.groupby("step")
    return rows.assign(
        frame=by_step.ngroup(),
        place=rows.groupby(["step", "level"]).cumcount(),
        right=by_step["board"].transform("sum"),
    )


def _answer(end: pd.DataFrame, answer: str) -> pd.DataFrame:
    """The cells of an answer, and how it was given."""
    given = end[end["answer"] == answer]
    cells = _cells(given.iloc[0], answer)
    wrong = (cells["outcome"] == "wrong").sum()
    return cells.assign(answered=len(given), confidence=given["confidence"].max(), wrong_cells=wrong)


def _cells(about: pd.Series, board: str) -> pd.DataFrame:
    """The cells of an answer."""
    cells = pd.DataFrame({"given": list(about["question"]), "label": list(about["label"]), "digit": list(board)})
    right = (cells["digit"] == cells["label"]).map({True: "right", False: "wrong"})
    size = about["box_rows"] * about["box_columns"]
    return cells.assign(
        outcome=right.where(cells["given"] == ".", "given"),
        digit=cells["digit"].replace(".", ""),
        row=cells.index // size,
        column=cells.index % size,
        box_rows=about["box_rows"],
        box_columns=about["box_columns"],
    )


def _draw_frames(axes: Axes, data: pd.DataFrame) -> None:
    """The candidates of each step side by side, the leader ringed, and the way of the one that is picked."""
    if data.empty:
        axes.set_axis_off()
        return
    most = max(STACK, data["place"].max() + 1)
    at = data.assign(x=data["frame"] + FRAME * data["place"] / most)
    for outcome, mark in MARKS.items():
        rows = at[at["outcome"] == outcome]
        axes.plot(rows["x"], rows["level"], **mark)
    for which, look in (("picked", PATH), ("picked", PICKED), ("leads", LEADER)):
        rows = at[at[which] == 1]
        axes.plot(rows["x"], rows["level"], **look)
    frames = data.drop_duplicates("frame")
    words = [f"step {r.step}\n{r.right} of {r.candidates:,} right" for r in frames.itertuples()]
    axes.set_xticks(frames["frame"] + FRAME / 2 - FRAME / STACK, words)
    axes.tick_params(axis="x", length=0)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("Confidence (%)")
    percent_axis(axes)


def _draw_board(axes: Axes, data: pd.DataFrame) -> None:
    """A board: givens on grey, right cells in blue, wrong ones on red."""
    axes.set_axis_off()
    if data.empty:
        return
    about, size = data.iloc[0], data["row"].max() + 1
    axes.set(xlim=(-0.05, size + 0.05), ylim=(size + 0.05, -0.05), aspect="equal")
    columns = ["column", "row", "digit", "outcome"]
    for x, y, digit, outcome in data[columns].itertuples(index=False, name=None):
        colour, weight, behind = CELLS[outcome]
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=behind, edgecolor="0.75", linewidth=0.5))
        words = {"color": colour, "weight": weight, "fontsize": 72 / size, "ha": "center", "va": "center"}
        axes.text(x + 0.5, y + 0.53, digit, **words)
    for line, step in ((axes.axhline, about["box_rows"]), (axes.axvline, about["box_columns"])):
        for place in range(0, size + 1, step):
            line(place, color=INK, linewidth=1.2)
    axes.set_title(BOARDS[about["part"]])
    axes.text(0.5, -0.02, _note(data), transform=axes.transAxes, **SMALL | {"va": "top"})


def _note(data: pd.DataFrame) -> str:
    """What is said of a board."""
    about = data.iloc[0]
    if about["part"] == "puzzle":
        return f"{counted((data['outcome'] == 'given').sum(), 'given')} of {len(data)} cells"
    worth = counted(about["wrong_cells"], "wrong cell") if about["wrong_cells"] else "right"
    given = f"given by {about['answered']:,} of {about['candidates']:,}"
    return f"{worth}, {given}\nconfidence up to {about['confidence']:.1%}"


def _puzzle(data: pd.DataFrame) -> str:
    """Which puzzle is shown."""
    about, most_wrong = data.iloc[0], "that C-voting solves though most candidates are wrong"
    if about["chosen_from"] == 0:
        return f"no puzzle {most_wrong}"
    return f"puzzle {shown_puzzle(about['puzzle'])}, the middle one of {about['chosen_from']:,} {most_wrong}"


def _legend() -> list[Line2D]:
    """One entry for each mark."""
    marks = [Line2D([], [], **mark, label=f"{name} candidate") for name, mark in MARKS.items()]
    leader = Line2D([], [], **LEADER, label="the most confident")
    return [
        *marks,
        leader,
        Line2D([], [], **(PICKED | PATH | {"linestyle": "-"}), label="the one that C-voting picks at the end"),
    ]


write = partial(write_confidence_figure, NAME, SolvedBoardFigure, prepare, draw)
