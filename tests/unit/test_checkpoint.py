"""Checkpoints: round trip, same bytes, and files that are not what they should be."""

import os
import threading

import pytest
import torch

from cvoting.checkpoint import ABOUT, FORMAT, Checkpoint, CheckpointError, save_tensors


@pytest.fixture
def model() -> torch.nn.Module:
    return torch.nn.Linear(3, 2)


@pytest.fixture
def checkpoint(model) -> Checkpoint:
    average = {name: weight + 1 for name, weight in model.state_dict().items()}
    about = {"run": "r", "model": "m", "task": {}, "network": {"b": 1, "a": 2}, "training_seed": 0}
    return Checkpoint(about, average, model.state_dict())


def test_a_checkpoint_survives_saving_and_gives_the_same_bytes(tmp_path, checkpoint):
    checkpoint.save(tmp_path / "one")
    loaded = Checkpoint.load(tmp_path / "one")
    assert loaded.about == checkpoint.about
    for group in ("average", "raw"):
        for name, weight in getattr(checkpoint, group).items():
            assert torch.equal(getattr(loaded, group)[name], weight)
    loaded.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_evaluation_takes_the_average_unless_told_otherwise(checkpoint):
    model = torch.nn.Linear(3, 2)
    checkpoint.load_into(model)
    assert torch.equal(model.weight, checkpoint.average["weight"])
    checkpoint.load_into(model, "raw")
    assert torch.equal(model.weight, checkpoint.raw["weight"])


def test_a_checkpoint_of_another_model_is_refused(checkpoint):
    with pytest.raises(CheckpointError, match="checkpoint of run 'r' is of another model or version: size mismatch"):
        checkpoint.load_into(torch.nn.Linear(4, 2))


@pytest.mark.parametrize("damage", [lambda b: b[:100], lambda b: b"", lambda b: b"\xff" * 200, lambda b: b[:-4]])
def test_a_damaged_file_is_refused_with_its_name(tmp_path, checkpoint, damage):
    path = tmp_path / "checkpoint"
    checkpoint.save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CheckpointError, match=r"checkpoint: not a readable checkpoint .* make it again"):
        Checkpoint.load(path)


def test_another_format_is_refused(tmp_path):
    save_tensors(tmp_path / "old", {"average/w": torch.zeros(1)}, {"format": 0})
    with pytest.raises(CheckpointError, match="checkpoint format 0, expected 1"):
        Checkpoint.load(tmp_path / "old")


@pytest.mark.parametrize(
    ("tensors", "about", "message"),
    [
        (["average/w"], {"run": "r"}, "without its model, task, network, training_seed"),
        (["w", "average/w"], dict.fromkeys(ABOUT), "with the unknown weights 'w'"),
    ],
)
def test_weights_of_another_program_are_refused(tmp_path, tensors, about, message):
    save_tensors(tmp_path / "foreign", {name: torch.zeros(1) for name in tensors}, {"format": FORMAT, **about})
    with pytest.raises(CheckpointError, match=message):
        Checkpoint.load(tmp_path / "foreign")


def test_a_missing_file_is_refused_with_its_name(tmp_path):
    with pytest.raises(CheckpointError, match="absent"):
        Checkpoint.load(tmp_path / "absent")


def test_a_file_is_read_once_so_that_a_newer_one_in_its_place_does_not_mix_with_it(tmp_path, checkpoint):
    checkpoint.save(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")  # gives its content to the first who opens it, and nothing to a second
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[(tmp_path / "file").read_bytes()])
    writer.start()
    assert Checkpoint.load(tmp_path / "pipe").about == checkpoint.about
    writer.join()
