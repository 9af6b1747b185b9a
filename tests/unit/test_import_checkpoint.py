"""Files of released code become checkpoints; what does not fit is listed at once, and no code in a file runs."""

import os
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from cvoting.checkpoint import Checkpoint, CheckpointError
from cvoting.import_checkpoint import import_checkpoint
from cvoting.models.akorn import AKOrN
from cvoting.models.akorn_released import UNUSED, released_name
from cvoting.models.released import WeightsMismatch
from cvoting.models.released_file import ReleasedFileError, read_config
from cvoting.models.released_registry import FORMATS
from cvoting.models.released_settings import Settings, SettingsError
from cvoting.params.akorn import AkornParams
from cvoting.params.core import ParameterError, build, plain
from cvoting.params.imported import RELEASED
from cvoting.tasks.sudoku import Sudoku

ABOUT = {"run": "r", "model": "m", "training_seed": 3}
NETWORK = {
    "architecture": "akorn",
    "channels": 16,
    "oscillator_dim": 2,
    "heads": 2,
    "layers": 2,
    "step_size": 1.0,
    "omega": "per_pair",
    "omega_initial": 0.5,
    "omega_learnable": True,
    "random_cells": "free",
}


def model_of(network: dict, box: tuple[int, int] = (2, 2), seed: int = 0) -> AKOrN:
    """A model with random weights."""
    model = AKOrN.for_task(build(AkornParams, network), Sudoku(name="sudoku", box=box))
    model.initialise(torch.Generator().manual_seed(seed))
    return model


def released(model: AKOrN) -> dict[str, torch.Tensor]:
    """The state dict that the released code would have saved."""
    weights = {released_name(name): weight for name, weight in model.state_dict().items()}
    kernels = {
        n: w[..., None, None] for n, w in weights.items() if w.ndim == 2 and re.search("[cvo]\\.weight|fn|out", n)
    }
    return weights | kernels | {UNUSED: torch.zeros(1)}


@pytest.fixture
def weights() -> dict[str, torch.Tensor]:
    return released(model_of(NETWORK))


def imported(weights: object, path: Path, **flags: object) -> tuple[Checkpoint, list[str]]:
    """Save and import."""
    torch.save(weights, path)
    return import_checkpoint("akorn", FORMATS["akorn"], path, Settings(flags, read_config(path)), ABOUT)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"omega": "global", "layers": 1},
        {"omega": "none", "heads": 4},
        {"oscillator_dim": 4, "channels": 8, "heads": 1},
    ],
)
@pytest.mark.parametrize("box", [(2, 2), (2, 3)])
def test_sizes_come_from_the_weights(tmp_path, changes, box):
    model = model_of(NETWORK | changes, box)
    checkpoint, _ = imported(released(model), tmp_path / "w.pth")
    assert checkpoint.about["network"] == NETWORK | changes
    assert checkpoint.about["task"] == {"name": "sudoku", "box": list(box)}
    for name, weight in model.state_dict().items():
        assert torch.equal(checkpoint.average[name], weight)


def test_a_checkpoint_says_where_its_weights_come_from_and_how_rollouts_start(tmp_path, weights):
    checkpoint, lines = imported(weights, tmp_path / "w.pth")
    about = checkpoint.about
    assert {name: about[name] for name in ABOUT} == ABOUT
    assert about["initial_state"] == "random"
    assert about["training"] == {"T_train": 16}
    assert about["imported"]["file"] == "w.pth"
    assert about["imported"]["format"] == "akorn"
    assert about["imported"]["sha256"] in lines[0]
    assert len(about["imported"]["sha256"]) == 64
    checkpoint.save(tmp_path / "one"), checkpoint.save(tmp_path / "two")
    assert Checkpoint.load(tmp_path / "one").about == about
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_every_setting_is_said_with_its_origin(tmp_path, weights):
    (tmp_path / "all_config.yaml").write_text(yaml.safe_dump({"T": 8, "gamma": 0.5, "ch": 16}))
    checkpoint, lines = imported(weights, tmp_path / "w.pth", **{"network.step_size": 2})
    assert "network.channels = 16 (the weights)" in lines
    assert "training.T_train = 8 (all_config.yaml)" in lines
    assert "network.step_size = 2 (--set)" in lines
    assert "network.omega_learnable = True (assumed: the released default)" in lines
    assert checkpoint.about["network"]["step_size"] == 2.0
    assert checkpoint.about["training"] == {"T_train": 8}
    assert checkpoint.about["imported"]["config"] == "all_config.yaml"


