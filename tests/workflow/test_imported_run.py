"""An imported file stands in params.yaml where a training can: from the file to votes, without a training."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml
from test_closures import PASSING_ON, PRINT_MODULES

from cvoting import recipes
from cvoting.checkpoint import Checkpoint
from cvoting.codehash import import_closure
from cvoting.models.akorn import AKOrN
from cvoting.models.akorn_released import released_name
from cvoting.params.core import build
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


def test_another_file_than_the_study_names_is_refused(project):
    released = project.folder / "akorn.pth"
    released.write_bytes(released.read_bytes() + b"\0")
    shown = project.snakemake(TABLE, check=False)
    assert re.search(r"cvoting import-run: akorn.pth: SHA-256 \w{64}, expected \w{64}: it is another file", shown)
    assert not (project.folder / TABLE).exists()


@pytest.mark.parametrize("form", ["released", "checkpoint"])
def test_every_module_an_import_runs_is_in_the_closure_its_rule_tracks(project, tmp_path, form):
    if form == "checkpoint":
        project.snakemake("results/toy/checkpoints/akorn-sudoku/seed0.safetensors")
        path = project.folder / "results/toy/checkpoints/akorn-sudoku/seed0.safetensors"
        block = {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        project.edit_params(block, "runs", "akorn-sudoku", "imported")
    study = build(Study, yaml.safe_load((project.folder / "params.yaml").read_text()))
    imported = study.runs["akorn-sudoku"].imported
    words = [recipes.import_run(study, "akorn-sudoku", 0), f"--file={project.folder / imported.file}", "--code=x"]
    command = [sys.executable, "-c", PRINT_MODULES, "import-run", *words, f"--out={tmp_path}/c"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.splitlines()[-1].split()) - {*PASSING_ON}
    closure = import_closure(ROOT / "src", recipes.import_run_modules(study, "akorn-sudoku"))
    assert loaded - (import_closure(ROOT / "src", REGISTRIES) - closure) <= closure
    assert closure <= loaded
    assert json.loads(words[0])["imported"] == {"sha256": imported.sha256, "format": form}
