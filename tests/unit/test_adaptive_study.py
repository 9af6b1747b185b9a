"""Adaptive voting as a part of a study: what its jobs are told, which banks it takes, and what is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from cvoting import recipes
from cvoting.__main__ import main
from cvoting.bank import Bank
from cvoting.bank_file import write_banks
from cvoting.params.core import ParameterError, build, plain
from cvoting.params.study import Study
from cvoting.table_files import ADAPTIVE_COLUMNS, read_csv

BANK, ALONE = "akorn-sudoku_hard", "hrm_fixed-sudoku_hard"
STUDIES = ("params.yaml", "params/toy.yaml", "params/real.yaml", "params/paper.yaml")


@pytest.fixture
def toy(repository: Path) -> dict[str, Any]:
    """The toy study as it stands in its file."""
    return yaml.safe_load((repository / "params/toy.yaml").read_text())


def problems(study: dict[str, Any]) -> list[str]:
    """What is refused."""
    with pytest.raises(ParameterError) as refused:
        build(Study, study)
    return refused.value.problems


def test_a_job_is_told_the_plan_of_its_bank_with_the_numbers_of_the_voting_table(toy: dict[str, Any]) -> None:
    study = build(Study, toy)
    recipe = json.loads(recipes.adaptive(study, BANK))
    assert recipe == {
        "bank": BANK,
        "task": plain(study.datasets["sudoku_hard"].task),
        "plan": {
            "study": "toy", "candidates": 6, "K_max": 4, "targets": [1.5, 2.0, 3.0], "agreements": [2, 3],
            "K": [1, 2, 4], "subsets": 4, "resamples": 100, "level": 0.95, "seed": 0,
        },
    }  # fmt: skip
    assert recipes.adaptive_modules(study, "itrsa-maze_hard") == ("cvoting.adaptive_table", "cvoting.tasks.maze")
    small = replace(study.banks[BANK], candidates=3)
    plan = json.loads(recipes.adaptive(replace(study, banks=study.banks | {"mine": small}), "mine"))["plan"]
    assert (plan["candidates"], plan["K_max"], plan["targets"], plan["K"]) == (3, 3, [1.5, 2.0, 3.0], [1, 2])


def test_what_the_votes_alone_need_changes_no_adaptive_table(toy: dict[str, Any]) -> None:
    study = build(Study, toy)
    for change in ({"level": 0.9}, {"resamples": 200}, {"seed": 1}, {"votes": study.voting.votes[::-1]}):
        other = replace(study, voting=replace(study.voting, **change))
        assert recipes.adaptive(other, BANK) == recipes.adaptive(study, BANK)


@pytest.mark.parametrize("name", STUDIES)
def test_banks_of_several_candidates_have_an_adaptive_table_and_can_be_shown(repository: Path, name: str) -> None:
    study = build(Study, yaml.safe_load((repository / name).read_text()))
    assert study.figures.extra_adaptive_voting is not None
    for bank, block in study.banks.items():
        assert ("adaptive" in block.tables) == (block.candidates > 1), bank
    for bank in study.figures.extra_adaptive_voting.banks:
        plan = json.loads(recipes.adaptive(study, bank))["plan"]
        assert plan["targets"]
        assert plan["agreements"]


def test_the_verb_writes_the_table_that_the_recipe_asks_for(
    toy: dict[str, Any], predicted_bank: Callable[..., Bank], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_banks(tmp_path / "bank.parquet", [predicted_bank(candidates=8)])
    recipe = recipes.adaptive(build(Study, toy), BANK)
    words = ["adaptive", recipe, "--out", str(tmp_path / "table.csv"), str(tmp_path / "bank.parquet")]
    monkeypatch.setattr("sys.argv", ["cvoting", *words])
    assert main() == 0
    table = read_csv(tmp_path / "table.csv")
    assert tuple(table.columns) == ADAPTIVE_COLUMNS
    rules = ["threshold"] * 3 + ["agreement"] * 2 + ["fixed"] * 6
    assert table["rule"].tolist() == rules
    assert set(table["study"]) == {"toy"}
    assert (tmp_path / "table.csv.run.json").is_file()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K_max": 7}, "adaptive.K_max = 7: expected at most candidates = 6"),
        ({"targets": []}, "adaptive.targets = []: expected at least one"),
        ({"targets": [0.5]}, "adaptive.targets[0] = 0.5: expected at least 1"),
        ({"candidates": 1}, "adaptive.candidates = 1: expected at least 2"),
        ({"candidates": 6.5}, "adaptive.candidates = 6.5: expected"),
        ({"K": [1]}, "adaptive.K: unknown key"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_numbers_that_do_not_fit_are_refused(toy: dict[str, Any], change: dict[str, Any], message: str) -> None:
    found = problems(toy | {"adaptive": toy["adaptive"] | change})
    assert any(problem.startswith(message) for problem in found), found


def test_a_table_needs_one_of_the_fixed_numbers(toy: dict[str, Any]) -> None:
    banks = {name: bank for name, bank in toy["banks"].items() if bank["candidates"] > 1}
    several = toy | {"banks": banks, "figures": {}, "tables": {}, "voting": toy["voting"] | {"K": [5, 8]}}
    assert problems(several) == ["adaptive.K_max = 4: expected at least 5, the least of voting.K"]
    build(Study, several | {"adaptive": toy["adaptive"] | {"K_max": 5}})


def test_a_figure_of_a_bank_of_one_candidate_is_refused(toy: dict[str, Any]) -> None:
    toy["figures"] = {"extra_adaptive_voting": {"banks": [BANK, ALONE]}}
    (problem,) = problems(toy)
    expected = "expected a bank of several candidates, which are drawn one by one"
    assert problem == f"figures.extra_adaptive_voting.banks = {ALONE!r}: {expected}"
    toy["figures"] = {"extra_adaptive_voting": {"banks": []}}
    assert problems(toy) == ["figures.extra_adaptive_voting.banks = []: expected at least one"]
