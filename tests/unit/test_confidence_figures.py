"""The figures of the candidates' confidence: they show the numbers of their tables, and say what is missing."""

import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from cvoting import published as published_numbers
from cvoting.figures import (
    extra_adaptive_voting,
    extra_board_calibration,
    extra_confidence_discrimination,
    extra_solved_board,
    fig5_calibration,
    fig6_confidence_histograms,
    fig7_confidence_steps,
    style,
)
from cvoting.figures.confidence_base import KINDS
from cvoting.params.core import plain
from cvoting.params.figures import (
    AdaptiveFigure,
    BoardCalibrationFigure,
    CalibrationFigure,
    DiscriminationFigure,
    SolvedBoardFigure,
    TrajectoriesFigure,
)
from cvoting.seeding import generator
from cvoting.table_files import (
    ADAPTIVE_COLUMNS,
    CALIBRATION_COLUMNS,
    DISCRIMINATION_COLUMNS,
    RELIABILITY_COLUMNS,
    RISK_COLUMNS,
    SOLVED_BOARD_COLUMNS,
    TRAJECTORIES_COLUMNS,
    TableError,
    over_all_seeds,
    write_csv,
)

#: Of each made-up bank: what stands in all its rows, and its training seeds.
BANKS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "boards": (
        {"model": "itrsa", "dataset": "sudoku_extreme", "origin": "generated", "puzzles": 1000, "candidates": 16},
        ("0", "1", "all"),
    ),
    "mazes": (
        {"model": "itrsa", "dataset": "maze_hard", "origin": "original", "puzzles": 400, "candidates": 16},
        ("0",),
    ),
}
#: The largest changes from temperature 1 in each made-up calibration table, at the last temperature.
LARGEST = {"cell_accuracy_change": -0.0012, "board_change": 0.0096}
#: A board, its question, and two answers with two wrong cells and one, which 9 and 5 of 16 candidates give.
LABEL, QUESTION, WRONG = "1234341221434321", "1..4..1.2...4..1", ("1324341221434321", "1234341221334321")
#: A number and the ends of its interval, by how their columns end.
ENDS = {"": 0.0, "_low": -0.03, "_high": 0.03}
TEMPERATURES = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
SWEPT = [*((T, False) for T in TEMPERATURES), (1.87, True)]


def about(bank: str, seed: str) -> dict[str, Any]:
    """What every row of a bank and training seed says."""
    of, _ = BANKS[bank]
    interval = "training seeds and puzzles" if seed == "all" else "puzzles only"
    fixed = {"study": "a-study", "run": bank, "split": "test", "T_eval": 16, "inference_seed": "0", "level": 0.95}
    return fixed | of | {"training_seed": seed, "interval": interval}


