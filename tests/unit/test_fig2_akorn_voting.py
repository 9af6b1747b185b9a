"""Figure 2: what it shows is in its CSV, and its files are the same each time."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from cvoting.figures import style
from cvoting.figures.fig2_akorn_voting import NAME, draw, prepare, write
from cvoting.figures.registry import FIGURES
from cvoting.figures.voting_curves import COLUMNS
from cvoting.params.figures import BanksFigure, FiguresParams
from cvoting.params.voting import VotingParams
from cvoting.published import PublishedError, read_published
from cvoting.table_files import over_all_seeds, read_csv
from cvoting.tables import write_voting
from cvoting.tasks.sudoku import Sudoku
from cvoting.voting import VOTES

FIGURE = BanksFigure(banks=("hard", "extreme"), votes=("confidence", "energy_sum", "energy_last"))
K = (1, 2, 4, 8)


@pytest.fixture
def table_files(bank_file: Callable[..., Path], tmp_path: Path) -> dict[str, Path]:
    """Voting tables of two banks; the second has two training seeds and original puzzles."""
    params = VotingParams(K=K, votes=tuple(VOTES), subsets=4, resamples=100, level=0.95, seed=0)
    extreme = {"run": "akorn-sudoku_extreme", "dataset": "sudoku_extreme", "origin": "original"}
    shards = {
        "hard": [bank_file("hard")],
        "extreme": [bank_file(f"extreme{t}", training_seed=t, **extreme) for t in (0, 1)],
    }
    paths = {bank: tmp_path / f"{bank}.csv" for bank in shards}
    for bank, files in shards.items():
        write_voting(files, params, Sudoku(name="sudoku", box=(2, 2)), "a-study", paths[bank], tmp_path / "paired.csv")
    return paths


@pytest.fixture
def published(repository: Path) -> pd.DataFrame:
    """The published numbers, with the largest K of the paper called ours."""
    table = read_published(repository / "reference/published.csv")
    return table.assign(K=table["K"].replace(4096, 8))


@pytest.fixture
def tables(table_files: dict[str, Path]) -> dict[str, pd.DataFrame]:
    """The voting tables."""
    return {bank: read_csv(path) for bank, path in table_files.items()}


def texts(figure: Figure) -> str:
    """Everything that is written in a figure."""
    found = [figure.get_suptitle()]
    for axes in figure.axes:
        found += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), *(t.get_text() for t in axes.texts)]
    return "\n".join([*found, *(t.get_text() for legend in figure.legends for t in legend.get_texts())])


def test_every_row_is_that_of_the_voting_table(tables: dict[str, pd.DataFrame], published: pd.DataFrame) -> None:
    data = prepare(tables, FIGURE, "a study", False, published)
    assert tuple(data.columns) == COLUMNS
    assert len(data) == 2 * 5 * len(K), "three curves and two references in each of two panels"
    for _, row in data.iterrows():
        source = over_all_seeds(tables[row["bank"]])
        same = np.logical_and.reduce([source[name] == row[name] for name in ("vote", "K", "estimator", "metric")])
        for name in ("value", "low", "high", "interval", "puzzles", "candidates", "T_eval", "dataset"):
            assert row[name] == source.loc[same, name].item()
    assert set(zip(data["bank"], data["training_seeds"], data["inference_seeds"], strict=True)) == {
        ("hard", 1, 1),
        ("extreme", 2, 1),
    }
    assert list(dict.fromkeys(data["vote"])) == [*FIGURE.votes, "oracle", "random"]


def test_published_values_stand_beside_ours_only_at_the_papers_scale(
    tables: dict[str, pd.DataFrame], published: pd.DataFrame
) -> None:
    assert prepare(tables, FIGURE, "a study", False, published)["published"].isna().all()
    data = prepare(tables, FIGURE, "a study", True, published)
    found = data[data["published"].notna()]
    rows = found[["bank", "vote", "K", "published", "published_spread", "published_id"]].values.tolist()
    assert rows == [
        ["hard", "confidence", 8, 0.944, 0.001, "c1"],
        ["hard", "energy_sum", 8, 0.895, 0.025, "c2"],
        ["hard", "energy_sum", 100, 0.816, 0.015, "akorn-k100"],
        ["hard", "random", 1, 0.517, 0.033, "akorn-k1"],
    ]
    assert found["value"].isna().tolist() == [False, False, True, False], "we have no K = 100"


def test_curves_bands_and_marks_are_the_numbers_of_the_csv(
    tables: dict[str, pd.DataFrame], published: pd.DataFrame
) -> None:
    data = prepare(tables, FIGURE, "a study", True, published)
    for axes, bank in zip(draw(data).axes, FIGURE.banks, strict=True):
        panel = data[data["bank"] == bank]
        lines = {to_hex(line.get_color()).upper(): line for line in axes.lines if len(line.get_xdata()) == len(K)}
        bands = {to_hex(c.get_facecolor()[0][:3]).upper(): c for c in axes.collections if len(c.get_facecolor())}
        for vote in (*FIGURE.votes, "oracle"):
            rows = panel[(panel["vote"] == vote) & panel["value"].notna()]
            line = lines[style.COLOURS[vote]]
            np.testing.assert_array_equal(line.get_xdata(), rows["K"])
            np.testing.assert_array_equal(line.get_ydata(), rows["value"])
            if vote != "oracle":
                heights = bands[style.COLOURS[vote]].get_paths()[0].vertices[:, 1]
                assert (heights.min(), heights.max()) == (rows["low"].min(), rows["high"].max())
        marks = [c.lines[0] for c in axes.containers if isinstance(c, ErrorbarContainer)]
        drawn = sorted((float(x), float(y)) for m in marks for x, y in zip(m.get_xdata(), m.get_ydata(), strict=True))
        shown = panel[panel["published"].notna()]
        assert drawn == sorted(zip(shown["K"].astype(float), shown["published"], strict=True))


def test_the_figure_says_what_it_is_of(tables: dict[str, pd.DataFrame], published: pd.DataFrame) -> None:
    written = texts(draw(prepare(tables, FIGURE, "a study", False, published)))
    for words in (
        "AKOrN, a study",
        "Sudoku-hard (generated data)",
        "Sudoku-extreme\n",
        "$n$ = 12 puzzles, $M$ = 8, $T_\\mathrm{eval}$ = 32",
        "training seeds: 1, inference seeds: 1",
        "training seeds: 2, inference seeds: 1",
        "95% bootstrap interval",
        "interval: puzzles only",
        "interval: training seeds and puzzles",
        "Board accuracy (%)",
        "Number of candidates $K$",
        "C-voting",
    ):
        assert words in written
    assert "published" not in written
    assert "published" in texts(draw(prepare(tables, FIGURE, "a study", True, published)))


def test_the_axis_does_not_magnify_equal_accuracies(tables: dict[str, pd.DataFrame], published: pd.DataFrame) -> None:
    zero = {bank: table.assign(value=0.0, low=0.0, high=0.0) for bank, table in tables.items()}
    for axes in draw(prepare(zero, FIGURE, "a study", False, published)).axes:
        low, high = axes.get_ylim()
        assert high - low >= 0.01


def test_references_and_votes_that_a_table_lacks_are_not_drawn(
    tables: dict[str, pd.DataFrame], published: pd.DataFrame
) -> None:
    few = {bank: table[table["vote"].isin(["confidence", "energy_sum"])] for bank, table in tables.items()}
    data = prepare(few, FIGURE, "a study", True, published)
    written = texts(draw(data))
    assert "oracle" not in written
    assert "last step" not in written
    assert set(data.loc[data["value"].notna(), "vote"]) == {"confidence", "energy_sum"}


def test_another_process_writes_the_same_bytes(table_files: dict[str, Path], repository: Path, tmp_path: Path) -> None:
    recipe = {"title": "a study", "paper_scale": True, "params": {"banks": FIGURE.banks, "votes": FIGURE.votes}}
    numbers = repository / "reference/published.csv"
    write(recipe, list(table_files.values()), numbers, tmp_path / "here")
    code = (
        "import json, sys; from pathlib import Path; from cvoting.figures.registry import FIGURES\n"
        "recipe, numbers, out, *tables = sys.argv[1:]\n"
        f"FIGURES[{NAME!r}].write(json.loads(recipe), list(map(Path, tables)), Path(numbers), Path(out))"
    )
    arguments = [json.dumps(recipe), str(numbers), str(tmp_path / "there"), *map(str, table_files.values())]
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": str(repository / "src")}
    subprocess.run([sys.executable, "-W", "error", "-c", code, *arguments], env=environment, check=True)
    names = [f"{NAME}.{suffix}" for suffix in ("csv", "pdf", "png")]
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == names
    for name in names:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    assert b"Date" not in (tmp_path / "here" / f"{NAME}.pdf").read_bytes()
    png = (tmp_path / "here" / f"{NAME}.png").read_bytes()
    assert b"Software" not in png
    assert b"tIME" not in png


def test_drawing_leaves_matplotlibs_settings_as_they_were(
    tables: dict[str, pd.DataFrame], published: pd.DataFrame
) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    draw(prepare(tables, FIGURE, "a study", False, published))
    assert dict(matplotlib.rcParams) == before


def test_every_figure_of_the_parameters_is_a_module_with_a_caption(repository: Path) -> None:
    assert set(FIGURES) == set(FiguresParams.__dataclass_fields__)
    for name, module in FIGURES.items():
        assert name == module.NAME
        assert callable(module.prepare)
        assert callable(module.draw)
        assert callable(module.write)
        assert (repository / f"workflow/report/{name}.rst").stat().st_size > 0


def test_every_vote_has_a_colour_of_its_own_a_marker_and_a_name() -> None:
    assert set(style.COLOURS) == set(style.MARKERS) == set(style.NAMES) == set(VOTES)
    assert len(set(style.COLOURS.values())) == len(VOTES)
    assert len(set(style.NAMES.values())) == len(VOTES)


def test_published_numbers_are_fractions_with_a_source(repository: Path) -> None:
    table = read_published(repository / "reference/published.csv")
    assert {"c1", "c2", "c3", "c17", "c18", "c19"} <= set(table["id"])
    accuracies = table[table["metric"].isin(["board", "board_difference"])]
    assert accuracies["value"].dropna().between(0, 1).all()
    assert accuracies["spread"].dropna().between(0, 0.2).all()
    assert table.loc[table["metric"] == "board_ordering", "value"].isna().all()
    assert set(table["vote"].dropna()) <= set(VOTES)
    by_id = table.set_index("id")["value"]
    assert by_id["c3"] == pytest.approx(by_id["c1"] - by_id["c2"])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda t: t.drop(columns="source"), "expected id, claim"),
        (lambda t: pd.concat([t, t.iloc[:1]]), "id 'c1' twice"),
        (lambda t: t.assign(source=t["source"].where(t["id"] != "c2")), "'c2' has no source"),
    ],
)
def test_a_bad_table_of_published_numbers_is_refused(
    repository: Path, tmp_path: Path, damage: Callable[[pd.DataFrame], pd.DataFrame], message: str
) -> None:
    damage(read_published(repository / "reference/published.csv")).to_csv(tmp_path / "published.csv", index=False)
    with pytest.raises(PublishedError, match=message):
        read_published(tmp_path / "published.csv")
