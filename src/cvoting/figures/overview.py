"""The drawing of C-voting in Figure 1 (a): one input, K random initial states, one model, the most confident answer.

It shows how the method works and no result: boards and states are decoration, and confidences are symbols.
"""

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from cvoting.figures.style import COLOURS
from cvoting.seeding import generator

#: Width and height of the drawing, in its own unit; the middles of its columns.
SIZE = (120.0, 31.0)
INPUT, STATE, MODEL, CANDIDATE, CONFIDENCE, BEST, ANSWER = 9.0, 32.0, 54.0, 78.0, 90.0, 97.0, 111.0
#: Heights of the candidates that are drawn, their names, and which is the most confident.
ROWS, NAMES, CHOSEN = (24.5, 16.5, 6.0), ("1", "2", "K"), 1
#: Boards of 4x4: the givens of the question, and answers, of which the chosen one is the solution.
QUESTION = "1..4..1.2...4..1"
ANSWERS = ("1324321421434321", "1234341221434321", "1234341221344321")
INK, PALE, RIGHT, WRONG = "0.15", "0.55", COLOURS["confidence"], COLOURS["energy_sum"]
LINE, BOLD = 1.0, 1.6

Point = tuple[float, float]


def draw_overview(axes: Axes) -> None:
    """Draw C-voting (Section 4) into an empty axes, at the width of its figure."""
    axes.set(xlim=(0, SIZE[0]), ylim=(0, SIZE[1]), aspect="equal")
    axes.set_axis_off()
    middle = ROWS[CHOSEN]
    _board(axes, (INPUT, middle), 11.0, QUESTION, INK, 1.2)
    _text(axes, (INPUT, middle + 7.4), r"input $\mathbf{x}$")
    for column, words in (
        (STATE, "$K$ random initial states"),
        (CANDIDATE, "$K$ candidates"),
        (CONFIDENCE, "confidences"),
    ):
        _text(axes, (column, 29.8), words)
        _text(axes, (column, (ROWS[1] + ROWS[2]) / 2), r"$\vdots$", 1.6)
    _model(axes)
    for row, (name, answer) in enumerate(zip(NAMES, ANSWERS, strict=True)):
        _candidate(axes, row, name, answer)
    axes.add_patch(Circle((BEST, middle), 1.8, facecolor="white", edgecolor=RIGHT, linewidth=1.2, zorder=3))
    _text(axes, (BEST, middle), "max", 1.1)
    _arrow(axes, (BEST + 1.8, middle), (ANSWER - 5.8, middle), RIGHT, BOLD)
    _board(axes, (ANSWER, middle), 11.0, ANSWERS[CHOSEN], RIGHT, BOLD)
    _text(axes, (ANSWER, middle + 7.4), r"answer $\hat{\mathbf{y}}^{(k^*)}$")
    _text(axes, (ANSWER, middle - 7.6), r"$k^* = \mathrm{argmax}_k\; C^{(k)}$")
    mean = r"$C^{(k)} = \frac{1}{|\mathcal{L}|}\,\sum_{l\in\mathcal{L}}\;\max_j\,P_{j,l}(\mathbf{z}_T^{(k)})$"
    _text(axes, (CONFIDENCE, 0.5), f"confidence: the mean top-1 probability, {mean}")


def _model(axes: Axes) -> None:
    """The recurrent model, which gets the input beside every state."""
    left, bottom, width, height = MODEL - 8, 3.6, 16, 23.8
    corners = "round,pad=0,rounding_size=1.2"
    axes.add_patch(
        FancyBboxPatch((left, bottom), width, height, corners, facecolor="0.96", edgecolor=INK, linewidth=LINE)
    )
    _text(axes, (MODEL, 23.2), "recurrent model")
    around = Path.arc(-50, 230).transformed(Affine2D().scale(3.3).translate(MODEL, 16.6))
    axes.add_patch(FancyArrowPatch(path=around, arrowstyle="-|>", mutation_scale=8, color=INK, linewidth=1.2))
    _text(axes, (MODEL, 16.6), "$f$", 2.4)
    _text(axes, (MODEL, 10.6), r"$\times\,T$ steps")
    _text(axes, (MODEL, 6.6), r"$\mathbf{z}_{t+1} = f(\mathbf{z}_t, \mathbf{x};\,\theta)$")
    axes.plot([INPUT, INPUT, MODEL], [ROWS[CHOSEN] - 5.8, 1.2, 1.2], color=INK, linewidth=LINE)
    _arrow(axes, (MODEL, 1.2), (MODEL, bottom), INK, LINE)


