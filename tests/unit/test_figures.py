"""Every figure: it shows the numbers of its tables, its CSV holds them all, and its files are the same each time."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from cvoting.bank import Bank, Reading
from cvoting.bank_file import write_banks
from cvoting.figures import (
    extra_compute_scaling,
    fig1_overview,
    fig3_itrsa_voting,
    fig4_hrm_voting,
    fig8_itrsa_test_time_scaling,
    fig11_seed_dependency,
    overview,
    style,
)
from cvoting.figures.base import dataset_name, rows_and_columns
from cvoting.figures.registry import FIGURES
from cvoting.flops.base import NetworkFlops
from cvoting.params.core import plain
from cvoting.params.figures import (
    BanksFigure,
    ConfidenceFigure,
    DifficultyFigure,
    FiguresParams,
    PanelsFigure,
    RulesFigure,
    ScalingFigure,
    SeedsFigure,
    StepsFigure,
    SummaryFigure,
)
from cvoting.params.voting import VotingParams
from cvoting.published import COLUMNS as PUBLISHED_COLUMNS
from cvoting.published import read_published
from cvoting.scaling_table import write_scaling
from cvoting.strata_table import write_by_difficulty
from cvoting.table_files import TableError, over_all_seeds, read_csv, write_csv
from cvoting.tables import write_voting
from cvoting.tasks.sudoku import Sudoku
from cvoting.voting import VOTES

K = (1, 2, 4, 8)
STEPS = (8, 16, 32)
BANKS = ("hard", "extreme")
VOTED = ("confidence", "negative_entropy")
#: What the parts of a made-up network cost.
NETWORK = NetworkFlops(embed=50, start=7, step=100, readout=30, differentiated=100, of_state=0)
PARAMS = {
    "fig1_overview": SummaryFigure(panels=(BANKS, ("hard",)), votes=VOTED),
    "fig3_itrsa_voting": PanelsFigure(panels=(BANKS, ("hard",)), votes=("confidence",)),
    "fig4_hrm_voting": PanelsFigure(panels=(BANKS,), votes=VOTED),
    "fig8_itrsa_test_time_scaling": StepsFigure(banks=BANKS, votes=("confidence",)),
    **{
        name: BanksFigure(banks=BANKS, votes=VOTED)
        for name in ("fig2_akorn_voting", "fig9_transformer_voting", "fig10_voting_metrics")
    },
    "fig11_seed_dependency": SeedsFigure(banks=BANKS, votes=VOTED),
    "extra_selection_rules": RulesFigure(banks=BANKS, votes=VOTED),
    "extra_compute_scaling": ScalingFigure(banks=BANKS, votes=("confidence",)),
    "extra_difficulty": DifficultyFigure(banks=BANKS, votes=("confidence",)),
}


@pytest.fixture
def read_out(make_bank: Callable[..., Bank], tmp_path: Path) -> Callable[..., Path]:
    """Writes a bank that was read out at `STEPS`, before the last of which its first candidates are wrong."""

    def write(name: str, **options: object) -> Path:
        end, steps = make_bank(**options), {}
        for step, wrong in zip(STEPS, (4, 2, 0), strict=True):
            right = {metric: values & (np.arange(8) >= wrong) for metric, values in end.correct.items()}
            steps[step] = Reading(end.scores, right, end.cell_accuracy)
        write_banks(tmp_path / name, [replace(end, steps=steps)])
        return tmp_path / name

    return write


@pytest.fixture
def table_files(
    bank_file: Callable[..., Path], read_out: Callable[..., Path], tmp_path: Path
) -> dict[tuple[str, str], Path]:
    """The tables of votes, steps and scaling of two banks with three inference seeds, of different models."""
    params = VotingParams(K=K, votes=tuple(VOTES), subsets=4, resamples=100, level=0.95, seed=0)
    task, files = Sudoku(name="sudoku", box=(2, 2)), {}
    for place, (bank, model) in enumerate(zip(BANKS, ("itrsa", "a_model_of_mine"), strict=True)):
        by_step = {}
        for T_eval in STEPS:
            shards = [
                bank_file(f"{bank}{T_eval}-{seed}", first=20 * place, model=model, inference_seed=seed, T_eval=T_eval)
                for seed in (0, 1, 2)
            ]
            path = tmp_path / f"{bank}{T_eval}.csv"
            write_voting(shards, params, task, "a-study", path, tmp_path / "paired.csv")
            by_step[T_eval] = read_csv(path)
        files[bank, "voting"], files[bank, "steps"] = tmp_path / f"{bank}.csv", tmp_path / f"{bank}.steps.csv"
        write_csv(by_step[STEPS[-1]], files[bank, "voting"])
        write_csv(pd.concat(by_step.values(), ignore_index=True), files[bank, "steps"])
        files[bank, "scaling"] = tmp_path / f"{bank}.scaling.csv"
        read = [read_out(f"{bank}{s}", first=20 * place, model=model, inference_seed=s) for s in (0, 1, 2)]
        one = replace(params, votes=("confidence",))
        write_scaling(read, one, task, "a-study", NETWORK, STEPS, STEPS[0], files[bank, "scaling"])
        files[bank, "strata"] = tmp_path / f"{bank}.strata.csv"
        names = [f"{20 * place + number:016x}" for number in range(12)]
        graded = {"puzzle": names, "measure": "givens", "value": range(12), "stratum": ["0-3"] * 4 + ["4-11"] * 8}
        pd.DataFrame(graded).to_csv(tmp_path / f"{bank}.difficulty.csv", index=False)
        grades = tmp_path / f"{bank}.difficulty.csv"
        write_by_difficulty(shards, grades, replace(params, K=(1, 8)), task, "a-study", files[bank, "strata"])
    return files


def prepared(name: str, table_files: dict[tuple[str, str], Path]) -> pd.DataFrame:
    """The data of a figure of a study that is not at the paper's scale."""
    tables = {bank: read_csv(table_files[bank, *PARAMS[name].tables]) for bank in PARAMS[name].banks}
    published = read_published(Path(__file__).parents[2] / "reference/published.csv")
    return FIGURES[name].prepare(tables, PARAMS[name], "a study", False, published)


