"""What Snakemake plans, and what it refuses before any job."""

import re
from pathlib import Path

import pytest
from study_jobs import StudyJobs

ROOT = Path(__file__).parents[2]
STUDIES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("params/*.yaml"))


def refusal(project, *words):
    """What Snakemake says when it stops before the first job."""
    said = project.snakemake("--dry-run", *words, check=False)
    assert "Error" in said or "Exception" in said
    assert "Job stats" not in said
    assert "Traceback (most recent call last)" not in said
    return said


def test_the_laptop_study_takes_the_jobs_that_its_parameters_ask_for(elsewhere):
    plan = elsewhere.plan()
    assert plan == StudyJobs(ROOT / "params.yaml").all()
    assert {
        "auditing the puzzles of sudoku_extreme",
        "copying fig3_itrsa_voting to figures/",
        "drawing fig2_akorn_voting",
        "making table4_ablation",
        "making the puzzles of maze_hard",
        "summarising the study",
        "rolling out itrsa-maze_hard: training seed 0, inference seed 4, shard 0",
        "training transformer-sudoku with seed 0",
        "voting in akorn-sudoku_hard",
        "accuracy against cost in itrsa-maze_hard",
        "voting in itrsa-maze_hard at the steps it lists",
    } <= set(plan)


@pytest.mark.parametrize("study", STUDIES)
def test_a_complete_configfile_takes_the_place_of_params_yaml(elsewhere, study):
    said = elsewhere.snakemake("--dry-run", "--configfile", str(ROOT / study))
    expected = StudyJobs(ROOT / study, copies=False)
    assert set(re.findall(r"(?:data|results)/([a-z_]+)/", said.replace("data/raw", ""))) == {expected.study["study"]}
    # Rollouts are shared: a bank is rolled out once, however many figures show it.
    assert [line for line in elsewhere.jobs(said) if not line.startswith("fetching")] == expected.all()


def test_a_configfile_without_a_study_changes_single_keys(elsewhere):
    (elsewhere.folder / "change.yaml").write_text("models: {akorn: {training: {optimizer: {lr: 0.5}}}}\n")
    said = elsewhere.snakemake("--dry-run", "--printshellcmds", "--configfile", "change.yaml")
    assert elsewhere.jobs(said) == StudyJobs(ROOT / "params.yaml").all()
    of_akorn = [line for line in said.splitlines() if "cvoting train" in line and '"model":"akorn"' in line]
    assert of_akorn
    assert all('"lr":0.5' in line for line in of_akorn)


def test_every_phase_is_a_target(elsewhere):
    targets = set(elsewhere.snakemake("--list-target-rules").split())
    phases = ("data", "audit", "strata", "train", "rollouts", "voting", "calibration", "figures")
    assert targets >= {"all", *(f"stage_{phase}" for phase in phases)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("models: {akorn: {training: {bacth: 100}}}", "models.akorn.training.bacth: unknown key"),
        ("models: {akorn: {training: {optimizer: {lr: 1e-3}}}}", "models.akorn.training.optimizer.lr = '1e-3'"),
        ("models: {akorn: {network: {heads: 3}}}", "heads = 3: expected"),
        ("voting: {K: [1, 999]}", "voting.K = [1, 999]: expected at most "),
    ],
    ids=["unknown key", "text for a number", "heads", "K"],
)
def test_bad_parameters_stop_before_any_job_and_name_the_key(elsewhere, change, message):
    (elsewhere.folder / "change.yaml").write_text(change)
    assert message in refusal(elsewhere, "--configfile", "change.yaml")


def test_figures_of_another_study_are_refused_with_the_place_where_they_are(elsewhere):
    said = refusal(elsewhere, "figures/fig2_akorn_voting.pdf", "--configfile", str(ROOT / "params/toy.yaml"))
    assert "this is the study 'toy': ask for results/toy/figures/fig2_akorn_voting.pdf" in said


def test_values_that_the_study_does_not_have_are_no_targets(elsewhere):
    others = ("checkpoints/akorn-sudoku/seed7.safetensors", "voting/other.csv", "voting/akorn-sudoku_hard.steps.csv")
    for target in others:
        assert "MissingRuleException" in refusal(elsewhere, f"results/laptop/{target}")


def test_the_workflow_lints_clean(elsewhere):
    assert "your workflow is in a good condition" in elsewhere.snakemake("--lint")
