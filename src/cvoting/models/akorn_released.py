"""Weights of released AKOrN models, by name; training and rollouts do not need this module."""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from cvoting.models.akorn import AKOrN
from cvoting.models.released import Released, WeightsMismatch, check_weights, squarest, without_wrappers
from cvoting.models.released_settings import SQUAREST, Settings, SettingsError
from cvoting.params.akorn import AkornParams
from cvoting.params.core import build, plain
from cvoting.tasks.sudoku import Sudoku

#: Our name and the released one, of a parameter or the start of its name; those of layer l follow `layers.l.`.
MODEL_NAMES = {"embedding": "embedding.weight", "step_size": "gamma", "classifier.": "out.1."}
LAYER_NAMES = {
    "omega": "0.omg.omg_param",
    "attention.mat_": "0.connectivity.mat_",
    "attention.qkv.": "0.connectivity.W_qkv.",
    "attention.out.": "0.connectivity.W_o.",
    "readout.bias": "1.0.bias",
    "readout.components.": "1.0.invconv.",
    "readout.hidden.": "1.1.fn.fn.0.fn.2.",
    "readout.residual.": "1.1.fn.fn.1.fn.2.",
    "readout.out.": "1.2.fn.2.",
}
#: A parameter that no released forward pass reads.
UNUSED = "x0"
#: Files of a moving average: before the names of the average, and of the last update's weights; what else they hold.
AVERAGE, ONLINE, COUNTERS = "ema_model.", "online_model.", {"initted", "step"}
#: Axes of the weights that sizes are read from.
AXES = {
    "embedding.weight": ("vocabulary", "channels"),
    "layers.0.0.connectivity.mat_q": ("cells", "head_dim / 2", "2", "2"),
    "layers.0.1.0.invconv.bias": ("channels * oscillator_dim",),
    "out.1.bias": ("classes",),
}


def released(weights: Mapping[str, Tensor], settings: Settings) -> Released:
    """The model of a file: bare weights, or those of a moving average and perhaps of the last update.

    Sizes are those of the weights; the steps in training, the initial step size and how frequencies were initialised
    and trained are settings, by default those of the released README.  Arguments and errors as of `ReleasedFormat`.
    """
    averaged = [name for name in weights if name.startswith(AVERAGE)]
    if averaged:
        strangers = [n for n in weights if not n.startswith((AVERAGE, ONLINE)) and n not in COUNTERS]
        if strangers:
            raise WeightsMismatch("not a moving average of the released AKOrN", [f"unexpected: {n}" for n in strangers])
    average = without_wrappers(weights, AVERAGE if averaged else "")
    online = without_wrappers(weights, ONLINE) if averaged else {}
    for group in filter(None, (average, online)):
        _check_names(group)
    task, network = _task(average, settings), _network(average, settings)
    T_train = settings.untold("training.T_train", 16, "T")
    settings.finish()
    params, sudoku = build(AkornParams, network, "network"), build(Sudoku, task, "task")
    if sudoku.vocabulary != len(average["embedding.weight"]):
        raise SettingsError(
            f"task.box = {task['box']}: expected {len(average['out.1.bias'])} digits, those of the weights"
        )
    model = AKOrN.for_task(params, sudoku)
    ours: list[dict[str, Tensor]] = []
    for group in (average, online):
        if group:
            load_released(model, group)
        ours.append({name: weight.clone() for name, weight in model.state_dict().items()} if group else {})
    kept = "average and raw" if online else "average" if averaged else "one set, taken as the average"
    return Released(plain(sudoku), plain(params), T_train, ours[0], ours[1], kept)


def _check_names(weights: Mapping[str, Tensor]) -> None:
    """Every name that a model of as many layers has, and no other; the sizes can be read."""
    omega = any(name.endswith(LAYER_NAMES["omega"]) for name in weights)
    smallest = AkornParams(
        architecture="akorn",
        channels=4,
        oscillator_dim=2,
        heads=1,
        layers=max(1, _layers(weights)),
        step_size=1.0,
        omega="global" if omega else "none",
        omega_initial=0.0,
        omega_learnable=True,
    )
    names = [released_name(name) for name in AKOrN(smallest, (1, 1), 2, 1).state_dict()]
    check_weights("not the weights of a released AKOrN", {name: AXES.get(name, ()) for name in names}, _used(weights))


