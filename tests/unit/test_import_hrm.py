"""Files of the released HRM: what their shapes, configuration and flags tell, and what is said of those that misfit."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from cvoting.checkpoint import Checkpoint
from cvoting.import_checkpoint import import_checkpoint
from cvoting.models.hrm import HRM
from cvoting.models.hrm_released_weights import to_released
from cvoting.models.released import WeightsMismatch
from cvoting.models.released_file import read_config
from cvoting.models.released_registry import FORMATS
from cvoting.models.released_settings import Settings, SettingsError
from cvoting.params.core import ParameterError, build, plain
from cvoting.params.hrm import HrmParams
from cvoting.tasks.base import Task
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

ABOUT = {"run": "r", "model": "m", "training_seed": 3}
NETWORK = {
    "architecture": "hrm",
    "channels": 16,
    "heads": 8,
    "expansion": 4.0,
    "H_cycles": 2,
    "L_cycles": 2,
    "H_layers": 1,
    "L_layers": 2,
    "positions": "rope",
    "prefix": True,
    "initial_state": "fixed",
    "norm_eps": 1e-5,
    "probabilities": "stablemax",
}
SUDOKU, MAZE = Sudoku(name="sudoku", box=(3, 3)), Maze(name="maze", grid=(30, 30))
#: As HRM leaves it, without what is of no use here.
CONFIG = {
    "arch": {
        "name": "hrm.hrm_act_v1@HierarchicalReasoningModel_ACTV1",
        "loss": {"name": "losses@ACTLossHead", "loss_type": "softmax_cross_entropy"},
        "hidden_size": 16, "num_heads": 2, "expansion": 1, "pos_encodings": "rope", "puzzle_emb_ndim": 16,
        "H_cycles": 3, "L_cycles": 1, "H_layers": 1, "L_layers": 2, "halt_max_steps": 8, "halt_exploration_prob": 0.1,
    },
    "epochs": 20000,
}  # fmt: skip
EMBEDDING, PREFIX = "inner.embed_tokens.embedding_weight", "inner.puzzle_emb.weights"


def model_of(task: Task = SUDOKU, **changes: Any) -> HRM:
    """A model with random weights, no two parts of which are equal."""
    model = HRM.for_task(build(HrmParams, NETWORK | changes), task)
    model.initialise(torch.Generator().manual_seed(0))
    if model.prefix is not None:
        torch.nn.init.normal_(model.prefix, generator=torch.Generator().manual_seed(1))
    return model


def imported(weights: dict, path: Path, config: dict | None = None, **flags: Any) -> tuple[Checkpoint, list[str]]:
    """Save and import."""
    torch.save(weights, path / "step_9")
    if config is not None:
        (path / "all_config.yaml").write_text(yaml.safe_dump(config))
    return import_checkpoint(
        "hrm", FORMATS["hrm"], path / "step_9", Settings(flags, read_config(path / "step_9")), ABOUT
    )


def dotted(**flags: Any) -> dict[str, Any]:
    """Keyword arguments with a dot for the first underscore."""
    return {name.replace("_", ".", 1): value for name, value in flags.items()}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"prefix": False, "H_layers": 2, "L_layers": 1},
        {"positions": "learned", "channels": 24},
        {"channels": 512, "L_layers": 1},
        {"channels": 512, "expansion": 3.0, "L_layers": 1},
    ],
)
@pytest.mark.parametrize("task", [SUDOKU, MAZE], ids=["sudoku", "maze"])
def test_sizes_and_task_come_from_the_weights(tmp_path, changes, task):
    model = model_of(task, **changes)
    checkpoint, _ = imported(to_released(model.state_dict()), tmp_path)
    assert checkpoint.about["network"] == NETWORK | changes
    assert checkpoint.about["task"] == plain(task)
    assert checkpoint.about["training"] == {"T_train": 16}
    assert checkpoint.about["initial_state"] == "fixed"
    assert checkpoint.raw == {}
    for name, weight in model.state_dict().items():
        assert torch.equal(checkpoint.average[name], weight), name


@pytest.mark.parametrize("config", [CONFIG, CONFIG["arch"]], ids=["as HRM writes it", "the block alone"])
def test_what_weights_do_not_tell_comes_from_the_configuration_or_flags(tmp_path, config):
    weights = to_released(model_of().state_dict())
    checkpoint, lines = imported(weights, tmp_path, config, **dotted(network_L_cycles=5))
    stated = {"heads": 2, "expansion": 1.0, "H_cycles": 3, "L_cycles": 5, "probabilities": "softmax"}
    assert checkpoint.about["network"] == NETWORK | stated
    assert checkpoint.about["training"] == {"T_train": 8}
    for line in (
        "network.channels = 16 (the weights)",
        "network.expansion = 1 (all_config.yaml)",
        "network.heads = 2 (all_config.yaml)",
        "network.L_cycles = 5 (--set)",
        "network.norm_eps = 1e-05 (assumed: the released default)",
        "task.name = sudoku (assumed: the one of 11 tokens)",
        "training.T_train = 8 (all_config.yaml)",
    ):
        assert line in lines


def test_a_grid_comes_from_the_position_table_or_else_from_a_flag_or_the_released_mazes(tmp_path):
    small, wide = Maze(name="maze", grid=(5, 5)), Maze(name="maze", grid=(2, 6), positions="free")
    learned = to_released(model_of(small, positions="learned").state_dict())
    checkpoint, lines = imported(learned, tmp_path)
    assert checkpoint.about["task"] == plain(small)
    assert "task.grid = [5, 5] (assumed: closest to a square)" in lines
    rotary = to_released(model_of(wide).state_dict())
    assert "task.grid = [30, 30] (assumed: the released default)" in imported(rotary, tmp_path)[1]
    flags = dotted(task_grid=[2, 6], task_positions="free")
    assert imported(rotary, tmp_path, **flags)[0].about["task"] == plain(wide)
    with pytest.raises(SettingsError, match=r"grid = \[2, 6\].* 6 tokens and 12 cells, .* of 6 tokens and 25 cells"):
        imported(learned, tmp_path, **flags)


def test_boards_of_another_size_are_imported_when_said_to_be_boards(tmp_path):
    for box in ((2, 2), (2, 3)):
        task = Sudoku(name="sudoku", box=box)
        checkpoint, _ = imported(to_released(model_of(task).state_dict()), tmp_path, **dotted(task_name="sudoku"))
        assert checkpoint.about["task"] == plain(task)
    with pytest.raises(
        SettingsError, match=r"task.name = None with 8 tokens: expected sudoku or maze; 11 tokens are of"
    ):
        imported(to_released(model_of(Sudoku(name="sudoku", box=(2, 3))).state_dict()), tmp_path)


def test_of_several_puzzle_embeddings_the_one_of_the_released_boards_is_taken_and_said_aloud(tmp_path):
    model = model_of()
    weights = to_released(model.state_dict())
    weights[PREFIX] = torch.cat([weights[PREFIX], torch.ones(2, 16)])
    checkpoint, lines = imported(weights, tmp_path)
    assert torch.equal(checkpoint.average["prefix"], model.prefix)
    expected = "puzzle_identifier = 0 (assumed: that of all released Sudoku and mazes; this file knows 3)"
    assert expected in lines
    checkpoint, _ = imported(weights, tmp_path, puzzle_identifier=2)
    assert torch.equal(checkpoint.average["prefix"], torch.ones(16))
    with pytest.raises(SettingsError, match=r"puzzle_identifier = 3: expected a row, from 0, .* has 3"):
        imported(weights, tmp_path, puzzle_identifier=3)


def test_all_names_and_shapes_that_misfit_are_listed_at_once(tmp_path):
    weights = to_released(model_of().state_dict())
    del weights["inner.H_init"], weights["inner.L_level.layers.1.mlp.down_proj.weight"]
    local = {"inner.puzzle_emb.local_weights": torch.zeros(2, 16), "inner.rotary_emb.cos_cached": torch.zeros(82, 2)}
    with pytest.raises(WeightsMismatch) as error:
        imported(weights | local | {EMBEDDING: torch.zeros(11)}, tmp_path)
    assert sorted(str(error.value).splitlines()[1:]) == [
        "  - inner.embed_tokens.embedding_weight: shape [11], expected [vocabulary, channels]",
        "  - missing: inner.H_init",
        "  - missing: inner.L_level.layers.1.mlp.down_proj.weight",
        "  - unexpected: inner.puzzle_emb.local_weights",
        "  - unexpected: inner.rotary_emb.cos_cached",
    ]


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("inner.lm_head.weight", (16, 11), "inner.lm_head.weight: shape [16, 11], expected [11, 16]"),
        ("inner.H_level.layers.0.self_attn.qkv_proj.weight", (16, 48), "shape [16, 48], expected [48, 16]"),
        ("inner.L_level.layers.0.mlp.gate_up_proj.weight", (256, 16), "shape [256, 16], expected [512, 16]"),
        ("inner.H_level.layers.0.mlp.down_proj.weight", (256, 16), "shape [11, 16], expected [11, 256]"),
        (PREFIX, (1, 8), "inner.puzzle_emb.weights: shape [1, 8], expected [1, 16]"),
        (EMBEDDING, (16, 11), "task.name = None with 16 tokens"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(tmp_path, name, shape, message):
    weights = to_released(model_of().state_dict()) | {name: torch.zeros(shape)}
    with pytest.raises((WeightsMismatch, SettingsError), match=re.escape(message)):
        imported(weights, tmp_path, **dotted(network_heads=4))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"network.channels": 8}, "network.channels = 8 (--set): the weights are of network.channels = 16"),
        ({"network.expansion": 99}, "network.expansion = 99 (--set): the weights are of network.expansion = 4"),
        ({"network.expansion": "big"}, "network.expansion = 'big' (--set): the weights are of network.expansion = 4"),
        ({"network.expansion": float("inf")}, "network.expansion = inf (--set): the weights are of"),
        (
            {"network.initial_state": "per_token"},
            "network.initial_state = 'per_token' (--set): the weights are of network.initial_state = 'fixed'",
        ),
        ({"network.cycles": 2}, "network.cycles: unknown; known here: network.channels, network.heads"),
        ({"task.box": [2, 2]}, "box = [2, 2]: it has 6 tokens and 16 cells, the weights are of 11 tokens"),
        ({"task.name": "maze"}, "name = maze, grid = [30, 30], positions = all: it has 6 tokens"),
        ({"training.T_train": 0}, "training.T_train = 0: expected a whole number, at least 1"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tmp_path, flags, message):
    with pytest.raises(SettingsError, match=re.escape(message)):
        imported(to_released(model_of().state_dict()), tmp_path, **flags)


def test_heads_that_do_not_divide_the_channels_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"network.heads = 3: expected channels / heads"):
        imported(to_released(model_of().state_dict()), tmp_path, **dotted(network_heads=3))


def test_a_configuration_that_contradicts_the_weights_is_refused(tmp_path):
    arch = CONFIG["arch"] | {"hidden_size": 512, "pos_encodings": "learned", "puzzle_emb_ndim": 0, "L_layers": 4}
    with pytest.raises(SettingsError) as error:
        imported(to_released(model_of().state_dict()), tmp_path, {"arch": arch})
    assert str(error.value).splitlines()[1:] == [
        "  - network.channels = 512 (all_config.yaml): the weights are of network.channels = 16",
        "  - network.L_layers = 4 (all_config.yaml): the weights are of network.L_layers = 2",
        "  - network.positions = 'learned' (all_config.yaml): the weights are of network.positions = 'rope'",
        "  - network.prefix = False (all_config.yaml): the weights are of network.prefix = True",
    ]


def test_a_weight_that_stands_twice_is_refused(tmp_path):
    weights = to_released(model_of().state_dict())
    with pytest.raises(
        WeightsMismatch, match=r"stands twice in the file:\n  - model.inner.H_init: expected one inner.H"
    ):
        imported(weights | {"model.inner.H_init": weights["inner.H_init"]}, tmp_path)
