"""What does not fit together in a study is refused before any job: votes without scores, steps, unknown names."""

import json
from typing import Any

import pytest
import yaml

from cvoting.params.core import ParameterError, build
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.study import Study

ITRSA, AKORN, TRANSFORMER = "itrsa-sudoku_hard", "akorn-sudoku_hard", "transformer-sudoku_hard"
MAZES = "itrsa-maze_hard"
#: Every selection rule, so that figures may ask for each.
VOTES = [
    "confidence", "negative_entropy", "log_probability", "energy_last", "energy_sum", "latent_residual",
    "logit_residual", "majority_answer", "random", "confidence_stablemax",
]  # fmt: skip


@pytest.fixture
def toy(repository) -> dict[str, Any]:
    """The toy study with all those rules, without the comparison of all."""
    study = yaml.safe_load((repository / "params/toy.yaml").read_text())
    study["voting"]["votes"] = VOTES
    for kind in ("figures", "tables"):  # they need the oracle, and have tests of their own
        del study[kind]["extra_selection_rules"]
    return study


def several(study: dict[str, Any]) -> dict[str, Any]:
    """The study without banks of one candidate, so that K may begin above 1."""
    return study | {"banks": {name: bank for name, bank in study["banks"].items() if bank["candidates"] > 1}}


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
    at_a_step = f"{message} at the steps of `read_at`"
    assert problems(toy, changes) == [
        *(at_a_step.format(bank) for bank in (ITRSA, MAZES)),
        message.format(TRANSFORMER),
    ]


def test_votes_over_answers_alone_are_refused_where_steps_are_read_out(toy) -> None:
    changes = {"figures": {}, "tables": {}, "voting.votes": ["majority_answer"]}
    found = problems(toy, changes)
    assert [problem.split("banks.")[1].split()[0] for problem in found] == [ITRSA, MAZES]
    for bank in (ITRSA, MAZES):
        changes |= {f"banks.{bank}.read_at": [], f"banks.{bank}.read_candidates": None}
    assert problems(toy, changes) == []


FIG3, FIG11 = "fig3_itrsa_voting", "fig11_seed_dependency"


@pytest.mark.parametrize(
    ("panels", "message"),
    [
        ([], "panels = []: expected at least one panel, and at least one bank in each"),
        ([[AKORN], []], f"panels = [['{AKORN}'], []]: expected at least one panel, and at least one bank in each"),
        (
            [[ITRSA, "akorn-maze_hard"]],
            f"panels = ['{ITRSA}', 'akorn-maze_hard']: expected banks of one dataset, got maze_hard, sudoku_hard",
        ),
        (
            [[AKORN], [ITRSA, "itrsa_raw-sudoku_hard"]],
            f"panels = ['{ITRSA}', 'itrsa_raw-sudoku_hard']: expected banks of different models, got itrsa, itrsa",
        ),
    ],
    ids=["no panel", "an empty panel", "datasets", "models"],
)
def test_a_panel_whose_curves_cannot_be_told_apart_or_compared_is_refused(toy, panels, message) -> None:
    changes = {"figures": {FIG3: {"panels": panels, "votes": ["confidence"]}}}
    assert problems(toy, changes) == [f"figures.{FIG3}.{message}"]


FIG1 = "fig1_overview"


def summary(panels: list[list[str]], *votes: str) -> dict[str, Any]:
    """A study with a summary of these banks."""
    return {"figures": {FIG1: {"panels": panels, "votes": list(votes)}}, "tables": {}}


def test_a_summary_needs_one_candidate_among_the_numbers_of_candidates(toy) -> None:
    changes = summary([[AKORN, ITRSA]], "energy_sum", "confidence")
    assert problems(toy, changes) == []
    message = f"figures.{FIG1}: expected 1 among voting.K, [2, 8]: it shows what no vote gives"
    assert problems(several(toy), changes | {"voting.K": [2, 8]}) == [message]


def test_a_bank_of_one_candidate_may_lack_the_votes_beside_which_it_stands(toy) -> None:
    one = {f"banks.{ITRSA}.candidates": 1, f"banks.{ITRSA}.logit_candidates": 0}
    one |= {f"banks.{ITRSA}.read_at": [], f"banks.{ITRSA}.read_candidates": None}
    for changes in (
        summary([[AKORN, ITRSA]], "energy_sum"),
        {"figures": {FIG3: {"panels": [[AKORN, ITRSA]], "votes": ["energy_sum"]}}, "tables": {}},
    ):
        assert len(problems(toy, changes)) == 1
        assert problems(toy, changes | one) == []