def _layers(weights: Mapping[str, Tensor]) -> int:
    return len({match[1] for name in weights if (match := re.match(r"layers\.(\d+)\.", name))})


def _network(weights: Mapping[str, Tensor], settings: Settings) -> dict[str, Any]:
    """The network's block."""
    channels = weights["embedding.weight"].shape[1]
    head_dim = 2 * weights["layers.0.0.connectivity.mat_q"].shape[1]
    components, omega = len(weights["layers.0.1.0.invconv.bias"]), weights.get(f"layers.0.{LAYER_NAMES['omega']}")
    kind = "none" if omega is None else "global" if omega.ndim == 1 else "per_pair"
    return {
        "architecture": "akorn",
        "channels": settings.told("network.channels", channels, "ch"),
        "oscillator_dim": settings.told("network.oscillator_dim", components // max(channels, 1), "n"),
        "heads": settings.told("network.heads", channels // max(head_dim, 1), "heads"),
        "layers": settings.told("network.layers", _layers(weights), "L"),
        "omega": settings.told("network.omega", kind),
        "step_size": settings.untold("network.step_size", 1.0, "gamma"),
        "omega_initial": settings.untold("network.omega_initial", 0.5, "init_omg"),
        "omega_learnable": settings.untold("network.omega_learnable", True, "learn_omg"),
        "random_cells": settings.untold("network.random_cells", "free"),
    }


def _task(weights: Mapping[str, Tensor], settings: Settings) -> dict[str, Any]:
    """The task's block.

    Raises:
        WeightsMismatch: when the sizes are not those of a Sudoku, the only task of the released code.
    """
    vocabulary, cells = len(weights["embedding.weight"]), len(weights["layers.0.0.connectivity.mat_q"])
    digits = len(weights["out.1.bias"])
    if (vocabulary, cells) != (digits + 1, digits**2):
        found = f"{vocabulary} tokens, {digits} classes, {cells} cells"
        raise WeightsMismatch("not a model of Sudoku", [f"{found}: expected N + 1 tokens, N classes, N x N cells"])
    name = settings.told("task.name", "sudoku")
    return {"name": name, "box": settings.untold("task.box", squarest(digits), why=SQUAREST)}


def released_name(name: str) -> str:
    """The released name of a parameter of `AKOrN`."""
    layer, rest, names = "", name, MODEL_NAMES
    if name.startswith("layers."):
        _, index, rest = name.split(".", 2)
        layer, names = f"layers.{index}.", LAYER_NAMES
    ours = next(start for start in names if rest.startswith(start))
    return layer + names[ours] + rest.removeprefix(ours)


def load_released(model: AKOrN, weights: Mapping[str, Tensor]) -> None:
    """Take over a released state dict: a renaming, and 1x1 convolutions lose their two axes of length 1.

    Args:
        model: made with the configuration that the weights were trained with; its own weights are replaced.
        weights: by released name, without a prefix; `x0` is ignored.

    Raises:
        WeightsMismatch: as of `check_weights`.
    """
    own = {released_name(name): (name, parameter.shape) for name, parameter in model.state_dict().items()}
    given = {
        name: weight.flatten(1) if name.endswith("weight") and weight.shape[2:] == (1, 1) else weight
        for name, weight in _used(weights).items()
    }
    what = "not the weights of this AKOrN; compare channels, oscillator_dim, heads, layers, omega and the grid"
    check_weights(what, {name: shape for name, (_, shape) in own.items()}, given)
    model.load_state_dict({own[name][0]: weight for name, weight in given.items()})


def _used(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: weight for name, weight in weights.items() if name != UNUSED}
