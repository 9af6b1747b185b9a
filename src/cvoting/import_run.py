"""A file of weights as the checkpoint of a run: what a study does in the place of a training."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cvoting.checkpoint import Checkpoint, CheckpointError
from cvoting.import_checkpoint import import_checkpoint
from cvoting.models.released import ReleasedFormat
from cvoting.models.released_settings import Settings
from cvoting.params.core import plain


def import_run(recipe: Mapping[str, Any], path: Path, form: ReleasedFormat | None) -> tuple[Checkpoint, list[str]]:
    """The checkpoint of a run, and lines that say what it is of and how that is known.

    Nothing beside the file is read: the study says what it is of.

    Args:
        recipe: run, model, dataset, task, network, training_seed, `imported` with the file's SHA-256, and of released
            weights T_train and perhaps `imported.puzzle_identifier`.
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
        checkpoint, lines = Checkpoint(about, checkpoint.average, checkpoint.raw), [f"{path.name}: SHA-256 {found}"]
    else:
        flags = {f"{block}.{name}": value for block in ("network", "task") for name, value in recipe[block].items()}
        flags["training.T_train"] = recipe["T_train"]
        if "puzzle_identifier" in recipe["imported"]:
            flags["puzzle_identifier"] = recipe["imported"]["puzzle_identifier"]
        architecture = flags.pop("network.architecture")  # it has chosen the format
        settings = Settings(flags, stated_by="the study")
        checkpoint, lines = import_checkpoint(architecture, form, path, settings, names)
    _check(checkpoint, recipe, path)
    return checkpoint, lines


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
