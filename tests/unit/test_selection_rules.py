"""The figure and the table that compare selection rules on the same candidates, and what they ask of a study."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from cvoting.figures import extra_selection_rules as figure
from cvoting.paper_tables import extra_selection_rules as table
from cvoting.params.core import ParameterError, build
from cvoting.params.figures import RulesFigure
from cvoting.params.paper_tables import RulesTable
from cvoting.params.study import Study
from cvoting.params.voting import VotingParams
from cvoting.table_files import NO_GAP, over_all_seeds, read_csv
from cvoting.tables import write_voting
from cvoting.tasks.sudoku import Sudoku
from cvoting.voting import VOTES

#: The first has energies; the last has no wrong candidate but by other metrics than the board's.
BANKS = ("one", "two", "no_gap")
PARAMS = VotingParams(K=(1, 2, 8), votes=tuple(VOTES), subsets=4, resamples=100, level=0.9, seed=0)
KINDS = ("", ".paired")


@pytest.fixture
def folder(bank_file: Callable[..., Path], tmp_path: Path) -> Path:
    """A folder with the voting table and the paired comparison of each bank."""
    for place, bank in enumerate(BANKS):
        shards = [
            bank_file(f"{bank}{seed}", first=12 * place, inference_seed=seed, energies=not place) for seed in (0, 1)
        ]
        files = [tmp_path / f"{bank}{kind}.csv" for kind in KINDS]
        write_voting(shards, PARAMS, Sudoku(name="sudoku", box=(2, 2)), "a-study", *files)
    right = read_csv(tmp_path / "no_gap.csv")
    board = right["metric"] == "board"
    right.loc[board, ["value", "low", "high", "gap_puzzles"]] = 1, 1, 1, 0
    right.loc[board, ["gap_closed", "gap_closed_low", "gap_closed_high"]] = np.nan
    right.to_csv(tmp_path / "no_gap.csv", index=False)
    return tmp_path


def read(folder: Path, kind: str) -> dict[str, pd.DataFrame]:
    """The tables of a kind."""
    return {bank: read_csv(folder / f"{bank}{kind}.csv") for bank in BANKS}


@pytest.fixture
def data(folder: Path) -> pd.DataFrame:
    """The numbers of the table."""
    return table.prepare(read(folder, ""), read(folder, ".paired"), RulesTable(banks=BANKS))


def one(rows: pd.DataFrame, **where: object) -> pd.Series:
    """The only row with these values."""
    found = rows[np.logical_and.reduce([rows[name] == value for name, value in where.items()])]
    assert len(found) == 1, where
    return found.iloc[0]


def test_a_row_of_a_bank_says_what_its_tables_say_and_the_paired_difference_the_other_way_round(data, folder) -> None:
    where = {"estimator": "expected", "metric": "board", "K": 8}
    for bank in BANKS[:2]:
        voting, paired = (over_all_seeds(read_csv(folder / f"{bank}{kind}.csv")) for kind in KINDS)
        for vote in set(voting["vote"]):
            row, source = one(data, bank=bank, vote=vote, part="bank"), one(voting, vote=vote, **where)
            for name in ("value", "low", "high", "gap_closed", "gap_closed_low", "gap_closed_high", "gap_puzzles"):
                assert row[name] == source[name]
            assert (row["puzzles"], row["training_seeds"], row["inference_seeds"], row["K"]) == (12, 1, 2, 8)
            assert row["study"] == "a-study"
            if vote != "confidence":
                against = one(paired, vote="confidence", against=vote, **where)
                assert row["difference"] == -against["difference"]
                assert (row["difference_low"], row["difference_high"]) == (-against["high"], -against["low"])
                assert (row["better"], row["worse"], row["p"]) == tuple(against[["worse", "better", "p"]])
    assert one(data, bank="one", vote="confidence")[["difference", "p", "better"]].isna().all()


def test_rules_of_a_bank_are_ranked_by_accuracy_and_ties_share_their_ranks(data) -> None:
    for bank in BANKS[:2]:
        rules = data[(data["bank"] == bank) & data["rank"].notna()]
        assert not set(rules["vote"]) & {"random", "oracle"}
        for _, row in rules.iterrows():
            better, same = (rules["value"] > row["value"]).sum(), (rules["value"] == row["value"]).sum()
            assert row["rank"] == better + (same + 1) / 2
        votes = data.loc[data["bank"] == bank, "vote"].tolist()
        assert votes[-2:] == ["oracle", "random"]
        assert rules["value"].is_monotonic_decreasing
    assert data.loc[data["bank"] == "one", "rank"].duplicated(keep=False).sum() > 2, "some rules tie"


def test_a_bank_without_a_gap_has_the_reason_in_the_place_of_shares_and_no_ranks(data) -> None:
    rows = data[data["bank"] == "no_gap"]
    assert (rows["note"] == NO_GAP).all()
    assert rows[["rank", "gap_closed", "gap_closed_low"]].isna().all(axis=None)
    assert set(table.shown(rows)["Gap closed"]) == {NO_GAP}


def test_the_last_block_counts_the_banks_with_a_gap_that_have_the_rule(data) -> None:
    banks, last = data[data["part"] == "bank"], data[data["part"] == "rules"]
    assert last["rank"].is_monotonic_increasing
    assert set(last["vote"]) == set(banks.loc[banks["rank"].notna(), "vote"])
    for _, row in last.iterrows():
        own = banks[(banks["vote"] == row["vote"]) & banks["rank"].notna()]
        best = [(banks.loc[(banks["bank"] == bank) & banks["rank"].notna(), "value"]).max() for bank in own["bank"]]
        assert row["banks"] == len(own) == (1 if row["vote"].startswith("energy") else 2)
        assert row["rank"] == own["rank"].mean()
        assert row["first"] == (own["value"].to_numpy() == best).sum()
        assert (row["above"], row["below"]) == ((own["difference_low"] > 0).sum(), (own["difference_high"] < 0).sum())
        assert (row["gap_closed_least"], row["gap_closed_most"]) == (own["gap_closed"].min(), own["gap_closed"].max())
        assert (row["puzzles"], row["gap_puzzles"]) == (own["puzzles"].sum(), own["gap_puzzles"].sum())
        assert (row["training_seeds"], row["inference_seeds"]) == (len(own), 2 * len(own))
    assert last["first"].max() >= 1


def test_one_bank_with_a_gap_has_no_block_over_banks(folder) -> None:
    found = table.prepare(read(folder, ""), read(folder, ".paired"), RulesTable(banks=("one", "no_gap")))
    assert set(found["part"]) == {"bank"}
    none = table.prepare(read(folder, ""), read(folder, ".paired"), RulesTable(banks=("no_gap",)))
    assert none["rank"].isna().all()


def test_the_table_is_written_alike_each_time_over_several_pages_in_latex(data, folder, repository, tmp_path) -> None:
    recipe = {"study": "a-study", "title": "a study", "paper_scale": False, "params": {"banks": list(BANKS)}}
    inputs = [folder / f"{bank}{kind}.csv" for kind in KINDS for bank in BANKS]
    for out in ("x", "y"):
        table.write(recipe, inputs, repository / "reference/published.csv", tmp_path / out)
    for suffix in ("csv", "md", "tex"):
        x, y = (tmp_path / out / f"{table.NAME}.{suffix}" for out in ("x", "y"))
        assert x.read_bytes() == y.read_bytes()
    written = pd.read_csv(tmp_path / "x" / f"{table.NAME}.csv")
    np.testing.assert_allclose(written["gap_closed"], data["gap_closed"])
    text = (tmp_path / "x" / f"{table.NAME}.md").read_text(encoding="utf-8")
    row = one(data, bank="one", vote="negative_entropy", part="bank")
    [line] = [line for line in text.splitlines() if "a-study: one (" in line and "| negative_entropy " in line]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2] == f"{100 * row['value']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
    assert cells[5:] == [f"{row['p']:.3f}", f"{row['rank']:g}", f"12 ({row['gap_puzzles']}), K = 8, seeds 1 x 2"]
    assert "90% bootstrap intervals" in text
    assert "a-study: 2 banks" in text
    assert "a-study: 1 bank " in text
    latex = (tmp_path / "x" / f"{table.NAME}.tex").read_text(encoding="utf-8")
    assert latex.startswith(r"\begin{longtable}{llllllll}")


def test_the_figure_has_every_rule_that_a_bank_can_hold_at_every_K_above_1(folder) -> None:
    rules = tuple(vote for vote in VOTES if vote not in ("random", "oracle"))
    found = figure.prepare(read(folder, ""), RulesFigure(banks=BANKS, votes=rules), "a study", False, pd.DataFrame())
    assert tuple(found.columns) == figure.COLUMNS
    assert set(found["K"]) == {2, 8}
    for bank in BANKS[:2]:
        source = over_all_seeds(read_csv(folder / f"{bank}.csv"))
        source = source[(source["estimator"] == "expected") & (source["metric"] == "board") & (source["K"] > 1)]
        own = found[found["bank"] == bank]
        assert len(own) == len(source)
        for _, row in own.iterrows():
            same = one(source, vote=row["vote"], K=row["K"])
            assert (row["value"], row["low"], row["high"]) == tuple(
                same[["gap_closed", "gap_closed_low", "gap_closed_high"]]
            )
            assert (row["accuracy"], row["accuracy_low"], row["accuracy_high"]) == tuple(same[["value", "low", "high"]])
            ends = [one(source, vote=vote, K=row["K"])["value"] for vote in ("random", "oracle")]
            assert row["gap"] == ends[1] - ends[0]
        assert own["note"].isna().all()
    assert set(found.loc[found["subsets"].notna(), "vote"]) == {vote for vote in rules if vote.startswith("majority")}


def test_a_panel_without_a_gap_says_so_and_draws_no_curve(folder) -> None:
    params = RulesFigure(banks=("two", "no_gap"), votes=("confidence", "energy_last"))
    found = figure.prepare(read(folder, ""), params, "a study", False, pd.DataFrame())
    assert (found.loc[found["bank"] == "no_gap", "note"] == NO_GAP).all()
    drawn = figure.draw(found)
    two, no_gap = drawn.axes
    assert len(two.lines) == 3, "a rule and two references; the bank has no energies"
    assert not no_gap.lines
    assert any(text.get_text().replace("\n", " ") == NO_GAP for text in no_gap.texts)
    words = [text.get_text() for axes in drawn.axes for text in axes.texts]
    assert sum("oracle $-$ random at $K$ = 8: 0.0 points, on 0 puzzles" in word for word in words) == 1
    many = figure.draw(pd.concat([found.assign(bank=found["bank"] + str(i)) for i in range(7)], ignore_index=True))
    assert len({axes.get_position().y0 for axes in many.axes}) > 1, "more than five panels stand in rows"


@pytest.fixture
def toy(repository: Path) -> dict[str, Any]:
    """The toy study with this figure and this table only."""
    study = json.loads(json.dumps(yaml.safe_load((repository / "params/toy.yaml").read_text())))
    return study | {kind: {figure.NAME: study[kind][figure.NAME]} for kind in ("figures", "tables")}


def problems(study: dict[str, Any]) -> list[str]:
    """What is refused."""
    try:
        build(Study, study)
    except ParameterError as error:
        return error.problems
    return []


def test_a_gap_needs_random_choice_the_oracle_and_several_candidates_that_vote(toy) -> None:
    assert problems(toy) == []
    toy["voting"]["votes"] = [vote for vote in toy["voting"]["votes"] if vote != "oracle"]
    votes = f"expected 'oracle' among voting.votes, {toy['voting']['votes']}: it shows the gap"
    assert problems(toy) == [f"figures.{figure.NAME}: {votes}", f"tables.{figure.NAME}: {votes}"]
    toy["voting"] |= {"votes": [*toy["voting"]["votes"], "oracle"], "K": [1]}
    found = problems(toy)
    of = "expected a bank of which several candidates vote: banks.{} has 8, and voting.K = [1]"
    for kind in ("figures", "tables"):
        banks = toy[kind][figure.NAME]["banks"]
        assert [f"{kind}.{figure.NAME}.banks = {bank!r}: {of.format(bank)}" for bank in banks] == [
            problem for problem in found if problem.startswith(kind)
        ]


@pytest.mark.parametrize(
    ("banks", "problem"),
    [
        (["akorn"], "banks = 'akorn': expected one of akorn-sudoku_hard, "),
        ([], "banks = []: expected at least one"),
        (
            ["hrm_fixed-sudoku_hard"],
            "banks = 'hrm_fixed-sudoku_hard': expected a bank of which several candidates vote",
        ),
    ],
)
def test_a_table_of_an_unknown_bank_of_none_or_of_one_candidate_is_refused(toy, banks, problem) -> None:
    toy["tables"][figure.NAME]["banks"] = banks
    [found] = problems(toy)
    assert found.startswith(f"tables.{figure.NAME}.{problem}")


def test_the_table_compares_with_c_voting(toy) -> None:
    toy["figures"] = {}
    toy["voting"]["votes"] = ["log_probability", "random", "oracle"]
    assert problems(toy) == [
        f"tables.{figure.NAME}: expected 'confidence' among voting.votes, ['log_probability', 'random', 'oracle']"
    ]
