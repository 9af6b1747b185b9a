"""A file of weights as the checkpoint of a run: what a study does in the place of a training."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cvoting.checkpoint import Checkpoint, CheckpointError
from cvoting.import_checkpoint import import_checkpoint
from cvoting.models.released import ReleasedFormat
from cvoting.params.core import plain


def import_run(recipe: Mapping[str, Any], path: Path, form: ReleasedFormat | None) -> Checkpoint:
    """The checkpoint of a run.

    Args:
        recipe: run, model, dataset, task, network, training, training_seed, and `imported` with the file's SHA-256.
        path: the file.
        form: reads the released program's weights; None for a checkpoint of ours.

    Raises:
        CheckpointError: when the file has another checksum, or is of another network or task than the recipe.
        CvotingError: as of `import_checkpoint`.
    """
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CheckpointError(f"{path}: not a readable file ({error.strerror}): put the run's file there") from error
    if found != recipe["imported"]["sha256"]:
        raise CheckpointError(
            f"{path}: SHA-256 {found}, expected {recipe['imported']['sha256']}: it is another file; fetch it again, or "
            f"change runs.{recipe['run']}.imported.sha256"
        )
    names = {name: recipe[name] for name in ("run", "model", "dataset", "training_seed")}
    if form is None:
        checkpoint = Checkpoint.load(path)
        origin = checkpoint.about.get("imported", {}) | {"checkpoint": path.name, "checkpoint_sha256": found}
        about = checkpoint.about | names | {"imported": origin}
        checkpoint = Checkpoint(about, checkpoint.average, checkpoint.raw)
    else:
        flags = {f"{block}.{name}": value for block in ("network", "task") for name, value in recipe[block].items()}
        flags["training.T_train"] = recipe["training"]["T_train"]
        del flags["network.architecture"]  # it has chosen the format
        checkpoint, _ = import_checkpoint(recipe["network"]["architecture"], form, path, flags, names)
    _check(checkpoint, recipe, path)
    return checkpoint


def _check(checkpoint: Checkpoint, recipe: Mapping[str, Any], path: Path) -> None:
    """Refuse a checkpoint of another network or task."""
    problems = [
        f"{block}.{name}: {_said(checkpoint.about[block], name)} in the file, {_said(recipe[block], name)} in the study"
        for block in ("network", "task")
        for name in sorted(checkpoint.about[block].keys() | recipe[block].keys())
        if _said(checkpoint.about[block], name) != _said(recipe[block], name)
    ]
    if problems:
        lines = "\n".join(f"  - {problem}" for problem in problems)
        raise CheckpointError(f"{path}: another model than that of runs.{recipe['run']}:\n{lines}")


def _said(block: Mapping[str, Any], name: str) -> str:
    return repr(plain(block[name])) if name in block else "not there"
