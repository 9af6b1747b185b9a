"""What importing a released model's weights takes, whichever the model: their names and shapes, what comes of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from cvoting.errors import CvotingError
from cvoting.models.released_settings import Settings

#: What stands before every name of a wrapped model: by `torch.compile`, by `DataParallel`, in a module of its loss.
WRAPPERS = ("_orig_mod.", "module.", "model.")

#: What part of a name gives away, of files of another kind than was said.
LOOKS = {
    "average/": "a checkpoint of cvoting, which is used as it is (in a study: `format: checkpoint`)",
    ".connectivity.": "those of the released AKOrN (format akorn)",
    "_level.layers.": "those of the released HRM (format hrm)",
}


class WeightsMismatch(CvotingError):
    """Weights that are not those of this model."""

    def __init__(self, what: str, problems: list[str]):
        super().__init__(f"{what}:\n" + "\n".join(f"  - {problem}" for problem in problems))


@dataclass(frozen=True)
class Released:
    """A released model as ours.

    Attributes:
        task: the task's block.
        network: the network's block.
        T_train: recurrent steps in training.
        average, raw: weights by our names: the moving average, and those of the last update; empty where the file has
            none.
        kept: which weights the file holds, in words.
        initial_state: how rollouts start, as `RecurrentModel.initial_state_kind`.
    """

    task: dict[str, Any]
    network: dict[str, Any]
    T_train: int
    average: dict[str, Tensor]
    raw: dict[str, Tensor]
    kept: str
    initial_state: str = "random"


#: What a module offers that knows the files of a released program: a function of the file's tensors by name and of the
#: settings, which it asks for all that makes the model and tells when that is all (`finish`).  It raises
#: WeightsMismatch as `check_weights` does, and SettingsError as `finish` does.
ReleasedFormat = Callable[[Mapping[str, Tensor], Settings], Released]


def without_wrappers(weights: Mapping[str, Tensor], prefix: str = "") -> dict[str, Tensor]:
    """The weights whose names start with a prefix, by names without it and without what wrappers add.

    Raises:
        WeightsMismatch: when there are two weights of the same name then.
    """
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if name.startswith(prefix):
            bare = name.removeprefix(prefix)
            while start := next((w for w in WRAPPERS if bare.startswith(w)), ""):
                bare = bare.removeprefix(start)
            if bare in found:
                raise WeightsMismatch("a weight stands twice in the file", [f"{name}: expected one {bare}"])
            found[bare] = weight.to(torch.float32)
    return found


def check_weights(what: str, expected: Mapping[str, Sequence[int | str]], weights: Mapping[str, Tensor]) -> None:
    """Refuse weights that are not those of a model.

    Args:
        what: what they are not, for the error.
        expected: per name the length of each axis, or the name of an axis of any length; none where any shape will do.
        weights: by name.

    Raises:
        WeightsMismatch: with every name that is missing or unexpected, and every shape that does not fit; where no
            name is right, with what the weights look like instead.
    """
    if not expected.keys() & weights.keys():
        looks = next((kind for part, kind in LOOKS.items() if any(part in name for name in weights)), "nothing known")
        found = f"it has {len(weights)} weights, such as {next(iter(weights), 'none')}, which look like {looks}"
        raise WeightsMismatch(what, [f"none of the {len(expected)} weights that are expected is there: {found}"])
    problems = [f"missing: {name}" for name in expected if name not in weights]
    problems += [f"unexpected: {name}" for name in weights if name not in expected]
    for name, axes in expected.items():
        if axes and name in weights and not _fits(weights[name].shape, axes):
            problems.append(f"{name}: shape {_shown(weights[name].shape)}, expected {_shown(axes)}")
    if problems:
        raise WeightsMismatch(what, problems)


def _fits(shape: Sequence[int], axes: Sequence[int | str]) -> bool:
    return len(shape) == len(axes) and all(isinstance(b, str) or a == b for a, b in zip(shape, axes, strict=True))


def _shown(axes: Sequence[int | str]) -> str:
    return f"[{', '.join(map(str, axes))}]"


def squarest(cells: int) -> list[int]:
    """Rows and columns of the rectangle of some cells that is closest to a square, no higher than wide."""
    rows = max(rows for rows in range(1, cells + 1) if cells % rows == 0 and rows**2 <= cells)
    return [rows, cells // rows]