def test_a_panel_against_K_of_one_candidate_alone_is_refused(toy) -> None:
    one = {"tables": {}, f"banks.{AKORN}.candidates": 1, f"banks.{AKORN}.shards": 1}
    message = f"{AKORN}: expected a bank of several candidates in each panel, to vote"
    panels = {"panels": [[ITRSA, AKORN], [AKORN]], "votes": ["confidence"]}
    assert problems(toy, one | {"figures": {FIG3: panels}}) == [f"figures.{FIG3}: {message}"]
    assert problems(toy, one | banks_figure(FIG2, AKORN, "confidence")) == [f"figures.{FIG2}: {message}"]
    assert problems(toy, one | summary([[AKORN]], "confidence")) == []


def test_the_spread_over_inference_seeds_needs_several(toy) -> None:
    message = f"figures.{FIG11}.banks = '{TRANSFORMER}': expected a bank with several inference seeds"
    assert problems(toy, banks_figure(FIG11, TRANSFORMER, "confidence"))[0].startswith(message)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("table1_itrsa.run", "itrsa", "tables.table1_itrsa.run = 'itrsa': expected one of akorn-sudoku, "),
        ("table4_ablation.ffn", "ffn", "'ffn': expected one of akorn-sudoku_hard, "),
        ("table1_itrsa.run", "akorn-sudoku", "run = 'akorn-sudoku': expected a run of itrsa, got akorn"),
        ("table3_akorn.run", "itrsa-sudoku", "run = 'itrsa-sudoku': expected a run of akorn, got itrsa"),
        (
            "table4_ablation.ffn",
            "itrsa_linear_mixing-sudoku_hard",
            "expected a bank of its own for each variant, got itrsa_no_truncation-sudoku_hard, ",
        ),
        (
            "table9",
            {},
            "tables.table9: unknown key; known here: table1_itrsa, table2_hrm, table3_akorn, table4_ablation",
        ),
    ],
)
def test_a_table_of_an_unknown_or_unfit_run_or_bank_is_refused(toy, key, value, message) -> None:
    [problem] = problems(toy, {f"tables.{key}": value})
    assert problem.startswith(f"tables.{key.split('.')[0]}")
    assert message in problem


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"banks.itrsa_ffn-sudoku_hard.T_eval": 5},
            "tables.table4_ablation: expected banks of one T_eval, got 6, 5",
        ),
        (
            {"banks.itrsa_ffn-sudoku_hard.dataset": "sudoku", "banks.itrsa_ffn-sudoku_hard.split": "validation"},
            "tables.table4_ablation: expected banks of one dataset, got sudoku_hard, sudoku",
        ),
        (
            {"banks.itrsa_raw-sudoku_hard.weights": "average"},
            f"tables.table4_ablation.no_ema = 'itrsa_raw-sudoku_hard': expected the run of {ITRSA} with `weights: raw`",
        ),
        (
            {"banks.itrsa_raw-sudoku_hard.run": "itrsa_ffn-sudoku"},
            f"tables.table4_ablation.no_ema = 'itrsa_raw-sudoku_hard': expected the run of {ITRSA} with `weights: raw`",
        ),
    ],
    ids=["steps", "dataset", "weights", "run"],
)
def test_ablations_that_differ_by_something_else_are_refused(toy, changes, message) -> None:
    assert problems(toy, {"figures": {}, **changes})[0] == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"voting.votes": ["log_probability", "random"]},
            "expected 'confidence' among voting.votes, ['log_probability', 'random']",
        ),
        ({"voting.K": [2, 8]}, "expected 1 among voting.K, [2, 8]: it shows what no vote gives"),
    ],
    ids=["votes", "K"],
)
def test_the_table_of_ablations_needs_c_voting_and_one_candidate(toy, changes, message) -> None:
    toy = several(toy)
    assert problems(toy, {"figures": {}, **changes}) == [f"tables.table4_ablation: {message}"]
    assert problems(toy, {"figures": {}, **changes, "tables": {"table1_itrsa": {"run": "itrsa-sudoku"}}}) == []


def test_a_bank_holds_at_least_one_number_of_candidates_and_some_bank_the_largest(toy) -> None:
    toy, changes = several(toy), {"figures": {}, "tables": {}, "voting.K": [4, 8]}
    assert problems(toy, {**changes, f"banks.{AKORN}.candidates": 4}) == []
    [problem] = problems(toy, {**changes, f"banks.{AKORN}.candidates": 3})
    assert problem == f"banks.{AKORN}.candidates = 3: expected at least 4, the least K"
    [problem] = problems(toy, {**changes, "voting.K": [4, 9]})
    assert problem == "voting.K = [4, 9]: expected at most 8, the most candidates that a bank has"


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
    plan = {"T_eval": 6, "candidates": 8, "chunk": 3, "read_at": [1], name: value}
    with pytest.raises(ParameterError) as error:
        build(RolloutPlan, plan, "plan")
    assert error.value.problems == [f"plan.{message}"]


def test_candidates_that_are_read_out_at_no_step_are_refused(toy) -> None:
    message = f"banks.{AKORN}.read_candidates = 4: expected null where read_at lists no step"
    assert problems(toy, {f"banks.{AKORN}.read_candidates": 4}) == [message]


