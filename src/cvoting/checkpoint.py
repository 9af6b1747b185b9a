"""Checkpoints: weights with everything needed to use them, in safetensors (nothing in a file is executed)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from cvoting.atomic import atomic_path
from cvoting.errors import CvotingError

FORMAT = 1
#: What `about` says at least.
ABOUT = ("run", "model", "task", "network", "training_seed")


class CheckpointError(CvotingError):
    """A file that is not a usable checkpoint."""


@dataclass(frozen=True)
class Checkpoint:
    """A trained model.

    Attributes:
        about: run, model, dataset, task, network, training (parameter blocks), training_seed, initial_state (the kind).
            Of imported weights also where they come from (`imported`), no dataset, and of training T_train alone.
        average: the moving average of the weights, used for evaluation.
        raw: the weights of the last update; none where imported weights come without.
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
            raise CheckpointError(
                f"{path}: checkpoint format {found!r}, expected {FORMAT}: it is not a trained model, or one of another "
                "version of cvoting: train it again"
            )
        missing = [name for name in ABOUT if name not in about]
        strangers = sorted(name for name in tensors if not name.startswith(("average/", "raw/")))
        if missing or strangers:
            what = f"without its {', '.join(missing)}" if missing else f"with the unknown weights {strangers[0]!r}"
            raise CheckpointError(f"{path}: a checkpoint {what}: it was not written by cvoting; train it again")
        groups: dict[str, dict[str, Tensor]] = {"average": {}, "raw": {}}
        for name, tensor in tensors.items():
            group, _, key = name.partition("/")
            groups[group][key] = tensor
        return Checkpoint(about, **groups)

    def load_into(self, model: nn.Module, weights: Literal["average", "raw"] = "average") -> None:
        """Set the weights of a model.

        Raises:
            CheckpointError: when the checkpoint is of another model, or imported from a file without these weights.
        """
        chosen = self.average if weights == "average" else self.raw
        if not chosen and "imported" in self.about:
            raise CheckpointError(
                f"the checkpoint of run {self.about['run']!r} has no {weights} weights: the file it was imported from, "
                f"{self.about['imported']['file']}, holds one set: use `weights: average`"
            )
        try:
            model.load_state_dict(chosen)
        except RuntimeError as error:
            raise CheckpointError(
                f"the checkpoint of run {self.about['run']!r} is of another model or version: {mismatch(error)}; "
                "train it again"
            ) from error


def mismatch(error: RuntimeError) -> str:
    """The first difference that torch found between some weights and a model, and how many more there are."""
    first, *more = str(error).splitlines()[1:] or [str(error)]
    return first.strip().rstrip(".") + (f" (and {len(more)} more differences)" if more else "")


def save_tensors(path: str | Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write named tensors and a JSON-able description atomically."""
    # One metadata key: safetensors writes several in an order that changes from run to run.
    metadata = {"cvoting": json.dumps(about)}
    content = save({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, metadata)
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Raises:
        CheckpointError: for a file that is missing, damaged, or of something else.
    """
    try:
        # One read: another process may put a newer file in place at any moment.
        content = Path(path).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path}: not a readable checkpoint ({error.strerror}): train it first") from error
    try:
        tensors = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        return tensors, json.loads(header.get("__metadata__", {}).get("cvoting", "{}"))
    except (SafetensorError, ValueError) as error:
        raise CheckpointError(
            f"{path}: not a readable checkpoint ({len(content):,} bytes, damaged or of another kind): "
            "delete it and make it again"
        ) from error
