"""The workflow's own files keep to their form, and dvc.yaml describes the same outputs as the rules."""

import re
from pathlib import Path

import pytest
import yaml

from cvoting.summary import CURVES

ROOT = Path(__file__).parents[2]
RULE_FILES = sorted((ROOT / "workflow/rules").glob("*.smk"))
DVC = yaml.safe_load((ROOT / "dvc.yaml").read_text())


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.name)
def test_a_rule_file_opens_with_its_contract(path):
    opening = path.read_text().split("\n\n")[0]
    assert re.search(r"^# REQUIRED INPUTS: ", opening, flags=re.MULTILINE)
    assert re.search(r"^# OUTPUTS: ", opening, flags=re.MULTILINE)


def test_the_snakefile_is_a_table_of_contents():
    assert len((ROOT / "Snakefile").read_text().splitlines()) <= 40
    assert len((ROOT / "workflow/rules/common.smk").read_text().splitlines()) <= 120


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.name)
def test_every_rule_with_a_command_says_what_it_does_and_leaves_log_and_benchmark(path):
    for rule in re.split(r"^ *rule\b", path.read_text(), flags=re.MULTILINE)[1:]:
        directives = set(re.findall(r"^ +(\w+):", rule, flags=re.MULTILINE))
        if "shell" in directives:
            assert {"message", "log", "benchmark", "conda"} <= directives, rule


def test_dvc_persists_every_output_because_snakemake_decides_what_is_made_again():
    for name, stage in DVC["stages"].items():
        for output in [*stage["outs"], *stage.get("metrics", [])]:
            assert list(output.values()) == [{"persist": True}], (name, output)


def test_dvc_runs_the_phase_of_the_same_name():
    commands = {name: stage["cmd"].removeprefix("${snakemake} ") for name, stage in DVC["stages"].items()}
    phases = ("data", "audit", "strata", "train", "rollouts", "voting", "calibration", "figures")
    assert commands == {name: f"stage_{name}" for name in phases}


def test_dvc_stores_the_copies_of_every_figure_of_the_study():
    figures = yaml.safe_load((ROOT / "params.yaml").read_text())["figures"]
    stored = {path for output in DVC["stages"]["figures"]["outs"] for path in output if path.startswith("figures/")}
    assert stored == {f"figures/{figure}.{format}" for figure in figures for format in ("pdf", "png")}


def test_dvc_draws_every_file_of_curves_by_columns_that_it_has():
    drawn = set()
    for about in (about for plot in DVC["plots"] for about in plot.values()):
        assert (ROOT / f".dvc/plots/{about['template']}.json").is_file()
        ((path, column),) = about["y"].items()
        drawn.add(Path(path).stem)
        assert {about["x"], column} <= set(CURVES[Path(path).stem])
    assert drawn == set(CURVES)


def test_every_figure_has_a_caption():
    for figure in yaml.safe_load((ROOT / "params.yaml").read_text())["figures"]:
        assert (ROOT / f"workflow/report/{figure}.rst").read_text().strip()
