"""What every figure of the voting tables has in common: how it is written, and what its rows say of themselves."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cvoting.figures.style import DATASETS, MODELS, save
from cvoting.paper_setting import TRAINED_ON
from cvoting.params.core import build
from cvoting.params.figures import FigureParams
from cvoting.published import read_published
from cvoting.table_files import METRICS, read_tables, unlearned, write_csv

#: Columns of a voting table that say what a row is of.
ABOUT = (
    "study", "run", "model", "dataset", "split", "origin", "T_eval", "puzzles", "candidates", "level", "interval",
)  # fmt: skip
SMALL: dict[str, Any] = {"fontsize": 6.5, "color": "0.35", "ha": "center", "va": "bottom"}

#: prepare(tables by bank, or by kind and bank, params, title, paper_scale, published) -> every number that is drawn.
Prepare = Callable[[Mapping[str, Any], Any, str, bool, pd.DataFrame], pd.DataFrame]


def read_voting(params: FigureParams, tables: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """The voting tables of a figure, by bank.

    Args:
        params: of the figure.
        tables: the table of each bank, in the order of `params.banks`.

    Raises:
        TableError: when a file is not a whole voting table, or there is not one for each bank.
    """
    return read_tables("voting table", params.banks, tables)


def write_figure(
    name: str,
    kind: type[FigureParams],
    prepare: Prepare,
    draw: Callable[[pd.DataFrame], Figure],
    recipe: Mapping[str, Any],
    tables: Sequence[Path],
    published: Path,
    out_dir: Path,
    read: Callable[[Any, Sequence[Path]], Mapping[str, Any]] = read_voting,
) -> None:
    """Draw a figure: PDF, PNG, and CSV with every number drawn, under its name.

    Args:
        name: of the figure.
        kind: the class of its parameters.
        prepare, draw: the two functions of its module.
        recipe: `title` and `paper_scale` of the study, and `params` of the figure.
        tables: files, as `read` takes them.
        published: reference/published.csv.
        out_dir: the folder of the three files.
        read: reads the tables.
    """
    params = build(kind, recipe["params"], f"figures.{name}")
    data = prepare(read(params, tables), params, recipe["title"], recipe["paper_scale"], read_published(published))
    write_csv(data, out_dir / f"{name}.csv")
    save(draw(data), out_dir / f"{name}.pdf", out_dir / f"{name}.png")


def panel_rows(
    tables: Mapping[str, pd.DataFrame],
    params: FigureParams,
    title: str,
    rows_of: Callable[[pd.DataFrame, int, str], pd.DataFrame],
) -> pd.DataFrame:
    """The rows of every bank of every panel, by each metric that its table has; with a `note` where no vote is drawn.

    Args:
        tables: voting tables, by bank.
        params: the panels.
        title: how the study is named.
        rows_of: makes those of one table; it is also told the number of banks in its panel, and the metric.
    """
    rows = [
        rows_of(tables[bank], len(banks), metric).assign(
            panel=panel, bank=bank, title=title, note=unlearned(tables[bank])
        )
        for panel, banks in enumerate(params.panels, start=1)
        for bank in banks
        for metric in METRICS
        if (tables[bank]["metric"] == metric).any()
    ]
    return pd.concat(rows, ignore_index=True)


def without_note(data: pd.DataFrame) -> pd.DataFrame:
    """The rows whose numbers are drawn: a `note` says why others are not."""
    return data[data["note"].isna()]


def notes(data: pd.DataFrame) -> str:
    """Why no votes of some banks of a panel are drawn: a line each, with the model where there are several banks."""
    several = data["bank"].nunique() > 1
    firsts, rests = [], dict[str, None]()
    for _, row in data[data["note"].notna()].drop_duplicates("bank").iterrows():
        first, *rest = row["note"].split("; ")
        firsts.append(f"{MODELS.get(row['model'], row['model'])}: {first}" if several else first)
        rests |= dict.fromkeys(rest)
    return "\n".join([*firsts, *rests])


def draw_notes(axes: Axes, data: pd.DataFrame) -> None:
    """Write the `notes` of a panel below what else is drawn in it, or in its place; to be called last.

    Args:
        axes: the panel.
        data: its rows.
    """
    said = notes(data)
    if not axes.has_data():
        axes.set(xscale="linear", xticks=[], yticks=[])
        axes.text(0.5, 0.5, said.replace(": no", ":\nno"), transform=axes.transAxes, **SMALL | {"va": "center"})
    elif said:
        note_below(axes, said)


def note_below(axes: Axes, note: str) -> None:
    """Numbers in words, under the label of the horizontal axis.

    Args:
        axes: the panel.
        note: the words, of one line or more.
    """
    axes.annotate(note, (0.5, 0), (0, -2), axes.xaxis.label, "offset points", **SMALL | {"va": "top"})


def rows_and_columns(panels: int, across: int) -> tuple[int, int]:
    """How many rows and columns some panels take, with at most `across` of them side by side and rows evenly filled.

    Args:
        panels: how many there are, 1 or more.
        across: the most in a row.
    """
    down = math.ceil(panels / across)
    return down, math.ceil(panels / down)


def row_by_row(figure: Figure, panels: int, across: int, label: str) -> Iterator[Axes]:
    """The panels of a figure, by `rows_and_columns`; the y axes of the first of each row have a label.

    Args:
        figure: without panels.
        panels, across: as of `rows_and_columns`.
        label: of what all panels show.
    """
    down, across = rows_and_columns(panels, across)
    for place in range(panels):
        axes = figure.add_subplot(down, across, place + 1)
        if place % across == 0:
            axes.set_ylabel(label)
        yield axes


def pairs_row_by_row(figure: Figure, pairs: int, across: int) -> Iterator[tuple[Axes, Axes]]:
    """Two panels for each of several things, one above the other, by `rows_and_columns`.

    Args:
        figure: without panels.
        pairs, across: as of `rows_and_columns`.
    """
    down, across = rows_and_columns(pairs, across)
    for place in range(pairs):
        above = place + place // across * across + 1
        yield figure.add_subplot(2 * down, across, above), figure.add_subplot(2 * down, across, above + across)


def model_names(data: pd.DataFrame) -> str:
    """The names of the models of some rows."""
    return ", ".join(MODELS.get(model, model) for model in dict.fromkeys(data["model"]))


def dataset_name(rows: pd.DataFrame) -> str:
    """What some rows' puzzles are called, and whether they are generated, or others than those their models trained on.

    The name of a run says what it trained on, where it is the model's and the dataset's.

    Args:
        rows: of one dataset.
    """
    first, names = rows.iloc[0], []
    for run, model in rows[["run", "model"]].drop_duplicates().itertuples(index=False):
        trained, dataset = run.removeprefix(f"{model}-"), first["dataset"]
        if trained != run and trained not in (dataset, TRAINED_ON.get(dataset)):
            names.append(DATASETS.get(trained, trained))
    about = [f"trained on {', '.join(dict.fromkeys(names))}"] * bool(names)
    about += ["generated data"] * (first["origin"] == "generated")
    name = DATASETS.get(first["dataset"], first["dataset"])
    return f"{name} ({', '.join(about)})" if about else name


def title_panel(axes: Axes, data: pd.DataFrame, sizes: str = "", among: pd.DataFrame | None = None) -> None:
    """Above a panel: its dataset, and the sizes, seeds and intervals behind its numbers.

    Args:
        axes: the panel.
        data: its rows; no interval is named where they have none.
        sizes: how many puzzles and candidates there are, in other words than those of banks.
        among: the rows of all panels, whose model is then named where they have several.
    """
    model = f"{model_names(data)}\n" if among is not None and among["model"].nunique() > 1 else ""
    axes.set_title(f"{model}{dataset_name(data)}", pad=31)
    sizes = sizes or f"$n$ = {_all(data['puzzles'])} puzzles, $M$ = {_all(data['candidates'])}"
    steps = f"$T_\\mathrm{{eval}}$ = {_all(data['T_eval'])}"
    seeds = f"training seeds: {_all(data['training_seeds'])}, inference seeds: {_all(data['inference_seeds'])}"
    interval = f"\ninterval: {'; '.join(dict.fromkeys(data['interval']))}" if "interval" in data else ""
    axes.text(0.5, 1.02, f"{sizes}, {steps}\n{seeds}{interval}", transform=axes.transAxes, **SMALL)


def _all(values: pd.Series) -> str:
    """The different values of a column, in the order of the curves; the least and the most of many."""
    different = list(dict.fromkeys(values))
    if len(different) > 3:
        return f"{min(different):,} to {max(different):,}"
    return " / ".join(f"{value:,}" for value in different)