@pytest.fixture
def with_fixed(table_files, bank_file: Callable[..., Path], tmp_path: Path) -> dict[str, pd.DataFrame]:
    """Voting tables of the two banks and of one of a single candidate, of HRM as published, on Sudoku-extreme."""
    params = VotingParams(K=(1,), votes=tuple(VOTES), subsets=4, resamples=100, level=0.95, seed=0)
    shards = [bank_file("fixed", candidates=1, model="hrm_fixed", energies=False)]
    write_voting(shards, params, Sudoku(name="sudoku", box=(2, 2)), "a-study", tmp_path / "f.csv", tmp_path / "p.csv")
    tables = {bank: read_csv(table_files[bank, "voting"]) for bank in BANKS} | {"fixed": read_csv(tmp_path / "f.csv")}
    return {bank: table.assign(dataset="sudoku_extreme") for bank, table in tables.items()}


def panels(figure: Figure) -> list[Axes]:
    """The panels with numbers: all but a drawing."""
    return [axes for axes in figure.axes if axes.axison]


def drawn_heights(figure: Figure) -> set[float]:
    """The y of every point of every line, and of every bar."""
    heights = [y for axes in panels(figure) for line in axes.lines for y in line.get_ydata()]
    bars = [bars for axes in panels(figure) for bars in axes.containers if isinstance(bars, BarContainer)]
    return {round(float(y), 12) for y in [*heights, *(patch.get_height() for group in bars for patch in group)]}


def test_every_figure_of_votes_is_tried_here() -> None:
    kinds = get_type_hints(FiguresParams)
    of_confidence = {name for name in FIGURES if issubclass(get_args(kinds[name])[0], ConfidenceFigure)}
    assert set(PARAMS) == set(FIGURES) - of_confidence


