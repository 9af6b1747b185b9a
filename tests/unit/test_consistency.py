"""What does not fit together in a study is refused before any job: votes without scores, steps, unknown names."""

import json
from typing import Any

import pytest
import yaml

from cvoting.params.core import ParameterError, build
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.study import Study

ITRSA, AKORN, TRANSFORMER = "itrsa-sudoku_hard", "akorn-sudoku_hard", "transformer-sudoku_hard"
#: Every selection rule, so that figures may ask for each.
VOTES = [
    "confidence", "negative_entropy", "log_probability", "energy_last", "energy_sum", "latent_residual",
    "logit_residual", "majority_answer", "random",
]  # fmt: skip


@pytest.fixture
def toy(repository) -> dict[str, Any]:
    """The toy study with all those rules."""
    study = yaml.safe_load((repository / "params/toy.yaml").read_text())
    study["voting"]["votes"] = VOTES
    return study


def problems(study: dict[str, Any], changes: dict[str, Any]) -> list[str]:
    """What is refused after changes at dotted keys."""
    study = json.loads(json.dumps(study))  # aliases of YAML become blocks of their own
    for dotted, value in changes.items():
        block = study
        *path, last = dotted.split(".")
        for key in path:
            block = block[key]
        block[last] = value
    try:
        build(Study, study)
    except ParameterError as error:
        return error.problems
    return []


def banks_figure(name: str, bank: str, *votes: str) -> dict[str, Any]:
    """A study with one figure, of one bank."""
    return {"figures": {name: {"banks": [bank], "votes": list(votes)}}, "tables": {}}


FIG2, FIG8, FIG9 = "fig2_akorn_voting", "fig8_itrsa_test_time_scaling", "fig9_transformer_voting"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            banks_figure(FIG2, ITRSA, "energy_sum", "energy_last"),
            f"figures.{FIG2}.votes = ['energy_sum', 'energy_last']: expected one that banks.{ITRSA} can hold: "
            "confidence, negative_entropy, log_probability, latent_residual, logit_residual, majority_answer, random",
        ),
        (
            banks_figure(FIG9, TRANSFORMER, "latent_residual", "energy_last"),
            f"figures.{FIG9}.votes = ['latent_residual', 'energy_last']: expected one that banks.{TRANSFORMER} can "
            "hold: confidence, negative_entropy, log_probability, majority_answer, random",
        ),
        (
            banks_figure(FIG2, AKORN, "logit_residual") | {f"banks.{AKORN}.T_eval": 1},
            f"figures.{FIG2}.votes = ['logit_residual']: expected one that banks.{AKORN} can hold: confidence, "
            "negative_entropy, log_probability, energy_last, energy_sum, majority_answer, random",
        ),
        (
            banks_figure(FIG8, ITRSA, "majority_answer", "latent_residual"),
            f"figures.{FIG8}.votes = ['majority_answer', 'latent_residual']: expected one that banks.{ITRSA} can hold: "
            "confidence, negative_entropy, log_probability, random",
        ),
        (
            {"figures": {"fig3_itrsa_voting": {"panels": [[AKORN, ITRSA]], "votes": ["energy_sum"]}}},
            f"figures.fig3_itrsa_voting.votes = ['energy_sum']: expected one that banks.{ITRSA} can hold: confidence, "
            "negative_entropy, log_probability, latent_residual, logit_residual, majority_answer, random",
        ),
        (
            banks_figure(FIG8, AKORN, "confidence"),
            f"figures.{FIG8}.banks = '{AKORN}': expected a bank with `read_at`, the steps that are shown",
        ),
    ],
    ids=["energies", "one step", "one step of AKOrN", "answers at a step", "one bank of a panel", "no step"],
)
def test_a_figure_of_votes_that_a_bank_cannot_hold_is_refused(toy, changes, message) -> None:
    assert problems(toy, changes) == [message]


@pytest.mark.parametrize(
    "changes",
    [
        banks_figure(FIG2, ITRSA, "energy_sum", "confidence"),
        banks_figure(FIG2, AKORN, "energy_sum"),
        banks_figure(FIG8, ITRSA, "confidence", "energy_sum"),
        banks_figure(FIG8, AKORN, "energy_last") | {f"banks.{AKORN}.read_at": [2]},
        banks_figure(FIG9, TRANSFORMER, "majority_answer"),
    ],
    ids=["one of two", "energies", "one of two at a step", "energies at a step", "answers"],
)
def test_a_figure_of_a_vote_that_each_bank_can_hold_is_drawn(toy, changes) -> None:
    assert problems(toy, changes) == []


def test_votes_that_no_score_of_a_bank_allows_are_refused(toy) -> None:
    changes = {"figures": {}, "tables": {}, "voting.votes": ["energy_sum", "latent_residual"]}
    message = "voting.votes = ['energy_sum', 'latent_residual']: expected at least one that banks.{} has scores for"
    assert problems(toy, changes) == [message.format(TRANSFORMER)]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("table1_itrsa.run", "itrsa", "tables.table1_itrsa.run = 'itrsa': expected one of akorn-sudoku, "),
        ("table4_ablation.ffn", "ffn", "'ffn': expected one of akorn-sudoku_hard, "),
        ("table9", {}, "tables.table9: unknown key; known here: table1_itrsa, table3_akorn, table4_ablation"),
    ],
)
def test_a_table_of_an_unknown_run_or_bank_is_refused(toy, key, value, message) -> None:
    [problem] = problems(toy, {f"tables.{key}": value})
    assert problem.startswith(f"tables.{key.split('.')[0]}")
    assert message in problem


def test_the_ablations_need_c_voting(toy) -> None:
    changes = {"figures": {}, "voting.votes": ["log_probability", "random"]}
    message = "tables.table4_ablation: expected 'confidence' among voting.votes, ['log_probability', 'random']"
    assert problems(toy, changes) == [message]
    assert problems(toy, {**changes, "tables": {"table1_itrsa": {"run": "itrsa-sudoku"}}}) == []


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("read_at", [4, 2], "read_at = [4, 2]: expected increasing steps up to T_eval = 6"),
        ("read_at", [2, 7], "read_at = [2, 7]: expected increasing steps up to T_eval = 6"),
        ("read_at", [2, 2], "read_at = [2, 2]: expected different values"),
        ("read_at", [0, 2], "read_at[0] = 0: expected at least 1"),
        ("read_at", 3, "read_at = 3: expected a list"),
        ("read_candidates", 9, "read_candidates = 9: expected at most candidates = 8"),
        ("read_candidates", 0, "read_candidates = 0: expected at least 1"),
    ],
)
def test_steps_and_candidates_that_cannot_be_read_out_are_refused_by_key(toy, name, value, message) -> None:
    where = f"banks.{ITRSA}"
    assert problems(toy, {f"{where}.{name}": value}) == [f"{where}.{message}"]
    plan = {"T_eval": 6, "candidates": 8, "chunk": 3, name: value}
    with pytest.raises(ParameterError) as error:
        build(RolloutPlan, plan, "plan")
    assert error.value.problems == [f"plan.{message}"]


def test_all_that_is_wrong_with_a_reading_is_said_at_once() -> None:
    with pytest.raises(ParameterError) as error:
        RolloutPlan(T_eval=2, candidates=3, chunk=1, read_at=(3,), read_candidates=4, shards=2, shard=2)
    assert [problem.split(" = ")[0] for problem in error.value.problems] == ["read_at", "read_candidates", "shard"]
