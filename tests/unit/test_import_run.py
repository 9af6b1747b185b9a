"""The checkpoint of an imported run: what a study says of it must be what the file holds."""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from cvoting.__main__ import main
from cvoting.checkpoint import Checkpoint, CheckpointError
from cvoting.import_run import import_run
from cvoting.models.akorn import AKOrN
from cvoting.models.akorn_released import released_name
from cvoting.models.hrm import HRM
from cvoting.models.hrm_released_weights import to_released
from cvoting.models.released_registry import FORMATS
from cvoting.models.released_settings import SettingsError
from cvoting.params.core import ParameterError, build
from cvoting.params.hrm import HrmParams
from cvoting.params.study import Study
from cvoting.recipes import import_run as recipe_of

RUN = "akorn-sudoku"


@pytest.fixture
def toy(repository) -> dict[str, Any]:
    """The toy study without tables of hyper-parameters: an imported run has none."""
    return yaml.safe_load((repository / "params/toy.yaml").read_text()) | {"tables": {}}


@pytest.fixture
def model(toy) -> AKOrN:
    study = build(Study, toy)
    model = AKOrN.for_task(study.models["akorn"].network, study.datasets["sudoku"].task)
    model.initialise(torch.Generator().manual_seed(0))
    return model


@pytest.fixture
def released(model, tmp_path) -> Path:
    torch.save({released_name(name): weight for name, weight in model.state_dict().items()}, tmp_path / "w.pth")
    return tmp_path / "w.pth"


def recipe(toy: dict[str, Any], path: Path, form: str = "released") -> dict[str, Any]:
    """The recipe of the import of a file."""
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    toy["runs"][RUN]["imported"] = {"file": str(path), "sha256": sha256, "format": form}
    return json.loads(recipe_of(build(Study, toy), RUN, 0))


def test_a_released_file_becomes_the_checkpoint_of_the_run(toy, model, released):
    checkpoint = import_run(recipe(toy, released), released, FORMATS["akorn"])[0]
    assert {n: checkpoint.about[n] for n in ("run", "model", "dataset")} == {
        "run": RUN, "model": "akorn", "dataset": "sudoku",
    }  # fmt: skip
    assert checkpoint.about["training"] == {"T_train": 3}
    assert checkpoint.about["network"]["omega_initial"] == 0.5
    for name, weight in model.state_dict().items():
        assert torch.equal(checkpoint.average[name], weight)


def test_a_checkpoint_becomes_that_of_the_run_and_keeps_where_it_comes_from(toy, released, tmp_path):
    checkpoint = import_run(recipe(toy, released), released, FORMATS["akorn"])[0]
    Checkpoint(checkpoint.about | {"run": "other"}, checkpoint.average, checkpoint.raw).save(tmp_path / "c")
    again = import_run(recipe(toy, tmp_path / "c", "checkpoint"), tmp_path / "c", None)[0]
    assert again.about["run"] == RUN
    assert again.about["imported"]["file"] == "w.pth"
    assert again.about["imported"]["checkpoint"] == "c"


def test_a_model_that_is_not_the_studys_is_refused(toy, released, tmp_path):
    checkpoint = import_run(recipe(toy, released), released, FORMATS["akorn"])[0]
    checkpoint.save(tmp_path / "c")
    toy["models"]["akorn"]["network"]["heads"] = 4
    with pytest.raises(SettingsError, match=r"network.heads = 4 \(the study\): the weights are of network.heads = 2"):
        import_run(recipe(toy, released), released, FORMATS["akorn"])
    message = f"another model than that of runs.{RUN}:\n  - network.heads: 2 in the file, 4 in the study"
    with pytest.raises(CheckpointError, match=re.escape(message)):
        import_run(recipe(toy, tmp_path / "c", "checkpoint"), tmp_path / "c", None)


@pytest.mark.parametrize("beside", ["L: 7\nT: 9\n", "gamma: 0.25\n", "not: [yaml"])
def test_a_configuration_beside_the_file_changes_nothing(toy, released, tmp_path, beside):
    told = recipe(toy, released)
    import_run(told, released, FORMATS["akorn"])[0].save(tmp_path / "without")
    (tmp_path / "all_config.yaml").write_text(beside)
    import_run(told, released, FORMATS["akorn"])[0].save(tmp_path / "with")
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()