@pytest.mark.parametrize("name", PARAMS)
def test_every_number_that_is_drawn_is_in_the_csv_and_every_number_of_the_csv_is_drawn(name, table_files) -> None:
    data = prepared(name, table_files)
    drawn = drawn_heights(FIGURES[name].draw(data))
    lines = data if name == "fig8_itrsa_test_time_scaling" else data[(data["vote"] != "random") | (data["K"] == 1)]
    assert {round(value, 12) for value in lines["value"]} <= drawn
    if name != "fig11_seed_dependency":  # boxes have quartiles and medians too
        assert drawn <= {round(value, 12) for value in data["value"]}


@pytest.mark.parametrize("name", PARAMS)
def test_the_figure_and_its_csv_are_written_alike_each_time(name, table_files, repository, tmp_path) -> None:
    recipe = {"title": "a study", "paper_scale": False, "params": plain(PARAMS[name])}
    tables = [table_files[bank, *PARAMS[name].tables] for bank in PARAMS[name].banks]
    for folder in ("one", "two"):
        FIGURES[name].write(recipe, tables, repository / "reference/published.csv", tmp_path / folder)
    for suffix in ("csv", "pdf", "png"):
        one, two = (tmp_path / folder / f"{name}.{suffix}" for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
    written = pd.read_csv(tmp_path / "one" / f"{name}.csv")
    np.testing.assert_allclose(written["value"], prepared(name, table_files)["value"])


@pytest.mark.parametrize("name", PARAMS)
def test_a_panel_says_what_it_is_of_and_how_many_seeds_are_behind_it(name, table_files) -> None:
    figure = FIGURES[name].draw(prepared(name, table_files))
    for axes in panels(figure):
        said = axes.get_title() + axes.texts[0].get_text()
        assert "Sudoku-hard (generated data)" in said
        assert "$n$ = 12 puzzles, $M$ = 8" in said
        assert "inference seeds: 3" in said
    assert "a study" in figure.get_suptitle()


def test_panels_of_gains_name_the_steps_that_are_compared_and_those_of_accuracy_all(table_files) -> None:
    figure = extra_compute_scaling.draw(prepared("extra_compute_scaling", table_files))
    said = {axes.get_ylabel().split(", ")[-1]: axes.texts[0].get_text() for axes in panels(figure)}
    assert "$T_\\mathrm{eval}$ = 32 / 8\n" in said["gain (points)"]
    assert "$T_\\mathrm{eval}$ = 8 / 16 / 32\n" in said["C-voting (%)"]


@pytest.mark.parametrize("name", [name for name, params in PARAMS.items() if isinstance(params, BanksFigure)])
def test_of_banks_of_several_models_panels_say_which_is_theirs_or_the_colours_do(name, table_files) -> None:
    data = prepared(name, table_files)
    figure = FIGURES[name].draw(data)
    titles = [axes.get_title() for axes in panels(figure)]
    by_colour = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    for model in ("ItrSA++", "a_model_of_mine"):
        assert model in by_colour or any(model in title for title in titles)
    if "ItrSA++" not in by_colour:
        assert not any("ItrSA++" in title and "a_model_of_mine" in title for title in titles)


@pytest.mark.parametrize("name", PARAMS)
@pytest.mark.parametrize("dataset", ["sudoku_hard", "maze_hard"])
def test_nothing_that_is_written_is_cut_off_or_covers_something_else(name, dataset, table_files) -> None:
    data = prepared(name, table_files).assign(dataset=dataset, title="a study of a long name, as the paper's scale")
    if dataset == "maze_hard":  # with both ways of counting
        data = pd.concat([data, data.assign(metric="optimal")], ignore_index=True)
    figure = FIGURES[name].draw(data)
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
    for axes in panels(figure):
        assert not axes.title.get_window_extent().overlaps(axes.texts[0].get_window_extent())


def test_of_a_bank_that_has_not_learned_its_task_no_vote_is_drawn_and_its_rows_and_its_panel_say_so(
    table_files,
) -> None:
    note = "one candidate: 0.2% of puzzles; no votes drawn below 1%"
    for name, params in PARAMS.items():
        tables = {bank: read_csv(table_files[bank, *params.tables]) for bank in BANKS}
        tables["hard"]["value"] = 0.002
        data = FIGURES[name].prepare(tables, params, "a study", False, pd.DataFrame(columns=list(PUBLISHED_COLUMNS)))
        noted = data["bank"] == "hard"
        assert set(data.loc[noted, "note"]) == {note}
        assert data.loc[~noted, "note"].isna().all()
        figure = FIGURES[name].draw(data)
        assert (0.002 in drawn_heights(figure)) == (name == "fig1_overview"), "a bar for one candidate alone"
        figure.draw_without_rendering()
        words = " ".join(text.get_text() for axes in panels(figure) for text in axes.texts).replace("\n", " ")
        assert "one candidate: 0.2% of puzzles" in words, name
        assert "no votes drawn below 1%" in words, name


def test_figure_3_tells_models_apart_by_colour_also_those_it_does_not_know(table_files) -> None:
    data = prepared("fig3_itrsa_voting", table_files)
    figure = fig3_itrsa_voting.draw(data)
    colours = [{line.get_color() for line in axes.lines} for axes in figure.axes]
    assert [len(c) for c in colours] == [2, 1]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"ItrSA++", "a_model_of_mine", "C-voting"} <= set(words)