def table(columns: Sequence[str], rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows as a table; what a row does not say is empty."""
    return pd.DataFrame(rows, columns=list(columns))


def around(value: float, half: float) -> dict[str, float]:
    """A value with an interval."""
    return {"value": value, "low": value - half, "high": value + half}


@cache
def calibration(bank: str) -> pd.DataFrame:
    """The calibration error is least at T = 2, and accuracy nearly the same at all temperatures.

    What changes with the fitted temperature is made larger than elsewhere: it is not one of the listed.
    """
    rows = []
    for shift, seed in enumerate(BANKS[bank][1]):
        for T, fitted in SWEPT:
            error = 0.01 + 0.05 * np.log(T / 2) ** 2 + 0.001 * shift
            both = {
                "cell_accuracy": 0.85 + 0.01 * shift, "cell_confidence": 0.9 / T**0.1, "cell_ece_width": error,
                "cell_ece_mass": error + 0.002, "cell_brier": 0.1 + error, "cell_nll": 0.3 + error, "board": 0.52,
            }  # fmt: skip
            at_one = {
                "board_mean_ece_mass": 0.3, "board_mean_ece_width": 0.31, "board_joint_ece_mass": 0.06,
                "board_joint_ece_width": 0.07, "aurc_board": 0.2,
            } if T == 1 else {}  # fmt: skip
            if bank.startswith("mazes"):
                both["optimal"], at_one["aurc_optimal"] = 0.7, 0.0998
            for of in ("candidates", "voted"):
                gain = 0.04 + 0.0005 * T if of == "voted" else 0.0
                for metric, value in (both | at_one).items():
                    sign = -1 if metric.startswith("aurc") else 0 if "ece" in metric else 1
                    which = {"of": of, "temperature": T, "fitted": fitted, "metric": metric}
                    rows.append(about(bank, seed) | which | around(value + sign * gain, 0.006))
            for metric, largest in (LARGEST | ({"optimal_change": 0.05} if bank == "mazes" else {})).items():
                which = {"of": "voted", "temperature": T, "fitted": fitted, "metric": metric}
                change = 2 * largest if fitted else largest * (T - 1) / 3
                rows.append(about(bank, seed) | which | around(change, 0.001 * abs(T - 1)))
    return table(CALIBRATION_COLUMNS, rows)


@cache
def reliability(bank: str) -> pd.DataFrame:
    """Reliability in ten bins, of which the first two of width are empty; those of mazes are all but the last two.

    At T = 0.5 the bin after these has few predictions.  Of whole boards and one training seed, intervals are Wilson's.
    """
    rows = []
    for shift, seed in enumerate(BANKS[bank][1]):
        for T, fitted in SWEPT:
            for of in ("candidates", "voted"):
                for unit, binning in ((u, b) for u in ("cell", "board_mean", "board_joint") for b in ("width", "mass")):
                    empty = 0 if binning == "mass" else 2 if bank != "mazes" else 8
                    low = 0.8 if binning == "mass" and unit == "board_mean" else 0.0
                    edges = np.linspace(low, 1, 11)
                    for b in range(10):
                        which = {"of": of, "unit": unit, "binning": binning, "temperature": T, "fitted": fitted}
                        which |= {"bin": b + 1, "lower": edges[b], "upper": edges[b + 1], "count": 0}
                        middle = (edges[b] + edges[b + 1]) / 2
                        if b == empty - 1 and seed == "all":
                            which["count"] = 3  # of one training seed only: the mean over both is undefined
                        if b >= empty:
                            right = middle ** (2 / T) if unit == "cell" else (b + 0.5) / 10 * 0.9
                            which |= {"count": 50 + b, "confidence": middle, "accuracy": right - 0.01 * shift}
                            which |= {"low": max(0, right - 0.04), "high": min(1, right + 0.03)}
                            which["count"] = 29 if b == empty and T == 0.5 else which["count"]
                        if of == "voted" and unit != "cell" and seed != "all":
                            which["interval"] = "Wilson, puzzles only"
                        rows.append(about(bank, seed) | which)
    return table(RELIABILITY_COLUMNS, rows)


@cache
def risk(bank: str) -> pd.DataFrame:
    """Risk that grows with coverage."""
    metrics = ("board", "optimal") if bank.startswith("mazes") else ("board",)
    rows = []
    for shift, seed in enumerate(BANKS[bank][1]):
        for of, metric in ((of, metric) for of in ("candidates", "voted") for metric in metrics):
            most = (0.48 if of == "candidates" else 0.4) * (0.5 if metric == "optimal" else 1) + 0.01 * shift
            for coverage in np.arange(1, 101) / 100:
                value = most * coverage**1.5
                numbers = {"risk": value, "low": 0.9 * value, "high": 1.1 * value}
                rows.append(about(bank, seed) | {"of": of, "metric": metric, "coverage": coverage} | numbers)
    return table(RISK_COLUMNS, rows)


@cache
def discrimination(bank: str) -> pd.DataFrame:
    """On mazes the AUROC within puzzles is undefined."""
    rows = []
    for shift, seed in enumerate(BANKS[bank][1]):
        for metric in ("board", "optimal") if bank.startswith("mazes") else ("board",):
            values = {
                "sd_within": 0.02, "sd_within_right": 0.008, "sd_within_wrong": 0.03, "sd_between": 0.04,
                "distinct_answers": 5.3, "mixed_puzzles": 0.35, "auroc_within": 0.9, "auroc_between": 0.93,
                "no_vote": 0.52, "vote": 0.66, "oracle": 0.8,
            }  # fmt: skip
            if bank.startswith("mazes"):
                values = {name: value * (0.6 if name.startswith("sd") else 0.9) for name, value in values.items()}
                values |= {"auroc_within": np.nan, "sd_within_right": np.nan}
            values["wrong_but_optimal"] = 0.31 if bank.startswith("mazes") and metric == "board" else 0.0
            for measure, value in values.items():
                numbers = around(value + 0.001 * shift, 0.2 if measure == "distinct_answers" else 0.1 * value)
                rows.append(about(bank, seed) | {"metric": metric, "measure": measure} | numbers)
    return table(DISCRIMINATION_COLUMNS, rows)


@cache
def trajectories(bank: str, puzzles: int = 6, candidates: int = 8, wrong: float = 0.6) -> pd.DataFrame:
    """Candidates of a few puzzles at steps 1..8; the last puzzle is not pooled, and the example whose C-vote is wrong.

    A candidate that is wrong at the end may be right before.  With `wrong` = 0 there is no wrong candidate and no such
    example.
    """
    rng, rows = generator("made-up trajectories", list(BANKS).index(bank)), []
    shown = puzzles if wrong else puzzles - 1
    examples = {puzzles - 1: "wrong", 1: "right"}
    for p, c in np.ndindex(shown, candidates):
        right = rng.random() >= wrong if p != 1 else True
        end, speed = (0.98, 4) if right else (0.9 + 0.06 * rng.random() if p < puzzles - 1 else 0.99, 2)
        for step in range(1, 9):
            which = {
                "puzzle": f"{p:08x}" + 3 * "f0e1d2c3", "pooled": p < puzzles - 1, "example": examples.get(p),
                "candidate": c + 1, "step": step, "confidence": end - 0.5 * np.exp(-step / 8 * speed) * rng.random(),
                "board": int(right) if step == 8 else 1 - int(right),
            }  # fmt: skip
            if bank.startswith("mazes"):
                which["optimal"] = int(right or c % 3 == 0)
            rows.append(about(bank, "0") | which)
    return table(TRAJECTORIES_COLUMNS, rows)


@cache
def solved_board(bank: str, solved: bool = True) -> pd.DataFrame:
    """Candidates at three steps: at the end the last two of 16 are right and lead, and before the first leads."""
    of = about(bank, "0") | {"chosen_from": 7 if solved else 0, "box_rows": 2, "box_columns": 2}
    board = {"puzzle": 4 * "0badcafe", "question": QUESTION, "label": LABEL}
    answers = [WRONG[0]] * 9 + [WRONG[1]] * 5 + [LABEL] * 2
    rows = [
        of | board | {
            "candidate": c, "step": step, "confidence": 0.9 - 0.01 * (c if step < 16 else 15 - c) - 1 / step,
            "board": int(step == 16 and c >= 14), "leads": int(c == (15 if step == 16 else 0)),
            "answer": answers[c] if step == 16 else None,
        }
        for step in (2, 8, 16) for c in range(16)
    ]  # fmt: skip
    return table(SOLVED_BOARD_COLUMNS, rows if solved else [of])


@cache
def adaptive(bank: str) -> pd.DataFrame:
    """At most 8 of the 16 candidates are drawn; the last threshold is never reached."""
    rules: list[dict[str, Any]] = [
        {"rule": "threshold", "parameter": target, "vote": "confidence", "K_max": 8, "threshold": threshold}
        for target, threshold in ((1.5, 0.9), (3.0, 0.97), (8.0, np.inf))
    ]
    rules += [{"rule": "agreement", "parameter": m, "vote": "confidence", "K_max": 8} for m in (2.0, 3.0)]
    rules += [
        {"rule": "fixed", "parameter": float(K), "vote": vote, "K_max": K, "subsets": subsets if K > 1 else None}
        for vote, subsets in (("confidence", None), ("majority_answer", 20))
        for K in (1, 2, 4, 8)
    ]
    drawn = [1.6, 3.2, 8.0, 2.4, 3.9, *(2 * [1.0, 2.0, 4.0, 8.0])]
    coverage = [0.95, 0.6, 0.0, 1.0, 0.9, *(8 * [1.0])]
    rows = []
    for shift, seed in enumerate(BANKS[bank][1]):
        for metric in ("board", "optimal") if bank.startswith("mazes") else ("board",):
            for place, rule in enumerate(rules):
                value = 0.5 + 0.01 * place + 0.001 * shift + (0.1 if metric == "optimal" else 0)
                numbers = around(value, 0.03) | {"drawn": drawn[place], "coverage": coverage[place]}
                numbers |= {"drawn_low": 0.9 * drawn[place], "drawn_high": 1.1 * drawn[place]}
                numbers |= {"coverage_low": 0.9 * coverage[place], "coverage_high": coverage[place]}
                answered = value / coverage[place] if coverage[place] else np.nan
                numbers |= {f"accuracy_answered{end}": answered + add for end, add in ENDS.items()}
                numbers |= {f"difference{end}": 0.02 * place - 0.1 + add for end, add in ENDS.items()}
                rows.append(about(bank, seed) | rule | {"metric": metric} | numbers)
    return table(ADAPTIVE_COLUMNS, rows).astype({"subsets": "Int64"})


MADE = {
    "adaptive": adaptive, "calibration": calibration, "reliability": reliability, "risk": risk,
    "discrimination": discrimination, "trajectories": trajectories, "solved_board": solved_board,
}  # fmt: skip
SHOWN = ("boards", "mazes")
PARAMS = {
    fig5_calibration: CalibrationFigure(banks=SHOWN, temperatures=(0.5, 1.0, 2.0)),
    fig6_confidence_histograms: TrajectoriesFigure(banks=SHOWN),
    fig7_confidence_steps: TrajectoriesFigure(banks=SHOWN),
    extra_board_calibration: BoardCalibrationFigure(banks=SHOWN),
    extra_confidence_discrimination: DiscriminationFigure(banks=SHOWN),
    extra_adaptive_voting: AdaptiveFigure(banks=SHOWN),
    extra_solved_board: SolvedBoardFigure(banks=SHOWN, steps=(2, 16)),
}
MODULES = pytest.mark.parametrize("module", PARAMS, ids=lambda module: module.NAME)
#: A table of published numbers that has none.
NOTHING = pd.DataFrame(columns=list(published_numbers.COLUMNS))
TITLE = "a study of a long name, as the paper's scale"


@pytest.fixture
def published(repository: Path) -> Path:
    """The published numbers."""
    return repository / "reference/published.csv"


@pytest.fixture
def never_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """On mazes there is no wrong candidate, no puzzle whose C-vote is wrong, and none that is solved in spite of it."""
    monkeypatch.setitem(MADE, "solved_board", lambda bank: solved_board(bank, bank != "mazes"))
    monkeypatch.setitem(MADE, "trajectories", lambda bank: trajectories(bank, wrong=0 if bank == "mazes" else 0.6))


def prepared(module: ModuleType, paper_scale: bool = False, published: pd.DataFrame = NOTHING) -> pd.DataFrame:
    """The data of a figure."""
    params = PARAMS[module]
    tables = {kind: {bank: MADE[kind](bank) for bank in params.banks} for kind in params.tables}
    data = module.prepare(tables, params, TITLE, paper_scale, published)
    assert tuple(data.columns) == module.COLUMNS
    return data


def table_files(module: ModuleType, folder: Path) -> list[Path]:
    """The files of the tables of a figure, in their order."""
    paths = []
    for kind in PARAMS[module].tables:
        for bank in PARAMS[module].banks:
            paths.append(folder / f"{bank}.{kind}.csv")
            write_csv(MADE[kind](bank), paths[-1])
    return paths


def recipe(module: ModuleType) -> dict[str, Any]:
    """What `write` is told."""
    return {"title": TITLE, "paper_scale": False, "params": plain(PARAMS[module])}


def texts(figure: Figure) -> str:
    """Everything that is written in a figure, but numbers of axes."""
    found, legends = [figure.get_suptitle()], list(figure.legends)
    for axes in figure.axes:
        found += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), *(t.get_text() for t in axes.texts)]
        legends += [axes.get_legend()] if axes.get_legend() else []
    found += [label.get_text() for label in figure.axes[0].get_yticklabels()]
    return "\n".join([*found, *(t.get_text() for legend in legends for t in legend.get_texts())])


def same(data: pd.DataFrame, source: pd.DataFrame, **names: str) -> None:
    """Assert that some rows are those of a table, whose columns may be called otherwise, in any order."""
    columns = [name for name in source.columns if names.get(name, name) in data.columns]
    ours = data[[names.get(name, name) for name in columns]].set_axis(columns, axis=1)
    keys = [name for name in columns if name not in ("low", "high", "interval")]
    ours, theirs = (rows.sort_values(keys, ignore_index=True) for rows in (ours, source[columns]))
    assert len(ours)
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)


@MODULES
def test_the_files_are_the_same_each_time_and_the_csv_holds_what_is_prepared(
    module, published, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(style, "DPI", 60)
    paths = table_files(module, tmp_path)
    for folder in ("one", "two"):
        module.write(recipe(module), paths, published, tmp_path / folder)
    for suffix in ("csv", "pdf", "png"):
        one, two = (tmp_path / folder / f"{module.NAME}.{suffix}" for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
    data = prepared(module).astype(object).fillna("").astype(str)
    written = pd.read_csv(tmp_path / "one" / f"{module.NAME}.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(written, data, check_dtype=False)


@MODULES
def test_tables_of_another_kind_or_number_are_refused(module, published, tmp_path) -> None:
    paths = table_files(module, tmp_path)
    wanted = " of boards, mazes"
    with pytest.raises(TableError, match=f"{len(paths) - 1} files, expected {len(paths)}: the .*{wanted}"):
        module.write(recipe(module), paths[:-1], published, tmp_path / "out")
    with pytest.raises(TableError, match=f"{len(paths) + 1} files, expected {len(paths)}"):
        module.write(recipe(module), [*paths, paths[0]], published, tmp_path / "out")
    other = next(kind for kind in MADE if kind != PARAMS[module].tables[-1])
    write_csv(MADE[other]("mazes"), paths[-1])
    with pytest.raises(TableError, match=f"a {KINDS[other]}, expected the {KINDS[PARAMS[module].tables[-1]]}"):
        module.write(recipe(module), paths, published, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@MODULES
def test_a_figure_says_what_it_is_of_and_how_many_seeds_are_behind_it(module) -> None:
    written = texts(module.draw(prepared(module)))
    kinds = PARAMS[module].tables
    one_seed = kinds in (("trajectories",), ("solved_board",))
    drawn = "at most $K$ = 8 of" if module is extra_adaptive_voting else "$K$ ="
    for words in (
        f"ItrSA++, {TITLE}",
        "Sudoku-extreme (generated data)",
        "Maze-hard\n",
        "5 of $n$ = 1,000 puzzles pooled: hashes up to 00000004\n"
        if kinds == ("trajectories",)
        else "$n$ = 1,000 puzzles, ",
        f"{drawn} 16 candidates, $T_\\mathrm{{eval}}$ = 16",
        f"training seeds: {1 if one_seed else 2}, inference seeds: 1",
    ):
        assert words in written
    assert one_seed == ("interval: " not in written) == ("interval: training seeds and puzzles" not in written)
    assert "$M$" not in written
    assert one_seed == ("95% interval" not in written)
    assert "Maze-hard (generated data)" not in written
    assert "nan" not in written


@MODULES
def test_the_model_of_each_bank_is_named_where_there_are_several(module) -> None:
    data = prepared(module)
    written = texts(module.draw(data.assign(model=data["model"].where(data["bank"] == "boards", "hrm"))))
    between = ", " if module is extra_confidence_discrimination else "\n"
    for words in ("ItrSA++, HRM, a study", f"ItrSA++{between}Sudoku-extreme", f"HRM{between}Maze-hard"):
        assert words in written


@MODULES
@pytest.mark.parametrize("missing", [False, True], ids=["all there", "no wrong candidate of mazes"])
def test_nothing_that_is_written_is_cut_off_or_covers_something_else(module, missing, request) -> None:
    if missing:
        request.getfixturevalue("never_wrong")
    figure = module.draw(prepared(module))
    with style.style():
        figure.savefig(io.BytesIO(), format="png")
        boxes = [*(axes.get_tightbbox() for axes in figure.axes), *(x.get_window_extent() for x in figure.legends)]
        boxes += [text.get_window_extent() for text in figure.texts]
    for place, box in enumerate(boxes):
        assert figure.bbox.containsx(box.x0)
        assert figure.bbox.containsx(box.x1)
        assert figure.bbox.containsy(box.y0)
        assert figure.bbox.containsy(box.y1)
        assert not box.count_overlaps(boxes[:place])
    for axes in figure.axes:
        written = [text.get_window_extent() for text in (axes.title, axes.xaxis.label) if text.get_text()]
        for text in axes.texts:
            # The extent of an annotation has its arrow too, which here may cross what it will.
            box = super(type(text), text).get_window_extent() if hasattr(text, "arrow_patch") else None
            box = box or text.get_window_extent()
            assert not box.count_overlaps(written), text.get_text()
            written.append(box)


@MODULES
def test_a_table_of_one_step_and_one_bank_is_drawn_too(module, monkeypatch) -> None:
    def last(bank: str) -> pd.DataFrame:
        rows = trajectories(bank)
        return rows[rows["step"] == 8].assign(step=1)

    monkeypatch.setitem(MADE, "trajectories", last)
    data = prepared(module)
    figure = module.draw(data[data["bank"] == "boards"])
    figure.savefig(io.BytesIO(), format="png")
    assert "Maze" not in texts(figure)


def test_figure_5_holds_the_rows_of_its_tables_over_all_seeds() -> None:
    data = prepared(fig5_calibration)
    for bank, rows in data.groupby("bank"):
        source = over_all_seeds(reliability(bank))
        source = source[(source["of"] == "candidates") & (source["unit"] == "cell") & (source["binning"] == "width")]
        source = source[source["temperature"].isin([0.5, 1, 2]) & source["accuracy"].notna()]
        part = rows[rows["part"] == "reliability"]
        same(part, source, accuracy="value")
        assert len(part) == 3 * (2 if bank == "mazes" else 8), "empty bins are left out"
        source, part = over_all_seeds(calibration(bank)), rows[rows["part"] == "sweep"]
        pairs = set(zip(part["of"], part["metric"], strict=True))
        assert pairs == {p for p in fig5_calibration.SWEEP if not p[1].startswith("optimal") or bank == "mazes"}
        same(part, source[[pair in pairs for pair in zip(source["of"], source["metric"], strict=True)]])
        least = part[part["least"]]
        assert least[["of", "metric", "temperature"]].values.tolist() == [["candidates", "cell_ece_width", 2.0]]
        part = rows[rows["part"] == "largest_change"]
        assert part[["of", "metric", "temperature", "value", "low"]].values.tolist() == [
            ["voted", metric, 4.0, largest, largest - 0.003] for metric, largest in LARGEST.items()
        ]


def test_figure_5_draws_a_curve_and_a_point_for_each_temperature() -> None:
    data = prepared(fig5_calibration)
    figure = fig5_calibration.draw(data)
    assert len(figure.axes) == 4
    for place, bank in enumerate(SHOWN):
        rows = data[data["bank"] == bank]
        upper, lower = figure.axes[place], figure.axes[2 + place]
        few = [line for line in upper.lines if line.get_markerfacecolor() == "white"]
        diagonal, *curves = (line for line in upper.lines if line not in few)
        np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
        part = rows[rows["part"] == "reliability"]
        for curve, (_, bins) in zip(curves, part.groupby("temperature"), strict=True):
            np.testing.assert_array_equal(curve.get_xdata(), bins["confidence"])
            np.testing.assert_array_equal(curve.get_ydata(), bins["value"])
        first = part[part["temperature"] == 0.5].iloc[0]
        assert [(*f.get_xdata(), *f.get_ydata()) for f in few] == [(first["confidence"], first["value"])], "29 only"
        shades = [line.get_color() for line in curves]
        assert len(set(shades)) == 3
        keys = ["of", "metric", "fitted", "temperature"]
        part = rows[rows["part"] == "sweep"].set_index(keys)["value"].unstack(["of", "metric"])
        errors, accuracies = part["candidates", "cell_ece_width"], part["voted", "cell_accuracy"]
        without, joined, *points = lower.lines
        assert set(without.get_ydata()) == set(part["candidates", "cell_accuracy"])
        np.testing.assert_array_equal(joined.get_xdata(), errors[False])
        np.testing.assert_array_equal(joined.get_ydata(), accuracies[False])
        stars = [p for p in points if p.get_marker() == "*"]
        assert [(*p.get_xdata(), *p.get_ydata()) for p in stars] == [(errors[True].item(), accuracies[True].item())]
        rings = [p for p in points if p.get_markerfacecolor() == "none"]
        assert [(*p.get_xdata(), *p.get_ydata()) for p in rings] == [(errors[False, 2.0], accuracies[False, 2.0])]
        *labels, note = (text.get_text() for text in lower.texts)
        assert sorted(map(float, labels)) == sorted([*TEMPERATURES, 1.87])
        changes = "cells at most 0.12, boards at most 0.96 points"
        assert note == f"change of C-voting's accuracy from $T$ = 1:\n{changes}"
        assert len(lower.collections) == 2 * len(SWEPT), "intervals both ways"


def test_temperatures_that_no_table_has_are_refused() -> None:
    tables = {kind: {bank: MADE[kind](bank) for bank in SHOWN} for kind in ("calibration", "reliability", "risk")}
    params = CalibrationFigure(banks=SHOWN, temperatures=(1.0, 7.0))
    with pytest.raises(TableError, match=r"boards: no temperature 7, expected one of 0\.5, 0\.75, 1"):
        fig5_calibration.prepare(tables, params, TITLE, False, pd.DataFrame())
    table = tables["calibration"]["mazes"]
    tables["calibration"]["mazes"] = table[table["temperature"] != 1]
    with pytest.raises(TableError, match="mazes: no temperature 1, expected one of"):
        extra_board_calibration.prepare(tables, PARAMS[extra_board_calibration], TITLE, False, pd.DataFrame())


def test_figure_5_without_a_fitted_temperature_has_no_star() -> None:
    data = prepared(fig5_calibration)
    written = texts(fig5_calibration.draw(data[~data["fitted"]]))
    assert "fitted" not in written
    assert "least ECE" in written


def test_figure_5_marks_the_published_temperature_at_the_papers_scale_only() -> None:
    stated = {"id": "c9", "model": "itrsa", "metric": "least_ece_temperature", "value": 2.0, "source": "made up"}
    known = pd.DataFrame([stated], columns=NOTHING.columns)
    data = prepared(fig5_calibration, True, known)
    figure = fig5_calibration.draw(data)
    for place, bank in enumerate(SHOWN):
        of_bank = data[data["bank"] == bank]
        marked = of_bank[of_bank["published_least"]]
        assert marked[["of", "metric", "temperature"]].values.tolist() == [["candidates", "cell_ece_width", 2.0]]
        marks = [line for line in figure.axes[2 + place].lines if line.get_marker() == style.PUBLISHED["marker"]]
        assert [line.get_xdata().tolist() for line in marks] == [marked["value"].tolist()]
    assert "published: least ECE" in texts(figure)
    for scale, others in (
        (False, known), (True, NOTHING), (True, known.assign(value=1.9)), (True, known.assign(model="hrm")),
        (True, known.assign(metric="board")),
    ):  # fmt: skip
        data = prepared(fig5_calibration, scale, others)
        assert not data["published_least"].any()
        assert "published" not in texts(fig5_calibration.draw(data))


def test_figure_5_says_in_its_caption_which_bins_are_hollow(repository) -> None:
    few = f"fewer than {fig5_calibration.FEW} predictions"
    assert few in (repository / "workflow/report/fig5_calibration.rst").read_text()
    data = prepared(fig5_calibration)
    assert few in texts(fig5_calibration.draw(data))
    assert few not in texts(fig5_calibration.draw(data[~(data["count"] < fig5_calibration.FEW).fillna(False)]))


def test_figure_5_of_tables_without_changes_has_no_words_of_them(monkeypatch) -> None:
    def without(bank: str) -> pd.DataFrame:
        rows = calibration(bank)
        return rows[~rows["metric"].str.endswith("_change")]

    monkeypatch.setitem(MADE, "calibration", without)
    data = prepared(fig5_calibration)
    assert set(data["part"]) == {"reliability", "sweep"}
    assert "change of" not in texts(fig5_calibration.draw(data))


def test_labels_keep_their_distance_and_stay_in_the_panel() -> None:
    for wanted in ([0.5], [0.0, 0.01, 0.02, 0.9], [0.97, 0.98, 1.0], [0.5] * 15):
        places = np.array(fig5_calibration._apart(wanted, 0.09))
        assert places.min() >= 0
        assert places.max() <= 1
        assert np.diff(places).min(initial=1) >= min(0.09, 0.96 / max(1, len(wanted) - 1)) - 1e-12


def ends(bank: str) -> pd.DataFrame:
    """The candidates of a bank at the last step."""
    rows = trajectories(bank)
    return rows[rows["step"] == 8]


def test_figure_6_groups_candidates_by_their_last_step_in_bins_that_a_bank_shares() -> None:
    data = prepared(fig6_confidence_histograms)
    for bank in SHOWN:
        last = ends(bank)
        for group, board in (("wrong", 0), ("right", 1)):
            shown = {
                "pooled": last[last["pooled"] & (last["board"] == board)],
                "example": last[last["example"] == group],
            }
            for name, source in shown.items():
                rows = data[(data["bank"] == bank) & (data["group"] == group) & (data["shown"] == name)]
                assert rows["bin"].tolist() == list(range(1, 25))
                assert rows["share"].sum() == pytest.approx(1)
                assert rows["count"].sum() == rows["shown_candidates"].iloc[0] == len(source)
                assert rows["shown_puzzles"].iloc[0] == source["puzzle"].nunique()
                for _, row in rows.iterrows():
                    within = (source["confidence"] >= row["lower"]) & (source["confidence"] < row["upper"])
                    within |= (row["bin"] == 24) & (source["confidence"] == row["upper"])
                    assert row["count"] == within.sum()
                assert rows["standard_deviation"].iloc[0] == pytest.approx(np.std(source["confidence"], ddof=1))
                spreads = [np.std(of, ddof=1) for _, of in source.groupby("puzzle")["confidence"] if len(of) > 1]
                assert rows["standard_deviation_within"].iloc[0] == pytest.approx(np.mean(spreads))
                quartiles = source["confidence"].quantile(0.75) - source["confidence"].quantile(0.25)
                assert rows["interquartile_range"].iloc[0] == pytest.approx(quartiles)
                assert rows["right"].iloc[0] == pytest.approx(source["board"].mean())
                assert set(rows["puzzle"].dropna()) == (set(source["puzzle"]) if name == "example" else set())
        edges = data.loc[data["bank"] == bank, ["bin", "lower", "upper"]].drop_duplicates()
        assert len(edges) == 24


def test_figure_6_shows_bars_and_an_outline_in_four_panels_with_their_spread() -> None:
    data = prepared(fig6_confidence_histograms)
    figure = fig6_confidence_histograms.draw(data)
    assert len(figure.axes) == 4
    for axes, (_, rows) in zip(figure.axes, data.groupby(["bank", "group"], sort=False), strict=True):
        steps = [patch for patch in axes.patches if isinstance(patch, StepPatch)]
        for patch, name in zip(steps, ("pooled", "example"), strict=True):
            np.testing.assert_array_equal(patch.get_data().values, rows.loc[rows["shown"] == name, "share"])
        assert all(0 <= tick <= 1 for tick in axes.get_yticks())
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim() != figure.axes[2].get_xlim()
    written = texts(figure)
    wrong, right = (ends("boards").query(f"pooled and board == {board}") for board in (0, 1))
    for rows in (wrong, right):
        assert f"{len(rows)} candidates of {rows['puzzle'].nunique()} puzzles" in written
        within = np.mean([np.std(of, ddof=1) for _, of in rows.groupby("puzzle")["confidence"] if len(of) > 1])
        spread = f"sd {100 * np.std(rows['confidence'], ddof=1):.3g} (within a puzzle {100 * within:.3g}), IQR "
        assert spread in written
    assert written.count("within a puzzle") == 4, "that of a single puzzle is the same"
    for group in ("wrong", "right"):
        assert written.count(f"bars: {group} candidates\noutline: a puzzle with a {group} C-vote") == 2
    example = ends("boards").query("example == 'wrong'")
    assert f"puzzle 00000005, C-vote wrong:\n8 candidates, {example['board'].mean():.0%} of them right" in written
    assert "a shortest path" in written


def test_figure_6_says_where_there_are_no_candidates(never_wrong) -> None:
    data = prepared(fig6_confidence_histograms)
    none = data[(data["bank"] == "mazes") & (data["group"] == "wrong")]
    assert set(none["shown"]) == {"pooled"}
    assert set(none["count"]) == {0}
    assert none["share"].isna().all()
    axes = fig6_confidence_histograms.draw(data).axes[2]
    assert not axes.patches
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["no candidate of the pooled puzzles is wrong", "no puzzle whose C-vote is wrong"]


def test_figure_6_bins_candidates_that_are_all_equally_confident(monkeypatch) -> None:
    monkeypatch.setitem(MADE, "trajectories", lambda bank: trajectories(bank).assign(confidence=1.0))
    data = prepared(fig6_confidence_histograms)
    assert data["upper"].max() == 1
    assert (data["upper"] > data["lower"]).all()
    assert set(data.groupby(["bank", "group", "shown"])["share"].max()) == {1}
    assert max(fig6_confidence_histograms.draw(data).axes[0].get_yticks()) <= 1


def test_figure_6_names_no_spread_of_a_single_candidate(monkeypatch) -> None:
    def single(bank: str) -> pd.DataFrame:
        rows = trajectories(bank)
        return rows[(rows["candidate"] == 1) & (rows["pooled"] | rows["example"].notna())]

    monkeypatch.setitem(MADE, "trajectories", single)
    axes = fig6_confidence_histograms.draw(prepared(fig6_confidence_histograms)).axes[1]
    example = axes.get_legend().get_texts()[1].get_text()
    assert example == "puzzle 00000001, C-vote right:\n1 candidate, 100% of them right"


@pytest.mark.parametrize("module", [fig6_confidence_histograms, fig7_confidence_steps], ids=lambda module: module.NAME)
def test_figures_of_trajectories_say_which_puzzles_are_pooled(module) -> None:
    data = prepared(module)
    assert set(data["pooled_puzzles"]) == {5}
    assert set(data["pooled_up_to"]) == {"00000004f0e1d2c3f0e1d2c3f0e1d2c3"}, "the last one is not pooled"
    assert "interval" not in data


def test_figure_7_has_a_line_for_each_candidate_of_the_example_and_the_quartiles_of_all() -> None:
    data = prepared(fig7_confidence_steps)
    figure = fig7_confidence_steps.draw(data)
    for place, (bank, group) in enumerate((bank, group) for bank in SHOWN for group in ("wrong", "right")):
        table, last = trajectories(bank), ends(bank)
        example = table[table["example"] == group]
        *lines, median = figure.axes[place].lines
        for line, (candidate, rows) in zip(lines, example.groupby("candidate"), strict=True):
            np.testing.assert_array_equal(line.get_ydata(), rows["confidence"])
            outcome = "right" if rows.set_index("step").loc[8, "board"] else "wrong"
            assert line.get_color() == style.OUTCOME_COLOURS[outcome], candidate
        of_group = last[last["pooled"] & (last["board"] == (group == "right"))]
        pooled = table.merge(of_group[["puzzle", "candidate"]]).groupby("step")["confidence"]
        np.testing.assert_allclose(median.get_ydata(), pooled.median())
        [band] = figure.axes[place].collections
        heights = band.get_paths()[0].vertices[:, 1]
        np.testing.assert_allclose(heights.min(), pooled.quantile(0.25).min())
        np.testing.assert_allclose(heights.max(), pooled.quantile(0.75).max())
        written = f"{len(of_group)} {group} candidates of {of_group['puzzle'].nunique()} pooled puzzles"
        assert any(written in text.get_text() for text in figure.axes[place].texts)
    titles = [axes.get_title() for axes in figure.axes]
    assert "median, wrong (right) candidates of the pooled puzzles" in texts(figure)
    assert "C-vote wrong: puzzle 00000005" in titles[0]
    assert "C-vote right: puzzle 00000001" in titles[1]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


def test_figure_7_says_where_there_is_no_example_or_no_candidate(never_wrong, monkeypatch) -> None:
    axes = fig7_confidence_steps.draw(prepared(fig7_confidence_steps)).axes[2]
    assert "no puzzle whose C-vote is wrong" in axes.get_title()
    assert "no candidate of the pooled puzzles is wrong" in [text.get_text() for text in axes.texts]
    assert not axes.lines
    monkeypatch.setitem(MADE, "trajectories", lambda bank: trajectories(bank).assign(example=None))
    for axes in fig7_confidence_steps.draw(prepared(fig7_confidence_steps)).axes:
        assert "no puzzle whose C-vote is" in axes.get_title()
        assert len(axes.lines) == len(axes.collections) == 1, "the pooled candidates only"


def test_the_figure_of_whole_boards_holds_the_rows_of_its_tables() -> None:
    data = prepared(extra_board_calibration)
    for bank, rows in data.groupby("bank"):
        parts = dict(list(rows.groupby("part")))
        source = over_all_seeds(reliability(bank))
        source = source[(source["of"] == "voted") & (source["unit"] != "cell") & (source["binning"] == "mass")]
        same(parts["reliability"], source[source["temperature"] == 1], accuracy="value")
        source = over_all_seeds(calibration(bank))
        source = source[source["temperature"] == 1]
        voted = source["of"] == "voted"
        names = ["board_mean_ece_mass", "board_joint_ece_mass"]
        same(parts["ece"], source[voted & source["metric"].isin(names)])
        same(parts["aurc"], source[source["metric"].str.startswith("aurc")])
        same(parts["risk"], over_all_seeds(risk(bank)), risk="value")


def test_the_figure_of_whole_boards_draws_them_and_says_its_areas_and_errors() -> None:
    data = prepared(extra_board_calibration)
    figure = extra_board_calibration.draw(data)
    assert [len(axes.lines) for axes in figure.axes] == [3, 3, 2, 4]
    risks = data[(data["part"] == "risk") & (data["bank"] == "mazes")]
    for line, (_, rows) in zip(figure.axes[3].lines, risks.groupby(["of", "metric"], sort=False), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), rows["value"])
        hollow = to_hex(line.get_markerfacecolor()) == "#ffffff"
        assert hollow == (rows["metric"].iloc[0] == "optimal")
    written = texts(figure)
    for words in (
        "ECE, mean: 30.0% (29.4 to 30.6)",
        "ECE, product: 6.0% (5.4 to 6.6)",
        "AURC, C-voting, any shortest path: 5.9% (5.3 to 6.5)",
        "AURC, single candidates: 20.0% (19.4 to 20.6)",
        style.OPTIMAL_NAME,
    ):
        assert words in written
    above = [[text.get_text() for text in axes.texts if "interval" in text.get_text()] for axes in figure.axes]
    assert [words.split("\n")[-1] for [words] in above] == [
        "interval: training seeds and puzzles", "interval: Wilson, puzzles only",
        "interval: training seeds and puzzles", "interval: puzzles only",
    ]  # fmt: skip
    without = texts(extra_board_calibration.draw(data[data["bank"] == "boards"]))
    assert "shortest" not in without


def test_the_figure_of_discrimination_has_a_row_for_each_bank_and_way_of_counting() -> None:
    data = prepared(extra_confidence_discrimination)
    rows = data[["row", "bank", "metric"]].drop_duplicates().values.tolist()
    assert rows == [[1, "boards", "board"], [2, "mazes", "board"], [3, "mazes", "optimal"]]
    for bank, part in data.groupby("bank"):
        source = over_all_seeds(discrimination(bank))
        meant = (source["measure"] != "wrong_but_optimal") | ((source["metric"] == "board") & (bank == "mazes"))
        same(part, source[meant])
    figure = extra_confidence_discrimination.draw(data)
    marked = data[data["value"].notna() & ~data["measure"].isin(["mixed_puzzles", "wrong_but_optimal"])]
    for axes, panel in zip(figure.axes, "abcd", strict=True):
        marks = sorted(float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() not in ("None", ""))
        assert marks == sorted(marked.loc[marked["panel"] == panel, "value"])
    labels = [label.get_text().split("\n")[0] for label in figure.axes[0].get_yticklabels()]
    assert labels == [
        "ItrSA++, Sudoku-extreme (generated data)", "ItrSA++, Maze-hard", "ItrSA++, Maze-hard, any shortest path",
    ]  # fmt: skip
    small = ["\n".join(text.get_text() for text in axes.texts) for axes in figure.axes]
    assert small[1].count("– within: right candidates") == 2
    assert small[2].count("– within a puzzle") == 2
    assert small[3] == "31% of the wrong are shortest paths"


def test_the_figure_of_adaptive_voting_holds_the_rows_of_its_tables() -> None:
    data = prepared(extra_adaptive_voting)
    for bank in SHOWN:
        source = over_all_seeds(adaptive(bank))
        assert len(source) == 13 * (2 if bank == "mazes" else 1)
        same(data[data["bank"] == bank].drop(columns="bank"), source)
    numbers = [f"{name}{end}" for name in ("difference", "drawn", "coverage", "accuracy_answered") for end in ENDS]
    assert {"threshold", "parameter", "subsets", *numbers} <= set(data.columns)


def test_no_adaptive_vote_of_a_model_that_has_not_learned_its_task_is_drawn(monkeypatch) -> None:
    monkeypatch.setitem(MADE, "adaptive", lambda bank: adaptive(bank).assign(value=0.004 if bank == "boards" else 0.5))
    data = prepared(extra_adaptive_voting)
    note = "one candidate: 0.4% of puzzles; no votes drawn below 1%"
    assert set(data.loc[data["bank"] == "boards", "note"]) == {note}
    assert data.loc[data["bank"] != "boards", "note"].isna().all()
    figure = extra_adaptive_voting.draw(data)
    figure.draw_without_rendering()
    for place, bank in enumerate(SHOWN):
        for axes in figure.axes[2 * place : 2 * place + 2]:
            assert bool(axes.lines) == (bank != "boards")
            said = " ".join(text.get_text() for text in axes.texts).replace("\n", " ")
            assert (note.replace("; ", " ") in said) == (bank == "boards")


def test_the_figure_of_adaptive_voting_draws_accuracy_by_the_mean_number_and_by_coverage() -> None:
    figure = extra_adaptive_voting.draw(prepared(extra_adaptive_voting))
    assert len(figure.axes) == 4
    order = (("fixed", "confidence"), ("fixed", "majority_answer"), ("threshold", None), ("agreement", None))
    for place, bank in enumerate(SHOWN):
        upper, lower = figure.axes[2 * place : 2 * place + 2]
        source = over_all_seeds(adaptive(bank))
        shown = [
            source[(source["metric"] == metric) & (source["rule"] == rule) & (source["vote"] == (vote or "confidence"))]
            for metric in source["metric"].unique()
            for rule, vote in order
        ]
        for line, rows in zip(upper.lines, shown, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), rows["drawn"])
            np.testing.assert_array_equal(line.get_ydata(), rows["value"])
            assert (line.get_linestyle() == "None") == (rows["rule"].iloc[0] == "agreement")
            assert (to_hex(line.get_markerfacecolor()) == "#ffffff") == (rows["metric"].iloc[0] == "optimal")
        stopping = [rows[rows["coverage"] > 0] for rows in shown if rows["rule"].iloc[0] != "fixed"]
        for line, rows in zip(lower.lines, stopping, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), rows["coverage"])
            np.testing.assert_array_equal(line.get_ydata(), rows["accuracy_answered"])
        assert len(upper.collections) == len(lower.collections) == len(stopping), "a band or intervals for each"
        assert [text.get_text() for text in lower.texts] == ["drawn: 3.2 (left) to 1.6 (right)"]
        assert upper.get_xscale() == "log"


@pytest.mark.parametrize(
    ("kept", "words", "others"),
    [
        ({"threshold", "agreement", "fixed"}, ["confident enough", "given $m$ times", "majority"], []),
        (
            {"threshold", "confidence"},
            ["confident enough", "C-voting, a fixed number"],
            ["given $m$ times", "majority"],
        ),
        ({"agreement", "fixed"}, ["given $m$ times", "majority"], ["confident enough", "drawn:"]),
    ],
    ids=["all", "answers are not known", "one puzzle"],
)
def test_the_figure_of_adaptive_voting_names_the_rules_that_a_bank_has(kept, words, others) -> None:
    data = prepared(extra_adaptive_voting)
    data = data[data["rule"].isin(kept) | ((data["rule"] == "fixed") & data["vote"].isin(kept))]
    figure = extra_adaptive_voting.draw(data)
    figure.savefig(io.BytesIO(), format="png")
    written = texts(figure)
    assert all(name in written for name in words)
    assert not any(name in written for name in others)


def test_many_banks_of_adaptive_voting_stand_in_rows_of_panels() -> None:
    data = prepared(extra_adaptive_voting)
    many = pd.concat([data[data["bank"] == "boards"].assign(bank=f"b{number}") for number in range(5)])
    figure = extra_adaptive_voting.draw(many)
    figure.savefig(io.BytesIO(), format="png")
    assert len(figure.axes) == 2 * 5
    assert [axes.get_ylabel() for axes in figure.axes].count("Board accuracy (%)") == 2


def test_the_caption_of_adaptive_voting_says_how_thresholds_are_chosen(repository) -> None:
    caption = " ".join((repository / "workflow/report/extra_adaptive_voting.rst").read_text().split())
    assert "no puzzle is judged by a threshold that it helped to choose, and no label chooses any" in caption
    assert "``difference``" in caption


def test_the_figure_of_a_solved_board_stacks_its_candidates_at_each_framed_step() -> None:
    data = prepared(extra_solved_board)
    rows = data[(data["bank"] == "boards") & (data["part"] == "candidates")]
    source = solved_board("boards")
    same(rows, source[source["step"] != 8].drop(columns=["puzzles", "answer", "box_rows", "box_columns", "candidates"]))
    assert rows.groupby("step")["frame"].unique().map(list).to_dict() == {2: [0], 16: [1]}
    assert rows.groupby("step")["right"].unique().map(list).to_dict() == {2: [0], 16: [2]}
    assert set(rows.loc[rows["picked"] == 1, "candidate"]) == {15}
    height = (rows["confidence"].max() - rows["confidence"].min()) / (extra_solved_board.LEVELS - 1)
    assert ((rows["level"] - rows["confidence"]).abs() <= height / 2 + 1e-9).all()
    for _, stack in rows.sort_values("place").groupby(["step", "level"]):
        assert stack["place"].tolist() == list(range(len(stack)))
        order = 2 * stack["picked"] + (stack["outcome"] == "right")
        assert order.is_monotonic_decreasing
    right, wrong, path, picked, leaders = extra_solved_board.draw(data).axes[0].lines
    assert [len(line.get_xdata()) for line in (right, wrong, path, picked, leaders)] == [2, 30, 2, 2, 2]
    colours = [to_hex(line.get_color()).upper() for line in (right, wrong)]
    assert colours == [style.OUTCOME_COLOURS[outcome] for outcome in ("right", "wrong")]
    assert list(leaders.get_ydata()) == rows.loc[rows["leads"] == 1, "level"].tolist()


def test_the_figure_of_a_solved_board_shows_the_picked_answer_and_the_most_frequent_wrong_one() -> None:
    data = prepared(extra_solved_board)
    figure = extra_solved_board.draw(data)
    rows = data[data["bank"] == "boards"].set_index("part")
    for part, digits in {"puzzle": QUESTION.replace(".", " "), "picked": LABEL, "wrong": WRONG[0]}.items():
        assert [digit or " " for digit in rows.loc[part, "digit"]] == list(digits)
    outcomes = {part: rows.loc[part, "outcome"].value_counts().to_dict() for part in extra_solved_board.BOARDS}
    assert outcomes == {
        "puzzle": {"blank": 10, "given": 6}, "picked": {"right": 10, "given": 6},
        "wrong": {"right": 8, "given": 6, "wrong": 2},
    }  # fmt: skip
    _, puzzle, picked, wrong = figure.axes[:4]
    for axes, digits, note in (
        (puzzle, QUESTION.replace(".", ""), "6 givens of 16 cells"),
        (picked, LABEL, "right, given by 2 of 16\nconfidence up to 83.8%"),
        (wrong, WRONG[0], "2 wrong cells, given by 9 of 16\nconfidence up to 76.8%"),
    ):
        *cells, said = [text.get_text() for text in axes.texts]
        assert "".join(cells) == digits
        assert said == note
    dark = [to_hex(patch.get_facecolor()).upper() == style.OUTCOME_COLOURS["wrong"] for patch in wrong.patches]
    assert [place for place, is_dark in enumerate(dark) if is_dark] == [1, 2]
    chosen = "puzzle 0badcafe, the middle one of 7 that C-voting solves though most candidates are wrong"
    assert chosen in figure.axes[0].get_title()


def test_the_figure_of_a_solved_board_shows_every_step_unless_some_are_named(monkeypatch) -> None:
    monkeypatch.setitem(PARAMS, extra_solved_board, SolvedBoardFigure(banks=SHOWN))
    assert set(prepared(extra_solved_board)["step"].dropna()) == {2, 8, 16}


def test_of_equally_frequent_wrong_answers_that_of_the_first_candidate_is_shown(monkeypatch) -> None:
    def tied(bank: str) -> pd.DataFrame:
        rows = solved_board(bank)
        return rows[~rows["candidate"].between(5, 8)]

    monkeypatch.setitem(MADE, "solved_board", tied)
    data = prepared(extra_solved_board)
    wrong = data[(data["bank"] == "boards") & (data["part"] == "wrong")]
    assert "".join(wrong["digit"]) == WRONG[0]
    assert set(wrong["answered"]) == {5}


def test_the_figure_of_a_solved_board_says_where_there_is_none(never_wrong) -> None:
    data = prepared(extra_solved_board)
    assert data.loc[data["bank"] == "mazes", "part"].isna().tolist() == [True]
    frames, *boards = extra_solved_board.draw(data).axes[4:]
    assert "no puzzle that C-voting solves though most candidates are wrong" in frames.get_title()
    assert not any(axes.lines or axes.patches or axes.texts for axes in boards)
    assert not frames.lines
