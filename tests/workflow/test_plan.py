"""What Snakemake plans, and what it refuses before any job."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
STUDIES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("params/*.yaml"))


def refusal(project, *words):
    """What Snakemake says when it stops before the first job."""
    said = project.snakemake("--dry-run", *words, check=False)
    assert "Error" in said or "Exception" in said
    assert "Job stats" not in said
    assert "Traceback (most recent call last)" not in said
    return said


def test_the_laptop_study_takes_the_expected_jobs(elsewhere):
    assert elsewhere.plan() == [
        "auditing the puzzles of sudoku",
        "auditing the puzzles of sudoku_extreme",
        "auditing the puzzles of sudoku_hard",
        "copying fig2_akorn_voting to figures/",
        "drawing fig2_akorn_voting",
        "making the puzzles of sudoku",
        "making the puzzles of sudoku_extreme",
        "making the puzzles of sudoku_hard",
        "rolling out akorn-sudoku_extreme: training seed 0, inference seed 0, shard 0",
        "rolling out akorn-sudoku_hard: training seed 0, inference seed 0, shard 0",
        "training akorn-sudoku with seed 0",
        "training akorn-sudoku_extreme with seed 0",
        "voting in akorn-sudoku_extreme",
        "voting in akorn-sudoku_hard",
    ]


@pytest.mark.parametrize("study", STUDIES)
def test_a_complete_configfile_takes_the_place_of_params_yaml(elsewhere, study):
    said = elsewhere.snakemake("--dry-run", "--configfile", str(ROOT / study))
    content = yaml.safe_load((ROOT / study).read_text())
    assert set(re.findall(r"(?:data|results)/([a-z]+)/", said.replace("data/raw", ""))) == {content["study"]}
    trained = {line.split()[1] for line in elsewhere.jobs(said) if line.startswith("training")}
    used = {content["banks"][bank]["run"] for bank in content["banks"]}
    assert trained == used
    assert not [line for line in elsewhere.jobs(said) if line.startswith("copying")]


def test_a_configfile_without_a_study_changes_single_keys(elsewhere):
    (elsewhere.folder / "change.yaml").write_text("models: {akorn: {training: {optimizer: {lr: 0.5}}}}\n")
    said = elsewhere.snakemake("--dry-run", "--printshellcmds", "--configfile", "change.yaml")
    assert len(elsewhere.jobs(said)) == 14
    assert '"lr":0.5' in said
    assert '"lr":0.002' not in said


def test_every_phase_is_a_target(elsewhere):
    targets = set(elsewhere.snakemake("--list-target-rules").split())
    phases = ("data", "audit", "train", "rollouts", "voting", "figures")
    assert targets >= {"all", *(f"stage_{phase}" for phase in phases)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("models: {akorn: {training: {bacth: 100}}}", "models.akorn.training.bacth: unknown key"),
        ("models: {akorn: {training: {optimizer: {lr: 1e-3}}}}", "models.akorn.training.optimizer.lr = '1e-3'"),
        ("models: {akorn: {network: {heads: 3}}}", "heads = 3: expected"),
        ("voting: {K: [1, 256]}", "voting.K = [1, 256]: expected at most 128"),
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
    for target in ("checkpoints/akorn-sudoku/seed7.safetensors", "voting/other.csv"):
        assert "MissingRuleException" in refusal(elsewhere, f"results/laptop/{target}")


def test_the_workflow_lints_clean(elsewhere):
    assert "your workflow is in a good condition" in elsewhere.snakemake("--lint")
