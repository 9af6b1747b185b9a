"""An imported file stands in params.yaml where a training can: from the file to votes, without a training."""

import hashlib
import json
import re
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml
from loaded_modules import PASSING_ON, children

from cvoting import recipes
from cvoting.checkpoint import Checkpoint
from cvoting.codehash import import_closure
from cvoting.models.akorn import AKOrN
from cvoting.models.akorn_released import released_name
from cvoting.models.hrm import HRM
from cvoting.models.hrm_released_weights import to_released
from cvoting.params.core import build, plain
from cvoting.params.hrm import HrmParams
from cvoting.params.study import Study

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TOY = build(Study, yaml.safe_load((ROOT / "params/toy.yaml").read_text()))
TABLE = "results/toy/voting/akorn-sudoku_hard.csv"
REGISTRIES = ["cvoting.models.registry", "cvoting.models.released_registry", "cvoting.tasks.registry"]


def released_file(path: Path) -> str:
    """A file as the released code would have saved it, of the toy study's AKOrN; gives its SHA-256."""
    model = AKOrN.for_task(TOY.models["akorn"].network, TOY.datasets["sudoku"].task)
    model.initialise(torch.Generator().manual_seed(0))
    torch.save({released_name(name): weight for name, weight in model.state_dict().items()}, path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def project(copy_project, tmp_path):
    """The toy study, whose AKOrN comes from a file."""
    project = copy_project(tmp_path / "project")
    block = {"file": "akorn.pth", "sha256": released_file(project.folder / "akorn.pth"), "format": "released"}
    project.edit_params(block, "runs", "akorn-sudoku", "imported")
    project.edit_params({}, "tables")  # an imported run has no hyper-parameters to show
    return project


def test_an_imported_run_is_rolled_out_and_voted_on_without_a_training(project):
    plan = project.plan(TABLE)
    assert "importing akorn-sudoku from akorn.pth" in plan
    assert not any(job.startswith("training") for job in plan)
    project.snakemake(TABLE)
    assert set(pd.read_csv(project.folder / TABLE)["K"]) == {1, 2, 4, 8}
    checkpoint = Checkpoint.load(project.folder / "results/toy/checkpoints/akorn-sudoku/seed0.safetensors")
    assert checkpoint.about["run"] == "akorn-sudoku"
    assert checkpoint.about["dataset"] == "sudoku"
    assert checkpoint.about["imported"]["file"] == "akorn.pth"
    assert project.plan(TABLE) == []

    # A file of ours can stand there as well; what is voted on stays the same.
    first = (project.folder / TABLE).read_bytes()
    path = project.folder / "mine.safetensors"
    checkpoint.save(path)
    block = {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    project.edit_params(block, "runs", "akorn-sudoku", "imported")
    assert "importing akorn-sudoku from mine.safetensors" in project.plan(TABLE)
    project.snakemake(TABLE)
    assert (project.folder / TABLE).read_bytes() == first


HRM_RUN, HRM_TABLE = "hrm_released-sudoku", "results/toy/voting/hrm_released-sudoku_hard.csv"


@pytest.fixture
def hrm_project(copy_project, tmp_path):
    """The toy study with a run of a released HRM, and a bank of its one candidate."""
    project = copy_project(tmp_path / "project")
    sizes = {"channels": 16, "heads": 2, "expansion": 1.0, "H_cycles": 2, "L_cycles": 2, "H_layers": 1, "L_layers": 1}
    network = {"architecture": "hrm", **sizes, "positions": "rope", "prefix": True, "initial_state": "fixed"}
    model = HRM.for_task(build(HrmParams, network), TOY.datasets["sudoku"].task)
    model.initialise(torch.Generator().manual_seed(0))
    path = project.folder / "step_9"
    torch.save({f"_orig_mod.model.{n}": w for n, w in to_released(model.state_dict()).items()}, path)
    block = {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "format": "released"}
    run = {"model": "hrm_released", "dataset": "sudoku", "training_seeds": [0], "imported": block}
    bank = {"T_eval": 2, "candidates": 1, "inference_seeds": [0], "chunk": 8, "shards": 1}
    project.edit_params({"network": network, "training": plain(TOY.models["itrsa"].training)}, "models", "hrm_released")
    project.edit_params(run, "runs", HRM_RUN)
    project.edit_params({"run": HRM_RUN, "dataset": "sudoku_hard", **bank}, "banks", "hrm_released-sudoku_hard")
    return project


def test_a_released_hrm_is_imported_rolled_out_and_voted_on(hrm_project):
    hrm_project.snakemake(HRM_TABLE)
    assert set(pd.read_csv(hrm_project.folder / HRM_TABLE)["K"]) == {1}
    about = Checkpoint.load(hrm_project.folder / f"results/toy/checkpoints/{HRM_RUN}/seed0.safetensors").about
    assert about["initial_state"] == "fixed"
    assert about["imported"]["format"] == "hrm"
    check_closure(hrm_project, HRM_RUN)


def test_another_file_than_the_study_names_is_refused(project):
    released = project.folder / "akorn.pth"
    released.write_bytes(released.read_bytes() + b"\0")
    shown = project.snakemake(TABLE, check=False)
    assert re.search(r"cvoting import-run: akorn.pth: SHA-256 \w{64}, expected \w{64}: it is another file", shown)
    assert not (project.folder / TABLE).exists()


@pytest.mark.parametrize("form", ["released", "checkpoint"])
def test_every_module_an_import_runs_is_in_the_closure_its_rule_tracks(project, form):
    if form == "checkpoint":
        project.snakemake("results/toy/checkpoints/akorn-sudoku/seed0.safetensors")
        path = project.folder / "results/toy/checkpoints/akorn-sudoku/seed0.safetensors"
        block = {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        project.edit_params(block, "runs", "akorn-sudoku", "imported")
    check_closure(project, "akorn-sudoku")


def check_closure(project, name: str) -> None:
    """The modules that the import of a run loads are those that its rule tracks."""
    study = build(Study, yaml.safe_load((project.folder / "params.yaml").read_text()))
    imported = study.runs[name].imported
    words = [recipes.import_run(study, name, 0), f"--file={project.folder / imported.file}", "--code=x"]
    with children() as modules_of:
        loaded = modules_of(["import-run", *words, f"--out={project.folder}/c"]) - {*PASSING_ON}
    closure = import_closure(ROOT / "src", recipes.import_run_modules(study, name))
    assert loaded - (import_closure(ROOT / "src", REGISTRIES) - closure) <= closure
    assert closure <= loaded
    assert json.loads(words[0])["imported"] == {"sha256": imported.sha256, "format": imported.format}
