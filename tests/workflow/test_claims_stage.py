"""The verdicts of the toy study, as the workflow makes them."""

import json

import pandas as pd
import pytest

from cvoting.claims.headline import read_claims
from cvoting.claims.table import CLAIMS

pytestmark = pytest.mark.slow


def test_the_toy_study_judges_every_claim_and_reproduces_nothing(built) -> None:
    table = read_claims(built.folder / "results/toy/claims.csv")
    assert list(dict.fromkeys(table["claim"])) == [claim.id for claim in CLAIMS]
    assert len(table) == sum(len(claim.parts) for claim in CLAIMS)
    assert not set(table["verdict"]) & {"reproduced", "not reproduced"}
    ran = table[table["verdict"] != "not run"]
    assert ran[["value", "low", "high"]].notna().all(axis=None)
    known = ran[~ran["claim"].isin(["c16", "q2"])]
    assert known[["puzzles", "training_seeds", "inference_seeds", "rollout_steps"]].notna().all(axis=None)
    assert {"c1", "c3", "c6", "c14", "c20", "c25"} <= set(ran["claim"])


def test_what_was_not_run_is_named(built) -> None:
    table = read_claims(built.folder / "results/toy/claims.csv")
    missing = table[table["verdict"] == "not run"]
    assert "no bank of akorn on sudoku_extreme" in set(missing["note"])
    assert missing["note"].notna().all()
    assert missing["value"].isna().all()


def test_the_page_has_every_claim_and_the_field(built) -> None:
    page = (built.folder / "results/toy/claims.md").read_text()
    for claim in CLAIMS:
        assert f"### {claim.id}: {claim.about}" in page
    assert "| EqR | 2605.21488 |" in page


def test_accuracies_are_those_of_the_summary(built) -> None:
    table = read_claims(built.folder / "results/toy/claims.csv")
    metrics = json.loads((built.folder / "results/toy/metrics.json").read_text())
    printed = table[(table["claim"] == "c4") & table["number"].str.startswith("accuracy") & table["value"].notna()]
    assert len(printed) == 2
    for _, row in printed.iterrows():
        assert row["value"] == pytest.approx(metrics["voting"][row["banks"]]["confidence"], abs=1e-12)
    assert pd.notna(printed["published"]).all()