def test_the_job_is_told_what_it_uses_and_prints_what_it_found(toy, released, tmp_path, monkeypatch, capsys):
    told = recipe(toy, released)
    assert "training" not in told
    assert told["T_train"] == 3
    arguments = ["import-run", json.dumps(told), f"--file={released}", f"--out={tmp_path / 'c'}", "--code=0"]
    monkeypatch.setattr(sys, "argv", ["cvoting", *arguments])
    assert main() == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"w.pth: SHA-256 {told['imported']['sha256']}"
    assert "network.heads = 2 (the weights)" in printed
    assert "training.T_train = 3 (the study)" in printed
    # A checkpoint of ours says itself how it was trained.
    assert "T_train" not in recipe(toy, tmp_path / "c", "checkpoint")


def test_a_file_of_other_contents_and_a_missing_one_are_refused(toy, released):
    told = recipe(toy, released)
    released.write_bytes(b"else")
    with pytest.raises(
        CheckpointError, match=rf"SHA-256 \w+, expected \w+: it is another file; .* runs.{RUN}.imported"
    ):
        import_run(told, released, FORMATS["akorn"])
    released.unlink()
    with pytest.raises(CheckpointError, match=r"not a readable file .*: put the run's file there"):
        import_run(told, released, FORMATS["akorn"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"imported": {"file": "f", "sha256": "abc"}}, "imported.sha256 = 'abc': expected 64 hex digits in lower case"),
        (
            {"imported": {"file": "f", "sha256": "0" * 64}, "training_seeds": [0, 1]},
            f"runs.{RUN}.training_seeds = [0, 1]: expected one, the imported file is of one training",
        ),
        ({"imported": {"file": "f", "sha256": "0" * 64, "format": "hrm"}}, "expected one of 'checkpoint', 'released'"),
    ],
)
def test_what_a_study_cannot_say_of_an_imported_run_is_refused(toy, changes, message):
    toy["runs"][RUN] |= changes
    with pytest.raises(ParameterError, match=re.escape(message)):
        build(Study, toy)


def test_an_imported_run_needs_no_training_puzzles(toy):
    toy["runs"][RUN] |= {"dataset": "sudoku_hard", "imported": {"file": "f", "sha256": "0" * 64}}
    assert build(Study, toy).runs[RUN].imported is not None


@pytest.mark.parametrize("dataset", ["sudoku", "maze_hard"])
def test_a_released_hrm_becomes_the_checkpoint_of_a_run_on_boards_or_mazes(toy, tmp_path, dataset):
    sizes = {"channels": 16, "heads": 2, "expansion": 1.0, "H_cycles": 2, "L_cycles": 3, "H_layers": 1, "L_layers": 2}
    network = {"architecture": "hrm", **sizes, "positions": "rope", "prefix": True, "initial_state": "fixed"}
    model = HRM.for_task(build(HrmParams, network), build(Study, toy).datasets[dataset].task)
    model.initialise(torch.Generator().manual_seed(0))
    toy["models"]["hrm_file"] = {"network": network, "training": toy["models"]["itrsa"]["training"]}
    torch.save(to_released(model.state_dict()), tmp_path / "step_9")
    sha256 = hashlib.sha256((tmp_path / "step_9").read_bytes()).hexdigest()
    block = {"file": "step_9", "sha256": sha256, "format": "released"}
    toy["runs"]["hrm-file"] = {"model": "hrm_file", "dataset": dataset, "training_seeds": [0], "imported": block}
    told = json.loads(recipe_of(build(Study, toy), "hrm-file", 0))
    checkpoint = import_run(told, tmp_path / "step_9", FORMATS["hrm"])[0]
    assert checkpoint.about["initial_state"] == "fixed"
    for name, weight in model.state_dict().items():
        assert torch.equal(checkpoint.average[name], weight), name
    several = to_released(model.state_dict())
    several["inner.puzzle_emb.weights"] = torch.arange(3.0)[:, None].expand(3, 16)
    torch.save(several, tmp_path / "step_9")
    block |= {"sha256": hashlib.sha256((tmp_path / "step_9").read_bytes()).hexdigest(), "puzzle_identifier": 2}
    told = json.loads(recipe_of(build(Study, toy), "hrm-file", 0))
    chosen = import_run(told, tmp_path / "step_9", FORMATS["hrm"])[0]
    assert torch.equal(chosen.average["prefix"], torch.full((16,), 2.0))
    told["network"]["initial_state"] = "per_token"
    with pytest.raises(
        SettingsError, match=r"initial_state = 'per_token' \(the study\): the weights are of .* = 'fixed'"
    ):
        import_run(told, tmp_path / "step_9", FORMATS["hrm"])
