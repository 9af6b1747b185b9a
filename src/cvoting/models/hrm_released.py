"""Files of the released HRM: what they are of; training and rollouts do not need this module."""

import math
import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from cvoting.models.hrm import HRM
from cvoting.models.hrm_released_weights import MODEL_NAMES, load_released, released_name
from cvoting.models.released import Released, check_weights, squarest, without_wrappers
from cvoting.models.released_settings import RELEASED, SQUAREST, Settings, SettingsError
from cvoting.params.core import build, plain
from cvoting.params.hrm import HrmParams, hidden_channels
from cvoting.tasks.base import Task
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

EMBEDDING, POSITIONS, PREFIX = (MODEL_NAMES[name] for name in ("embedding", "positions", "prefix"))
DOWN = "inner.H_level.layers.0.mlp.down_proj.weight"
#: Axes of the weights that sizes are read from.
AXES = {
    EMBEDDING: ("vocabulary", "channels"),
    POSITIONS: ("tokens", "channels"),
    PREFIX: ("identifiers", "channels"),
    DOWN: ("channels", "hidden"),
}
#: Tokens of the released data sets: padding; then blank and nine digits, or wall, free, S, G and path.
SUDOKU_TOKENS, MAZE_TOKENS = 11, 6
TASKS: dict[str, type] = {"sudoku": Sudoku, "maze": Maze}


def released(weights: Mapping[str, Tensor], settings: Settings) -> Released:
    """The model of a file.

    Sizes and the kind of positions are those of the weights; heads, cycles and segments are settings, by default the
    released ones.  Every released model starts from its fixed vectors.  Arguments and errors as of `ReleasedFormat`.
    """
    found = without_wrappers(weights)
    _check_names(found)
    settings.within("arch")
    network, task = _network(found, settings), _task(found, settings)
    T_train, identifier = settings.untold("training.T_train", 16, "halt_max_steps"), _identifier(found, settings)
    settings.finish()
    params = build(HrmParams, network, "network")
    sized: Task = build(TASKS[task["name"]], task, "task")
    model = HRM.for_task(params, sized)
    _check_task(model, found, task)
    load_released(model, found, identifier)
    ours = {name: weight.clone() for name, weight in model.state_dict().items()}
    kept = "one set, taken as the average"
    return Released(plain(sized), plain(params), T_train, ours, {}, kept, model.initial_state_kind)


def _check_names(weights: Mapping[str, Tensor]) -> None:
    """Every name that a model of as many layers has, and no other; the sizes can be read."""
    smallest = HrmParams(
        architecture="hrm",
        channels=2,
        heads=1,
        expansion=1.0,
        H_cycles=1,
        L_cycles=1,
        H_layers=max(1, _layers("H", weights)),
        L_layers=max(1, _layers("L", weights)),
        positions="learned" if POSITIONS in weights else "rope",
        prefix=PREFIX in weights,
        initial_state="fixed",
    )
    names = map(released_name, HRM(smallest, (1, 1), 1, 1).state_dict())
    check_weights("not the weights of a released HRM", {name: AXES.get(name, ()) for name in names}, weights)


def _layers(level: str, weights: Mapping[str, Tensor]) -> int:
    return len({match[1] for name in weights if (match := re.match(rf"inner\.{level}_level\.layers\.(\d+)\.", name))})