@pytest.mark.parametrize(
    ("module", "votes"),
    [(fig3_itrsa_voting, ("confidence",)), (fig4_hrm_voting, VOTED)],
    ids=["models by colour", "votes by colour"],
)
def test_a_bank_of_one_candidate_is_a_dotted_line_with_its_band_across_the_panel(module, votes, with_fixed) -> None:
    banks = ("hard", "extreme", "fixed") if module is fig3_itrsa_voting else ("hard", "fixed")
    published = read_published(Path(__file__).parents[2] / "reference/published.csv")
    data = module.prepare(with_fixed, PanelsFigure(panels=(banks,), votes=votes), "a study", False, published)
    row = data[data["bank"] == "fixed"].squeeze()
    table = with_fixed["fixed"]
    same = (table["vote"] == "confidence") & (table["estimator"] == "expected") & (table["metric"] == "board")
    assert (row["vote"], row["K"], row["value"]) == ("random", 1, table.loc[same, "value"].item())
    figure = module.draw(data)
    [line] = [line for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert line.get_xdata().tolist() == list(K)
    assert set(line.get_ydata()) == {row["value"]}
    assert line.get_color() == style.MODEL_COLOURS["hrm_fixed"]
    bands = [c.get_paths()[0].vertices for c in figure.axes[0].collections if c.get_alpha()]
    [band] = [b for b in bands if set(b[:, 1]) == {row["low"], row["high"]}]
    assert (band[:, 0].min(), band[:, 0].max()) == (1, 8)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "HRM, fixed initial state" in words
    assert ("ItrSA++" in words) == (module is fig3_itrsa_voting), "one model that votes needs no colour of its own"
    assert "HRM" not in figure.get_suptitle()


def test_the_published_hrm_stands_beside_ours_at_the_papers_scale(with_fixed) -> None:
    published = read_published(Path(__file__).parents[2] / "reference/published.csv")
    params = PanelsFigure(panels=(("hard", "fixed"),), votes=("confidence",))
    summary = SummaryFigure(panels=params.panels, votes=params.votes)
    for module, of in ((fig3_itrsa_voting, params), (fig4_hrm_voting, params), (fig1_overview, summary)):
        data = module.prepare(with_fixed, of, "a study", True, published)
        row = data[(data["bank"] == "fixed") & data["published"].notna()].squeeze()
        assert (row["published_id"], row["K"], row["published"]) == ("c5-extreme", 1, 0.55)
        assert row["value"] > 0
        assert 0.55 in drawn_heights(module.draw(data))
        assert module.prepare(with_fixed, of, "a study", False, published)["published"].isna().all()


def test_figures_against_K_say_how_alike_the_candidates_are(table_files) -> None:
    data = prepared("fig4_hrm_voting", table_files)
    table = over_all_seeds(read_csv(table_files["hard", "voting"]))
    for name in ("tie_share", "distinct_answers"):
        same = (table["vote"] == "confidence") & (table["estimator"] == "expected") & (table["metric"] == "board")
        ours = data[(data["bank"] == "hard") & (data["vote"] == "confidence")]
        assert ours[name].tolist() == table.loc[same, name].tolist()
        assert ours[name].nunique() == len(K)


def test_figure_1_has_a_bar_without_a_vote_and_one_for_each_vote_that_a_bank_can_hold(with_fixed) -> None:
    with_fixed["extreme"] = with_fixed["extreme"][with_fixed["extreme"]["vote"] != "energy_sum"]
    params = SummaryFigure(panels=(("hard", "fixed", "extreme"),), votes=("energy_sum", "confidence"))
    published = read_published(Path(__file__).parents[2] / "reference/published.csv")
    data = fig1_overview.prepare(with_fixed, params, "a study", False, published)
    assert data[["bank", "vote", "K"]].values.tolist() == [
        ["hard", "random", 1], ["hard", "energy_sum", 8], ["hard", "confidence", 8],
        ["fixed", "random", 1],
        ["extreme", "random", 1], ["extreme", "confidence", 8],
    ]  # fmt: skip
    for _, row in data.iterrows():
        source = over_all_seeds(with_fixed[row["bank"]])
        vote = "oracle" if row["vote"] == "random" else row["vote"]  # at K = 1 any will do
        same = (source["vote"] == vote) & (source["K"] == row["K"]) & (source["metric"] == "board")
        same &= source["estimator"] == "expected"
        for name in ("value", "low", "high"):
            assert row[name] == source.loc[same, name].item()
    [axes] = panels(fig1_overview.draw(data))
    values = [f"({100 * value:.1f})" for value in data["value"]]
    assert [label.get_text().split("\n") for label in axes.get_xticklabels()] == [
        [K, value] for K, value in zip(["1", "8", "8", "1", "1", "8"], values, strict=True)
    ]
    bars = [bar for group in axes.containers for bar in group]
    assert [bar.get_height() for bar in bars] == data["value"].tolist()
    assert [bool(bar.get_hatch()) for bar in bars] == [False, True, False, False, False, False]
    left = [bar.get_x() for bar in bars]
    assert left == sorted(left)


def test_the_drawing_of_figure_1_shows_no_number_of_a_result_and_boards_that_are_what_they_seem() -> None:
    question, answers = overview.QUESTION, overview.ANSWERS
    task = Sudoku(name="sudoku", box=(2, 2))
    boards = np.array([[int(c) for c in a] for a in answers], dtype=np.uint8)
    assert task.valid(boards).tolist() == [False, True, False]
    assert all(q in (".", a) for answer in answers for q, a in zip(question, answer, strict=True)), "givens are kept"


def test_figure_8_has_a_point_per_listed_step_of_the_vote_of_all_and_of_no_vote(table_files) -> None:
    data = prepared("fig8_itrsa_test_time_scaling", table_files)
    assert set(data["T_eval"]) == set(STEPS)
    assert set(zip(data["vote"], data["K"], strict=True)) == {("confidence", 8), ("random", 1)}
    table = over_all_seeds(read_csv(table_files["hard", "steps"]))
    row = data[(data["bank"] == "hard") & (data["vote"] == "random") & (data["T_eval"] == 16)]
    same = (table["T_eval"] == 16) & (table["vote"] == "confidence") & (table["K"] == 1)
    same &= (table["metric"] == "board") & (table["estimator"] == "expected")
    assert row["value"].item() == pytest.approx(table.loc[same, "value"].item()), "no vote is every vote at K = 1"
    assert len(fig8_itrsa_test_time_scaling.draw(data).axes) == 2


def test_figure_11_is_of_one_training_seed_whatever_their_number(table_files) -> None:
    tables = {bank: read_csv(table_files[bank, "voting"]) for bank in BANKS}
    published = read_published(Path(__file__).parents[2] / "reference/published.csv")
    two = {bank: pd.concat([table, table.assign(training_seed="1", value=0.5)]) for bank, table in tables.items()}
    data = [
        fig11_seed_dependency.prepare(t, PARAMS["fig11_seed_dependency"], "a study", True, published)
        for t in (tables, two)
    ]
    pd.testing.assert_frame_equal(*data)


def test_a_published_value_without_a_k_is_a_line_across_its_panel(table_files) -> None:
    tables = {bank: read_csv(table_files[bank, "voting"]).assign(model="itrsa") for bank in BANKS}
    published = read_published(Path(__file__).parents[2] / "reference/published.csv")
    data = fig3_itrsa_voting.prepare(tables, PARAMS["fig3_itrsa_voting"], "a study", True, published)
    unstated = data[data["published"].notna() & data["K"].isna()]
    assert set(unstated["published_id"]) == {"c4-hard"}
    figure = fig3_itrsa_voting.draw(data)
    assert 0.944 in drawn_heights(figure)
    assert "published, $K$ not stated" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_figure_11_has_a_point_per_seed(table_files) -> None:
    data = prepared("fig11_seed_dependency", table_files)
    assert len(data) == len(BANKS) * len(VOTED) * len(K) * 3
    table = read_csv(table_files["extreme", "voting"])
    for _, row in data[(data["bank"] == "extreme") & (data["K"] == 4) & (data["vote"] == "confidence")].iterrows():
        same = (table["vote"] == "confidence") & (table["K"] == 4) & (table["estimator"] == "prefix")
        same &= (table["metric"] == "board") & (table["inference_seed"] == row["inference_seed"])
        assert row["value"] == table.loc[same & (table["training_seed"] == "0"), "value"].item()
    figure = fig11_seed_dependency.draw(data)
    points = [line for line in figure.axes[0].lines if line.get_marker() == "."]
    assert len(points) == len(VOTED) * len(K)
    assert all(len(line.get_ydata()) == 3 for line in points)


def test_the_figure_of_scaling_holds_the_rows_of_its_table_with_front_and_shares_beside_them(table_files) -> None:
    data = prepared("extra_compute_scaling", table_files)
    table = over_all_seeds(read_csv(table_files["hard", "scaling"]))
    table = table[(table["vote"] == "confidence") & (table["metric"] == "board")]
    ours = data[data["bank"] == "hard"]
    numbers = ["K", "T_eval", "flops", "value", "low", "high"]
    for measure in ("accuracy", "front_held_out", *extra_compute_scaling.GAINS):
        source = table[table["measure"] == measure]
        assert ours.loc[ours["measure"] == measure, numbers].values.tolist() == source[numbers].values.tolist()
    front = table[table["measure"] == "front"]
    assert ours.loc[ours["front"], numbers].values.tolist() == front[numbers].values.tolist()
    assert 1 < len(front) < len(K) * len(STEPS)
    for name in ("depth", "breadth"):
        (source,) = table.loc[table["measure"] == f"{name}_share", ["value", "low", "high"]].values.tolist()
        (shares,) = ours.loc[ours["measure"] == name, ["share", "share_low", "share_high"]].values.tolist()
        np.testing.assert_array_equal(shares, source)
    assert ours.loc[~ours["measure"].isin(["depth", "breadth"]), "share"].isna().all()


def test_the_figure_of_scaling_has_a_curve_for_each_number_of_candidates_and_shares_where_there_is_a_gain(
    table_files,
) -> None:
    data = prepared("extra_compute_scaling", table_files)
    figure = extra_compute_scaling.draw(data)
    upper, lower = figure.axes[:2]
    rows = data[(data["bank"] == "hard") & (data["measure"] == "accuracy")]
    for K_shown, line in zip(K, upper.lines, strict=False):
        of_K = rows[rows["K"] == K_shown].sort_values("T_eval")
        assert line.get_xydata().tolist() == of_K[["flops", "value"]].values.tolist()
    assert len(upper.lines) == len(K) + 2, "the front, after the fact and judged"
    assert lower.get_xlabel().startswith("depth: 8 to 32 steps; breadth: $K$ = 1 to 8\n")
    some = {"share": 0.25, "share_low": -0.1, "share_high": 0.5}
    with_shares = data.assign(**{name: data[name].where(data["measure"] != "depth", n) for name, n in some.items()})
    with_shares = with_shares.assign(**{n: with_shares[n].where(data["measure"] != "breadth", 0.75) for n in some})
    said = extra_compute_scaling.draw(with_shares).axes[1].get_xlabel()
    assert said.endswith("\nshares: depth 25% (-10 to 50), breadth 75% (75 to 75)")
    said = extra_compute_scaling.draw(data.assign(share=np.nan)).axes[1].get_xlabel()
    assert said.endswith("\nshares: undefined, as there may be no gain")
    gains = data[(data["bank"] == "hard") & data["measure"].isin(list(extra_compute_scaling.GAINS))]
    low, high = lower.get_ylim()
    assert low <= min(0, gains["low"].min())
    assert max(0, gains["high"].max()) <= high


def test_many_banks_fill_rows_and_the_gains_of_a_bank_are_below_its_curves(table_files) -> None:
    data = prepared("extra_compute_scaling", table_files)
    hard = data[data["bank"] == "hard"]
    figure = extra_compute_scaling.draw(pd.concat([hard.assign(bank=name) for name in "abcde"]))
    places = [axes.get_subplotspec() for axes in figure.axes]
    found = [(place.rowspan.start, place.colspan.start) for place in places]
    assert found[::2] == [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1)]
    assert found[1::2] == [(1, 0), (1, 1), (1, 2), (3, 0), (3, 1)]
    assert [rows_and_columns(panels, 3) for panels in (1, 3, 4, 7)] == [(1, 1), (1, 3), (2, 2), (3, 3)]


