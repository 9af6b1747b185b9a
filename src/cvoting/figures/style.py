"""How every figure looks, and how it is saved.

Figures are drawn on `matplotlib.figure.Figure` without pyplot: no window, no global state, nothing of the user's own
settings.  The same figure gives the same bytes.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from PIL import Image

from cvoting.atomic import atomic_path
from cvoting.picture_file import write_picture

#: Width of a figure of two panels, inches.
WIDTH = 6.5
#: The most panels of half that width side by side.
ACROSS = 3
#: Pixels per inch of PNG files.
DPI = 300

RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.5,
    "pdf.fonttype": 42,
}

#: A vote has the same colour, marker and name in every figure.  Colours of Okabe and Ito (2008) and of Tol (2021),
#: which colour-blind readers tell apart.
COLOURS = {
    "confidence": "#0072B2",
    "negative_entropy": "#56B4E9",
    "log_probability": "#44AA99",
    "energy_sum": "#D55E00",
    "energy_last": "#E69F00",
    "halting_logit": "#AA4499",
    "confidence_stablemax": "#117733",
    "latent_residual": "#CC79A7",
    "logit_residual": "#882255",
    "majority_answer": "#009E73",
    "majority_cell": "#999933",
    "majority_confidence": "#332288",
    "random": "#777777",
    "oracle": "#000000",
}
MARKERS = {
    "confidence": "o",
    "negative_entropy": "v",
    "log_probability": "^",
    "energy_sum": "s",
    "energy_last": "D",
    "halting_logit": "d",
    "confidence_stablemax": ">",
    "latent_residual": "P",
    "logit_residual": "X",
    "majority_answer": "h",
    "majority_cell": "p",
    "majority_confidence": "*",
    "random": "",
    "oracle": "",
}
NAMES = {
    "confidence": "C-voting",
    "negative_entropy": "negative entropy",
    "log_probability": "log probability",
    "energy_sum": "E-voting, energy summed over steps",
    "energy_last": "E-voting, energy of the last step",
    "halting_logit": "halting logit",
    "confidence_stablemax": "C-voting, stablemax",
    "latent_residual": "latent residual",
    "logit_residual": "logit residual",
    "majority_answer": "majority, whole answers",
    "majority_cell": "majority, each cell",
    "majority_confidence": "majority, confidence-weighted",
    "random": "mean of candidates ($K=1$)",
    "oracle": "oracle: any candidate right",
}
#: How a curve looks that counts any shortest path of a maze as right, and what legends say of it.
OPTIMAL: dict[str, Any] = {"linestyle": (0, (3, 1)), "markerfacecolor": "white"}
OPTIMAL_NAME = "the same, any shortest path is right"
#: Published values, which stand beside ours at the paper's scale only.
PUBLISHED: dict[str, Any] = {
    "linestyle": "", "marker": "D", "markersize": 5, "markerfacecolor": "white", "markeredgewidth": 1.2,
}  # fmt: skip
PUBLISHED_NAME = "published, ± its spread"
#: Where confidence is as large as accuracy.
DIAGONAL: dict[str, Any] = {"color": "0.6", "linestyle": ":", "linewidth": 1, "zorder": 1}
#: Right and wrong candidates, where both are shown.
OUTCOME_COLOURS = {"right": COLOURS["confidence"], "wrong": COLOURS["energy_sum"]}
#: Likewise for models, in figures that compare them.
MODELS = {
    "akorn": "AKOrN",
    "itrsa": "ItrSA++",
    "hrm": "HRM",
    "hrm_fixed": "HRM, fixed initial state",
    "transformer": "Transformer",
}
MODEL_COLOURS = {
    "akorn": "#D55E00",
    "itrsa": "#0072B2",
    "hrm": "#009E73",
    "hrm_fixed": "#882255",
    "transformer": "#CC79A7",
}
#: For models of other names, in the order in which they appear.
OTHER_COLOURS = ("#E69F00", "#56B4E9", "#332288", "#999933", "#44AA99", "#AA4499")
DATASETS = {
    "sudoku": "Sudoku",
    "sudoku_hard": "Sudoku-hard",
    "sudoku_extreme": "Sudoku-extreme",
    "maze_hard": "Maze-hard",
    "maze_12": "Mazes of 12x12 cells",
}


def model_colours(models: Iterable[str]) -> dict[str, str]:
    """The colour of each of some models."""
    others = [model for model in dict.fromkeys(models) if model not in MODEL_COLOURS]
    return MODEL_COLOURS | {model: OTHER_COLOURS[i % len(OTHER_COLOURS)] for i, model in enumerate(others)}


def ordered_colours(numbers: Iterable[float]) -> dict[float, str]:
    """Colours for numbers from small to large, from dark to light: in that order for colour-blind readers too.

    Args:
        numbers: in any order; equal ones have the same colour.
    """
    different = sorted(set(numbers))
    shades = matplotlib.colormaps["viridis"]
    # The last sixth of the map is too light for lines on white.
    return {number: to_hex(shades(0.85 * i / max(1, len(different) - 1))) for i, number in enumerate(different)}


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's defaults and `RC` while the block runs: figures are made and saved inside."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield


def candidates_axis(axes: Axes, K: list[int]) -> None:
    """A log2 axis of numbers of candidates, with at most eight labels."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(K[:: -(-len(K) // 8)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.set_xlabel("Number of candidates $K$")


def percent_axis(axes: Axes) -> None:
    """A vertical axis of fractions, labelled in percent; to be called when everything is drawn.

    It spans one point at least: equal values are not to look different; and nothing that no fraction can be.
    """
    low, high = axes.get_ylim()
    if high - low < 0.01:
        low, high = low - 0.005, high + 0.005
    margin = 0.03 * (high - low)
    axes.set_ylim(max(low, -margin), min(high, 1 + margin))
    percent_ticks(axes.yaxis)


def percent_x_axis(axes: Axes) -> None:
    """A horizontal axis of fractions, labelled in percent."""
    percent_ticks(axes.xaxis)


def percent_ticks(axis: Axis) -> None:
    """Label an axis of fractions, or of numbers like them that may be negative, in percent."""
    axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda fraction, _: f"{100 * fraction:.6g}"))


def save(figure: Figure, pdf: Path, png: Path) -> None:
    """Write a figure as PDF and PNG, without dates or program versions."""
    with style():
        with atomic_path(pdf) as temporary:
            figure.savefig(temporary, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
        drawn = BytesIO()
        figure.savefig(drawn, format="png", dpi=DPI)
    with Image.open(drawn) as picture:
        write_picture(picture, png)