def _network(weights: Mapping[str, Tensor], settings: Settings) -> dict[str, Any]:
    """The network's block; the released configuration has its keys."""
    channels, hidden = weights[DOWN].shape

    def gives_hidden(expansion: Any) -> bool:
        number = isinstance(expansion, int | float) and math.isfinite(expansion)
        return number and hidden_channels(channels, float(expansion)) == hidden

    expansion = 4 if gives_hidden(4) else 1.5 * hidden / max(channels, 1)
    positions = "learned" if POSITIONS in weights else "rope"
    return {
        "architecture": "hrm",
        "channels": settings.told("network.channels", channels, "hidden_size"),
        "heads": settings.untold("network.heads", 8, "num_heads"),
        "expansion": settings.told("network.expansion", expansion, "expansion", fits=gives_hidden),
        "H_cycles": settings.untold("network.H_cycles", 2, "H_cycles"),
        "L_cycles": settings.untold("network.L_cycles", 2, "L_cycles"),
        "H_layers": settings.told("network.H_layers", _layers("H", weights), "H_layers"),
        "L_layers": settings.told("network.L_layers", _layers("L", weights), "L_layers"),
        "positions": settings.told("network.positions", positions, "pos_encodings"),
        "prefix": settings.told("network.prefix", PREFIX in weights, "puzzle_emb_ndim", read=bool),
        "initial_state": settings.told("network.initial_state", "fixed"),
        "norm_eps": settings.untold("network.norm_eps", 1e-5, "rms_norm_eps"),
        "probabilities": settings.untold("network.probabilities", "stablemax", "loss.loss_type", read=_probabilities),
    }


def _probabilities(loss: Any) -> Any:
    return str(loss).removesuffix("_cross_entropy")


def _task(weights: Mapping[str, Tensor], settings: Settings) -> dict[str, Any]:
    """The task's block: what the vocabulary is of, and the grid of the position table or of the released data.

    Raises:
        SettingsError: when nothing tells the task.
    """
    vocabulary, cells = len(weights[EMBEDDING]), _cells(weights)
    default = {SUDOKU_TOKENS: "sudoku", MAZE_TOKENS: "maze"}.get(vocabulary)
    name = settings.untold("task.name", default, why=f"the one of {vocabulary} tokens")
    if name == "sudoku":
        return {"name": name, "box": settings.untold("task.box", squarest(max(vocabulary - 2, 1)), why=SQUAREST)}
    if name == "maze":
        grid = [30, 30] if cells is None else squarest(max(cells, 1))
        grid = settings.untold("task.grid", grid, why=RELEASED if cells is None else SQUAREST)
        return {"name": name, "grid": grid, "positions": settings.untold("task.positions", "all")}
    raise SettingsError(
        f"task.name = {name!r} with {vocabulary} tokens: expected sudoku or maze; {SUDOKU_TOKENS} tokens are of 9x9 "
        f"Sudoku and {MAZE_TOKENS} of mazes, for Sudoku of another size give --set task.name=sudoku"
    )


def _cells(weights: Mapping[str, Tensor]) -> int | None:
    """Cells of the position table; rotary positions have none."""
    return len(weights[POSITIONS]) - (PREFIX in weights) if POSITIONS in weights else None


def _check_task(model: HRM, weights: Mapping[str, Tensor], task: Mapping[str, Any]) -> None:
    """Refuse a task of another vocabulary or number of cells.

    Raises:
        SettingsError: naming both.
    """
    expected, needed = (len(weights[EMBEDDING]), _cells(weights)), (len(model.embedding), model.tokens - model.skipped)
    if expected[0] != needed[0] or expected[1] not in (None, needed[1]):
        of = f"{expected[0]} tokens" + ("" if expected[1] is None else f" and {expected[1]} cells")
        said = ", ".join(f"{key} = {plain(value)}" for key, value in task.items())
        raise SettingsError(f"task: {said}: it has {needed[0]} tokens and {needed[1]} cells, the weights are of {of}")


def _identifier(weights: Mapping[str, Tensor], settings: Settings) -> int:
    """Which row of the puzzle embedding is the prefix; a setting where there are several.

    All puzzles of the released Sudoku and maze data have the identifier 0, so no other row was trained on them.

    Raises:
        SettingsError: for one that is not there.
    """
    rows = len(weights[PREFIX]) if PREFIX in weights else 1
    why = f"that of all released Sudoku and mazes; this file knows {rows}"
    identifier = settings.untold("puzzle_identifier", 0, why=why) if rows != 1 else 0
    if type(identifier) is not int or not 0 <= identifier < rows:
        raise SettingsError(
            f"puzzle_identifier = {identifier!r}: expected a row, from 0, of the puzzle embedding, which has {rows}"
        )
    return identifier