def prefixed(prefix: str, weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {prefix + name: weight for name, weight in weights.items()}


@pytest.mark.parametrize("wrapper", ["", "_orig_mod.", "module.", "module._orig_mod."])
@pytest.mark.parametrize(
    "outer", [lambda found: found, lambda found: {"model_state_dict": found, "epoch": 3, "loss": 0.1}]
)
def test_the_moving_average_is_taken_and_the_raw_weights_where_there_are_some(tmp_path, weights, wrapper, outer):
    raw = released(model_of(NETWORK, seed=1))
    counters = {"initted": torch.tensor(True), "step": torch.tensor(5)}
    averaged = prefixed(f"ema_model.{wrapper}", weights) | counters
    checkpoint, _ = imported(outer(averaged | prefixed(f"online_model.{wrapper}", raw)), tmp_path / "w.pth")
    assert torch.equal(checkpoint.average["embedding"], weights["embedding.weight"])
    assert torch.equal(checkpoint.raw["embedding"], raw["embedding.weight"])
    for found in (averaged, prefixed(wrapper, weights)):
        checkpoint, lines = imported(outer(found), tmp_path / "w.pth")
        assert torch.equal(checkpoint.average["embedding"], weights["embedding.weight"])
        assert checkpoint.raw == {}
        assert any(line.startswith("weights: ") for line in lines)


def test_raw_weights_that_a_file_did_not_hold_are_refused(tmp_path, weights):
    checkpoint, _ = imported(weights, tmp_path / "w.pth")
    with pytest.raises(CheckpointError, match=r"run 'r' has no raw weights: the file .* w\.pth, holds one set: use"):
        checkpoint.load_into(model_of(NETWORK), "raw")


def test_safetensors_and_half_precision_are_read_too(tmp_path, weights):
    save_file({name: weight.half().contiguous() for name, weight in weights.items()}, tmp_path / "w.safetensors")
    checkpoint, _ = import_checkpoint("akorn", FORMATS["akorn"], tmp_path / "w.safetensors", Settings(), ABOUT)
    assert checkpoint.average["embedding"].dtype == torch.float32
    assert torch.equal(checkpoint.average["embedding"], weights["embedding.weight"].half().float())


def test_all_names_that_are_missing_or_unexpected_are_listed_at_once(tmp_path, weights):
    del weights["gamma"], weights["layers.1.0.omg.omg_param"]
    weights["head.weight"] = torch.zeros(1)
    with pytest.raises(WeightsMismatch) as error:
        imported(weights, tmp_path / "w.pth")
    lines = str(error.value).splitlines()[1:]
    assert sorted(lines) == [
        "  - missing: gamma",
        "  - missing: layers.1.0.omg.omg_param",
        "  - unexpected: head.weight",
    ]
    averaged = prefixed("ema_model.", weights) | {"other": torch.zeros(1)}
    with pytest.raises(WeightsMismatch, match="unexpected: other"):
        imported(averaged, tmp_path / "w.pth")


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("embedding.weight", (5,), "embedding.weight: shape [5], expected [vocabulary, channels]"),
        ("layers.0.0.connectivity.W_o.weight", (16, 15, 1, 1), "W_o.weight: shape [16, 15], expected [16, 16]"),
        ("out.1.bias", (3,), "5 tokens, 3 classes, 16 cells: expected N + 1 tokens, N classes, N x N cells"),
        ("layers.0.0.connectivity.mat_q", (16, 0, 2, 2), "network.heads"),
        ("layers.0.0.connectivity.mat_q", (16, 3, 2, 2), "shape [16, 3, 2, 2], expected [16, 4, 2, 2]"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(tmp_path, weights, name, shape, message):
    with pytest.raises((WeightsMismatch, ParameterError), match=re.escape(message)):
        imported(weights | {name: torch.zeros(shape)}, tmp_path / "w.pth")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"network.heads": 8}, "network.heads = 8 (--set): the weights are of network.heads = 2"),
        ({"network.haeds": 2}, "network.haeds: unknown; known here: task.name, task.box, network.channels"),
        ({"training.T_train": 0}, "training.T_train = 0: expected a whole number, at least 1"),
        ({"task.box": [3, 3]}, "task.box = [3, 3]: expected 4 digits, those of the weights"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tmp_path, weights, flags, message):
    with pytest.raises(SettingsError, match=re.escape(message)):
        imported(weights, tmp_path / "w.pth", **flags)


def test_a_setting_of_another_type_is_refused(tmp_path, weights):
    with pytest.raises(ParameterError, match=r"network.step_size = 'one': expected a number"):
        imported(weights, tmp_path / "w.pth", **{"network.step_size": "one"})


def test_a_configuration_that_contradicts_the_weights_is_refused(tmp_path, weights):
    (tmp_path / "all_config.yaml").write_text("n: 4\nheads: 8\n")
    with pytest.raises(SettingsError) as error:
        imported(weights, tmp_path / "w.pth")
    assert "network.oscillator_dim = 4 (all_config.yaml): the weights are of network.oscillator_dim = 2" in str(
        error.value
    )
    assert "network.heads = 8 (all_config.yaml): the weights are of network.heads = 2" in str(error.value)


