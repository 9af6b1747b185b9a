"""Checkpoints: weights with everything needed to use them, in safetensors (nothing in a file is executed)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor, nn

from cvoting.atomic import atomic_path
from cvoting.errors import CvotingError

FORMAT = 1


class CheckpointError(CvotingError):
    """A file that is not a usable checkpoint."""


@dataclass(frozen=True)
class Checkpoint:
    """A trained model.

    Attributes:
        about: run, model, dataset, task, network, training (parameter blocks), training_seed, initial_state (the kind).
        average: the moving average of the weights, used for evaluation.
        raw: the weights of the last update.
    """

    about: dict[str, Any]
    average: dict[str, Tensor]
    raw: dict[str, Tensor]

    def save(self, path: str | Path) -> None:
        """Write a file; the same checkpoint gives the same bytes."""
        tensors = {f"average/{k}": v for k, v in self.average.items()} | {f"raw/{k}": v for k, v in self.raw.items()}
        save_tensors(path, tensors, {"format": FORMAT, **self.about})

    @staticmethod
    def load(path: str | Path) -> "Checkpoint":
        """Read what `save` wrote.

        Raises:
            CheckpointError: for a damaged file, a file of something else, or another format.
        """
        tensors, about = load_tensors(path)
        found = about.pop("format", None)
        if found != FORMAT:
            raise CheckpointError(f"{path}: checkpoint format {found!r}, expected {FORMAT}: train it again")
        groups: dict[str, dict[str, Tensor]] = {"average": {}, "raw": {}}
        for name, tensor in tensors.items():
            group, _, key = name.partition("/")
            groups[group][key] = tensor
        return Checkpoint(about, **groups)

    def load_into(self, model: nn.Module, weights: Literal["average", "raw"] = "average") -> None:
        """Set the weights of a model.

        Raises:
            CheckpointError: when the checkpoint is of another model.
        """
        try:
            model.load_state_dict(self.average if weights == "average" else self.raw)
        except RuntimeError as error:
            raise CheckpointError(
                f"the checkpoint of run {self.about.get('run')!r} is of another model: {error}"
            ) from error


def save_tensors(path: str | Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write named tensors and a JSON-able description atomically."""
    # One metadata key: safetensors writes several in an order that changes from run to run.
    metadata = {"cvoting": json.dumps(about)}
    with atomic_path(path) as temporary:
        save_file({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, temporary, metadata)


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Raises:
        CheckpointError: for a file that is missing, damaged, or of something else.
    """
    try:
        # One read: another process may put a newer file in place at any moment.
        content = Path(path).read_bytes()
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        return load(content), json.loads(header.get("__metadata__", {}).get("cvoting", "{}"))
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path}: not a readable checkpoint ({error}): delete it and make it again") from error
