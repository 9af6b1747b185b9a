"""What a user may expect of Snakemake, DVC and git together, on the toy study."""

import re
from pathlib import Path

import pytest
import yaml
from study_jobs import StudyJobs

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

TOY = StudyJobs(ROOT / "params/toy.yaml")
AKORN_RUNS = TOY.runs_of("akorn")
AKORN_BANKS = TOY.banks_of(AKORN_RUNS)
HRM_RUNS = [*TOY.runs_of("hrm"), *TOY.runs_of("hrm_fixed")]
HRM_BANKS = TOY.banks_of(HRM_RUNS)
FIG2 = ["copying fig2_akorn_voting to figures/", "drawing fig2_akorn_voting"]


def is_clean(project):
    """Whether Snakemake has nothing to do, DVC nothing to say, and git no changes."""
    said = project.snakemake("--dry-run"), project.dvc("status"), project.git("status", "--short")
    assert "Nothing to be done" in said[0], said[0]
    assert said[1].strip() == "Data and pipelines are up to date."
    assert said[2] == ""
    return True


def test_dvc_repro_after_snakemake_runs_no_job_and_both_are_clean(built):
    printed = (built.folder / "first-repro.txt").read_text()
    assert len(re.findall("Running stage", printed)) == 7
    logs = sorted((built.folder / ".snakemake/log").glob("*.log"))
    assert [bool(re.search(r"^Job \d+:", log.read_text(), flags=re.MULTILINE)) for log in logs] == [True] + 7 * [False]
    assert is_clean(built)


@pytest.mark.parametrize("link", ["copy", "hardlink", "symlink"])
def test_a_clone_with_everything_pulled_is_clean(built, tmp_path, link):
    clone = built.clone(tmp_path / "clone", link=link)
    assert clone.outputs() == built.outputs()
    assert is_clean(clone)


def test_a_training_parameter_of_one_model_concerns_its_training_and_what_follows(edited):
    edited.edit_params(0.004, "models", "akorn", "training", "optimizer", "lr")
    plan = edited.plan()
    rollouts = TOY.rollouts(AKORN_BANKS) + TOY.from_banks(AKORN_BANKS)
    assert plan == sorted([*TOY.training(AKORN_RUNS), *rollouts, *TOY.tables([], AKORN_RUNS)])
    assert {"training akorn-maze_hard with seed 0", "drawing fig3_itrsa_voting", "making table3_akorn"} <= set(plan)
    assert not {"drawing fig8_itrsa_test_time_scaling", "making table4_ablation"} & set(plan)


def test_a_voting_parameter_concerns_no_rollout(edited):
    edited.edit_params(0.9, "voting", "level")
    assert edited.plan() == sorted(TOY.from_votes())


@pytest.mark.parametrize(
    ("key", "value", "tables", "figures"),
    [
        ("bins", 7, ["calibration of"], ["fig5_calibration", "extra_board_calibration"]),
        ("candidates", 3, ["what confidence tells in"], ["extra_confidence_discrimination"]),
        ("shown_puzzles", 3, ["confidence against steps in"], ["fig6_confidence_histograms", "fig7_confidence_steps"]),
    ],
)
def test_a_parameter_of_confidence_concerns_the_tables_and_figures_that_use_it(edited, key, value, tables, figures):
    edited.edit_params(value, "calibration", key)
    made = [job for job in TOY.confidence() if job.startswith(*tables)]
    assert edited.plan() == sorted([*made, *(job for job in TOY.figures() if job.split()[1] in figures)])


@pytest.mark.parametrize("file", ["training/loop.py", "rollouts.py", "seeding.py", "__init__.py"])
def test_a_comment_or_docstring_concerns_no_job(edited, file):
    path = edited.folder / "src/cvoting" / file
    path.write_text(f'"""Another docstring."""\n\n# A comment.\n{path.read_text().split(chr(34) * 3, 2)[2]}')
    assert edited.plan() == []


@pytest.mark.parametrize(
    ("file", "concerned"),
    [
        ("__main__.py", []),
        ("tables.py", TOY.from_votes()),
        ("calibration.py", [job for job in TOY.from_banks() if "calibration" in job]),
        ("figures/fig2_akorn_voting.py", FIG2),
        ("rollouts.py", [*TOY.rollouts(), *TOY.from_banks()]),
        ("training/loop.py", [*TOY.training(), *TOY.rollouts(), *TOY.from_banks()]),
        ("training/act.py", [*TOY.training(HRM_RUNS), *TOY.rollouts(HRM_BANKS), *TOY.from_banks(HRM_BANKS)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_statement_concerns_the_rules_whose_job_imports_it(edited, file, concerned):
    path = edited.folder / "src/cvoting" / file
    path.write_text(path.read_text() + "\n\nANOTHER_STATEMENT = True\n")
    assert edited.plan() == sorted(concerned)


def test_order_and_comments_in_params_yaml_concern_no_job(edited):
    path = edited.folder / "params.yaml"
    path.write_text("# A comment.\n" + yaml.safe_dump(yaml.safe_load(path.read_text()), sort_keys=True))
    assert edited.plan() == []


def test_a_published_value_concerns_figures_and_the_table_of_values_alone(edited):
    path = edited.folder / "reference/published.csv"
    path.write_text(path.read_text() + "\n")
    assert edited.plan() == sorted([*TOY.figures(), "making table4_ablation"])


def test_with_only_a_figure_pulled_a_parameter_of_the_step_before_is_still_noticed(built, tmp_path):
    figure = "results/toy/figures/fig2_akorn_voting.pdf"
    clone = built.clone(tmp_path / "clone", figure)
    assert [name for name in clone.outputs() if name.startswith("results/")] == [figure]
    assert clone.plan(figure) == []
    clone.edit_params(0.9, "voting", "level")
    assert "drawing fig2_akorn_voting" in clone.plan(figure)


def test_dvc_repro_makes_what_an_edit_concerns_and_both_versions_can_be_checked_out(clone):
    first = clone.outputs()
    clone.edit_params(16, "models", "akorn_n2", "network", "channels")
    clone.dvc("repro", "--quiet")
    assert "Nothing to be done" in clone.snakemake()
    changed = {name for name, digest in clone.outputs().items() if first[name] != digest}
    assert {name for name in changed if "akorn-sudoku" in name} == set()
    assert any("akorn_n2-sudoku" in name for name in changed)
    clone.git("commit", "--quiet", "--all", "--message", "v2")
    second = clone.outputs()
    for commit, outputs in (("v1", first), ("-", second)):
        clone.git("checkout", "--quiet", commit)
        clone.dvc("checkout", "--quiet")
        assert clone.outputs() == outputs
        assert is_clean(clone)


def test_an_older_result_beside_newer_ones_is_noticed(clone):
    clone.edit_params(0.004, "models", "akorn", "training", "optimizer", "lr")
    clone.snakemake("stage_rollouts")
    clone.git("checkout", "--quiet", "v1", "--", ".")
    clone.dvc("checkout", "--quiet", "--force", "results/toy/checkpoints")
    assert clone.plan() == sorted([*TOY.rollouts(AKORN_BANKS), *TOY.from_banks(AKORN_BANKS)])


def test_without_git_a_copy_works_too(built, tmp_path):
    unpacked = built.unpack(tmp_path / "unpacked")
    unpacked.dvc("config", "--local", "core.no_scm", "true")
    unpacked.dvc("pull", "--quiet")
    assert "Nothing to be done" in unpacked.snakemake("--dry-run")
    assert unpacked.dvc("status").strip() == "Data and pipelines are up to date."