def test_a_figure_of_scaling_reads_tables_of_scaling_only(table_files, repository, tmp_path) -> None:
    recipe = {"title": "a study", "paper_scale": False, "params": plain(PARAMS["extra_compute_scaling"])}
    published, tables = repository / "reference/published.csv", [table_files[bank, "steps"] for bank in BANKS]
    with pytest.raises(TableError, match="a voting table, expected the table of scaling"):
        extra_compute_scaling.write(recipe, tables, published, tmp_path / "out")


@pytest.mark.parametrize(
    ("run", "model", "dataset", "origin", "name"),
    [
        ("itrsa-sudoku_extreme", "itrsa", "sudoku_extreme", "original", "Sudoku-extreme"),
        ("akorn-sudoku", "akorn", "sudoku_hard", "generated", "Sudoku-hard (generated data)"),
        ("akorn-sudoku", "akorn", "sudoku_extreme", "original", "Sudoku-extreme (trained on Sudoku)"),
        ("hrm-mazes", "hrm", "maze_hard", "generated", "Maze-hard (trained on mazes, generated data)"),
        ("my-rollouts", "itrsa", "maze_hard", "original", "Maze-hard"),
    ],
)
def test_a_panel_says_what_its_models_trained_on_where_that_is_other_puzzles(
    run: str, model: str, dataset: str, origin: str, name: str
) -> None:
    rows = pd.DataFrame([{"run": run, "model": model, "dataset": dataset, "origin": origin}] * 2)
    assert dataset_name(rows) == name
