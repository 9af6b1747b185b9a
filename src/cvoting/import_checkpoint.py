"""Released weights as a checkpoint of ours, with everything that rollouts ask of one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cvoting.checkpoint import Checkpoint
from cvoting.models.released import ReleasedFormat
from cvoting.models.released_file import CONFIG, read_weights
from cvoting.models.released_settings import Settings, SettingsError


def import_checkpoint(
    name: str, form: ReleasedFormat, path: Path, settings: Settings, about: Mapping[str, Any]
) -> tuple[Checkpoint, list[str]]:
    """The checkpoint of a released file, and lines that say what it is of and how that is known.

    Args:
        name: of the format.
        form: reads the released program's weights.
        path: the file.
        settings: what the user states, and perhaps the configuration beside the file.
        about: run, model, training_seed: what the checkpoint calls itself.

    Raises:
        ReleasedFileError: when the file cannot be read, or could run code.
        WeightsMismatch: with all names or shapes that are not of the format.
        SettingsError: when settings contradict the weights or do not exist.
        ParameterError: when the settings make no model.
    """
    weights, sha256 = read_weights(path)
    found = form(weights, settings)
    if type(found.T_train) is not int or found.T_train < 1:
        raise SettingsError(f"training.T_train = {found.T_train!r}: expected a whole number, at least 1")
    imported: dict[str, Any] = {"format": name, "file": path.name, "sha256": sha256, "weights": found.kept}
    if settings.config:
        imported["config"] = CONFIG
    blocks = {"task": found.task, "network": found.network, "training": {"T_train": found.T_train}}
    checkpoint = Checkpoint(
        {**about, **blocks, "initial_state": found.initial_state, "imported": imported}, found.average, found.raw
    )
    return checkpoint, [f"{path.name}: SHA-256 {sha256}", f"weights: {found.kept}", *settings.lines]