def test_a_model_that_cannot_be_cut_into_steps_is_not_read_out_at_one(toy) -> None:
    layers = {"models.akorn.network.layers": 2}
    assert problems(toy, layers) == []
    message = f"banks.{AKORN}.read_at = [2]: expected [], akorn cannot be cut into steps"
    assert problems(toy, {**layers, f"banks.{AKORN}.read_at": [2]}) == [message]


def test_all_that_is_wrong_with_a_reading_is_said_at_once() -> None:
    with pytest.raises(ParameterError) as error:
        RolloutPlan(T_eval=2, candidates=3, chunk=1, read_at=(3,), read_candidates=4, shards=2, shard=2)
    assert [problem.split(" = ")[0] for problem in error.value.problems] == ["read_at", "read_candidates", "shard"]


@pytest.mark.parametrize("name", ["itrsa", "transformer"])
def test_released_weights_of_an_architecture_that_has_no_format_are_refused(toy, name):
    block = {"file": "f", "sha256": "0" * 64, "format": "released"}
    (problem,) = problems(toy, {"tables": {}, f"runs.{name}-sudoku.imported": block})
    assert problem == (
        f"runs.{name}-sudoku.imported.format = 'released', and {name} is of the architecture {name}: expected "
        "'checkpoint'; released weights can be read of akorn and hrm"
    )
    assert not problems(toy, {"tables": {}, f"runs.{name}-sudoku.imported": block | {"format": "checkpoint"}})


def test_several_candidates_of_a_fixed_start_are_refused(toy):
    found = problems(toy, {"banks.hrm_fixed-sudoku_hard.candidates": 2})
    expected = "candidates = 2: expected 1 from hrm_fixed's fixed start (random_start_anyway: true draws others"
    assert any(problem.startswith(f"banks.hrm_fixed-sudoku_hard.{expected}") for problem in found)
    changes = {"banks.hrm_fixed-sudoku_hard.candidates": 2, "banks.hrm_fixed-sudoku_hard.random_start_anyway": True}
    assert problems(toy, changes | {"figures": {}}) == []
    message = f"figures.{FIG1}.banks = 'hrm_fixed-sudoku_hard': expected a bank that starts as its model was trained to"
    assert message in problems(toy, changes)
    (problem,) = problems(toy, {"figures": {}, f"banks.{AKORN}.random_start_anyway": True})
    assert problem == f"banks.{AKORN}.random_start_anyway = True: expected false, akorn starts at random anyway"


RELEASED = {"file": "f", "sha256": "0" * 64, "format": "released"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"runs.hrm-sudoku.imported": RELEASED},
            "models.hrm.network.initial_state = 'per_token': expected 'fixed' for runs.hrm-sudoku, as every released "
            "HRM was trained from its fixed state",
        ),
        (
            {"runs.hrm_fixed-sudoku.imported": RELEASED, "banks.hrm_fixed-sudoku_hard.weights": "raw"},
            "banks.hrm_fixed-sudoku_hard.weights = 'raw': expected 'average', all that a released HRM file holds",
        ),
        (
            {"runs.akorn-sudoku.imported": RELEASED | {"puzzle_identifier": 1}},
            "runs.akorn-sudoku.imported.puzzle_identifier = 1: expected null but for a released HRM",
        ),
        (
            {"runs.akorn-sudoku.imported": RELEASED, "tables": {"table3_akorn": {"run": "akorn-sudoku"}}},
            "tables.table3_akorn.run = 'akorn-sudoku': expected a run that is trained here; its weights are imported",
        ),
    ],
    ids=["random starts", "raw weights", "a puzzle embedding of AKOrN", "hyper-parameters"],
)
def test_what_a_released_file_cannot_give_is_refused(toy, changes, message):
    assert problems(toy, {"tables": {}, **changes}) == [message]
    allowed = {"runs.hrm_fixed-sudoku.imported": RELEASED | {"puzzle_identifier": 1}, f"banks.{AKORN}.weights": "raw"}
    assert problems(toy, {"tables": {}, "runs.akorn-sudoku.imported": RELEASED, **allowed}) == []


@pytest.mark.parametrize(
    ("run", "model", "message"),
    [
        ("hrm-sudoku", "hrm", "training.segments: expected a block, the architecture is hrm"),
        ("itrsa-sudoku", "itrsa", "training.segments: expected null, the architecture is itrsa"),
    ],
)
def test_hrm_alone_is_trained_by_segments(toy, run, model, message) -> None:
    segments = toy["models"]["hrm"]["training"]["segments"]
    other = {"segments": segments, "detach_step": None} if model == "itrsa" else {"segments": None}
    optimizer = "adam_atan2" if model == "itrsa" else "adamw"
    changes = {f"models.{model}.training.{name}": value for name, value in other.items()}
    found = problems(toy, {**changes, f"models.{model}.training.optimizer.name": optimizer})
    assert f"runs.{run}: {message}" in found