@pytest.mark.parametrize("text", ["a: [", "- 1\n", b"\xff\xfe"])
def test_a_configuration_that_cannot_be_read_is_refused(tmp_path, weights, text):
    (tmp_path / "all_config.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ReleasedFileError, match=r"all_config.yaml: .*: repair or move it"):
        imported(weights, tmp_path / "w.pth")


class Harmful:
    """What runs a command when it is unpickled."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def write_pickle(value: object, path: Path) -> None:
    path.write_bytes(pickle.dumps(value, protocol=2))  # torch's; of others it reads nothing at all


def write_new_pickle(value: object, path: Path) -> None:
    path.write_bytes(pickle.dumps(value))


def write_old(value: object, path: Path) -> None:
    torch.save(value, path, _use_new_zipfile_serialization=False)


@pytest.mark.parametrize("write", [write_pickle, write_new_pickle, torch.save, write_old])
@pytest.mark.parametrize("where", ["alone", "beside weights"])
@pytest.mark.parametrize("form", FORMATS)
def test_code_in_a_file_is_refused_and_not_executed(tmp_path, form, write, where):
    harmful = Harmful(tmp_path / "executed")
    weights = {"model_state_dict": {"gamma": torch.ones(1)}, "args": harmful}
    write(harmful if where == "alone" else weights, tmp_path / "w.pth")
    refusals = ("no file of weights",) if write is write_new_pickle else (r"'\w+\.mkdir', which could run code",)
    # Without torch's own way of saving, a tensor is rebuilt by a function, which is refused as well.
    refusals += (r"'torch[\w.]+', which could run code",) * (write is write_pickle)
    with pytest.raises(ReleasedFileError, match="|".join(refusals)):
        import_checkpoint(form, FORMATS[form], tmp_path / "w.pth", Settings({}, read_config(tmp_path / "w.pth")), ABOUT)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no file of weights"),
        (b"<html>", "no file of weights"),
        (b"\x10\0\0\0\0\0\0\0{broken", "a damaged safetensors file"),
        ([1], "a list, expected tensors by name"),
        ({}, "an empty mapping, expected tensors by name"),
        ({"weights": [1], "epoch": 3}, "'weights' is a list, 'epoch' is a int"),
    ],
)
def test_a_file_without_weights_is_refused(tmp_path, content, message):
    if isinstance(content, bytes):
        (tmp_path / "w.pth").write_bytes(content)
    else:
        torch.save(content, tmp_path / "w.pth")
    with pytest.raises(ReleasedFileError, match=re.escape(message)):
        import_checkpoint(
            "akorn", FORMATS["akorn"], tmp_path / "w.pth", Settings({}, read_config(tmp_path / "w.pth")), ABOUT
        )


def test_a_cut_file_and_a_missing_one_are_refused(tmp_path, weights):
    torch.save(weights, tmp_path / "w.pth")
    (tmp_path / "w.pth").write_bytes((tmp_path / "w.pth").read_bytes()[:-200])
    for name, message in {"w.pth": "damaged or of another kind", "absent.pth": "No such file"}.items():
        with pytest.raises(ReleasedFileError, match=message):
            import_checkpoint("akorn", FORMATS["akorn"], tmp_path / name, Settings(), ABOUT)


def test_formats_are_known_without_torch():
    assert set(RELEASED) == set(FORMATS)


def test_sparse_weights_are_refused(tmp_path, weights):
    with pytest.raises(ReleasedFileError, match="gamma: sparse or quantised"):
        imported(weights | {"gamma": torch.ones(1).to_sparse()}, tmp_path / "w.pth")


def test_the_network_of_an_imported_checkpoint_builds_again(tmp_path, weights):
    checkpoint, _ = imported(weights, tmp_path / "w.pth")
    assert plain(build(AkornParams, checkpoint.about["network"])) == checkpoint.about["network"]


def test_weights_of_another_kind_are_called_by_their_name(tmp_path, weights, repository):
    with np.load(repository / "tests/reference/data/hrm_tiny.npz") as file:
        hrm = {n.removeprefix("weight/"): torch.from_numpy(file[n]) for n in file.files if n.startswith("weight/")}
    Checkpoint(dict.fromkeys(ABOUT, "x"), model_of(NETWORK).state_dict(), {}).save(tmp_path / "ours")
    files = {
        "akorn": weights,
        "hrm": hrm,
        "ours": load_file(tmp_path / "ours"),
        "other": {"conv1.weight": torch.ones(2)},
    }
    looks = {
        "akorn": "the released AKOrN (format akorn)",
        "hrm": "the released HRM (format hrm)",
        "ours": "a checkpoint of cvoting, which is used as it is",
        "other": "nothing known",
    }
    for form in FORMATS:
        for name in files.keys() - {form}:
            path = tmp_path / f"{name}.pth"
            torch.save(files[name], path)
            with pytest.raises(WeightsMismatch, match=r"none of the \d+ weights .* is there: it has \d+") as error:
                import_checkpoint(form, FORMATS[form], path, Settings(), ABOUT)
            assert looks[name] in str(error.value)
            assert len(str(error.value).splitlines()) == 2