def _candidate(axes: Axes, row: int, name: str, answer: str) -> None:
    """From an initial state to an answer and its confidence."""
    height, chosen = ROWS[row], row == CHOSEN
    colour, linewidth = (RIGHT, BOLD) if chosen else (PALE, LINE)
    _text(axes, (STATE - 5.8, height), rf"$\mathbf{{z}}_0^{{({name})}}$", 1.6)
    _noise(axes, (STATE, height), 5.8, row)
    _arrow(axes, (STATE + 3.5, height), (MODEL - 8.2, height), colour, linewidth)
    _arrow(axes, (MODEL + 8.2, height), (CANDIDATE - 3.8, height), colour, linewidth)
    _text(axes, ((MODEL + CANDIDATE + 4) / 2, height + 1.7), rf"$\mathbf{{z}}_T^{{({name})}}$", 1.6)
    _board(axes, (CANDIDATE, height), 6.8, answer, colour, BOLD if chosen else 0.8)
    axes.plot([CANDIDATE + 3.8, CONFIDENCE - 2.8], [height, height], color=colour, linewidth=linewidth)
    _text(axes, (CONFIDENCE, height), rf"$C^{{({name})}}$", 1.6, RIGHT if chosen else INK)
    axes.plot([CONFIDENCE + 2.6, BEST], [height, ROWS[CHOSEN]], color=colour, linewidth=linewidth, zorder=2)


def _board(axes: Axes, centre: Point, side: float, tokens: str, frame: str, linewidth: float) -> None:
    """A board of 4x4: givens black, answers in one colour where they are right and in another where they are not."""
    left, bottom, cell = centre[0] - side / 2, centre[1] - side / 2, side / 4
    for line, (grey, thickness) in zip((1, 3, 2), (("0.8", 0.5), ("0.8", 0.5), ("0.3", 0.8)), strict=True):
        axes.plot([left + line * cell] * 2, [bottom, bottom + side], color=grey, linewidth=thickness)
        axes.plot([left, left + side], [bottom + line * cell] * 2, color=grey, linewidth=thickness)
    axes.add_patch(
        Rectangle((left, bottom), side, side, facecolor="none", edgecolor=frame, linewidth=linewidth, zorder=3)
    )
    for place, token in enumerate(tokens.replace(".", " ")):
        at = (left + (place % 4 + 0.5) * cell, bottom + side - (place // 4 + 0.54) * cell)
        given, right = QUESTION[place] == token, ANSWERS[CHOSEN][place] == token
        _text(axes, at, token, 0.72 * cell, INK if given else RIGHT if right else WRONG)


def _noise(axes: Axes, centre: Point, side: float, row: int) -> None:
    """A state drawn at random, as a square of greys."""
    greys = generator("drawing of an initial state", row).uniform(0.15, 0.95, size=(6, 6))
    cell = side / 6
    for (i, j), grey in zip(((i, j) for i in range(6) for j in range(6)), greys.ravel(), strict=True):
        at = (centre[0] - side / 2 + i * cell, centre[1] - side / 2 + j * cell)
        axes.add_patch(Rectangle(at, cell, cell, facecolor=str(float(grey)), edgecolor="white", linewidth=0.3))


def _arrow(axes: Axes, start: Point, end: Point, colour: str, linewidth: float) -> None:
    """A straight arrow."""
    head = 5 + 2 * linewidth
    axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=head, shrinkA=0, shrinkB=0, color=colour, linewidth=linewidth
        )
    )


def _text(axes: Axes, at: Point, words: str, size: float = 1.45, colour: str = INK) -> None:
    """Words whose size is in the drawing's unit, so that they grow with it."""
    points = 72 * axes.figure.get_figure(root=True).get_size_inches()[0] / SIZE[0]
    axes.text(*at, words, fontsize=size * points, color=colour, ha="center", va="center", zorder=4)
