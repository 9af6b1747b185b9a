"""Files of released programs: tensors by name, from torch's formats or safetensors, without running what is in them."""

import hashlib
import io
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from cvoting.errors import CvotingError

#: Where training programs put the weights beside other things.
WRAPPED = "model_state_dict"
#: The configuration that released programs leave beside their weights.
CONFIG = "all_config.yaml"


class ReleasedFileError(CvotingError):
    """A file from which no weights can be taken."""


def read_weights(path: Path) -> tuple[dict[str, Tensor], str]:
    """The tensors of a file by name, and its SHA-256.

    Raises:
        ReleasedFileError: for a file that is damaged, holds something else than named tensors, or could run code.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReleasedFileError(f"{path}: not a readable file ({error.strerror}): name the file of weights") from error
    found = _safetensors(content, path) if content[8:9] == b"{" else _torch(content, path)
    found = found.get(WRAPPED, found) if isinstance(found, Mapping) else found
    if not isinstance(found, Mapping) or not found:
        raise ReleasedFileError(f"{path}: {_kind(found)}, expected tensors by name (a state dict)")
    strangers = [f"{name!r} is {_kind(value)}" for name, value in found.items() if not isinstance(value, Tensor)]
    if strangers:
        raise ReleasedFileError(
            f"{path}: expected tensors by name (a state dict), perhaps under {WRAPPED!r}, but {', '.join(strangers)}"
        )
    whole = {str(name): value for name, value in found.items()}
    special = [name for name, value in whole.items() if value.layout != torch.strided or value.is_quantized]
    if special:
        raise ReleasedFileError(f"{path}: {', '.join(special)}: sparse or quantised, expected plain tensors")
    return whole, hashlib.sha256(content).hexdigest()


def read_config(path: Path) -> dict[str, Any]:
    """The configuration beside a file of weights; empty where there is none.

    Raises:
        ReleasedFileError: when it is there and cannot be read.
    """
    beside = path.parent / CONFIG
    if not beside.exists():
        return {}
    try:
        found = yaml.safe_load(beside.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        problem = f"not a readable YAML file ({_first_line(error)})"
        raise ReleasedFileError(f"{beside}: {problem}: repair or move it") from error
    if not isinstance(found, dict):
        raise ReleasedFileError(f"{beside}: {_kind(found)}, expected keys and values: repair or move it")
    return found


def _safetensors(content: bytes, path: Path) -> Any:
    try:
        return load(content)
    except (SafetensorError, ValueError) as error:
        raise ReleasedFileError(f"{path}: a damaged safetensors file ({_first_line(error)}): fetch it again") from error


def _torch(content: bytes, path: Path) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the pickle protocol of bytes that are refused anyway
            return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except Exception as error:  # of a damaged or hostile file torch may raise anything
        if named := re.search(r"GLOBAL ([\w.]+)", str(error)):
            raise ReleasedFileError(
                f"{path}: it holds not only tensors but {named[1]!r}, which could run code when it is loaded; nothing "
                "was loaded. Ask its author for the state dict alone, best in safetensors"
            ) from error
        raise ReleasedFileError(
            f"{path}: no file of weights ({type(error).__name__}), expected torch's format or safetensors: it is "
            "damaged or of another kind, fetch it again"
        ) from error


def _kind(value: Any) -> str:
    """What a value is, in a few words."""
    return "an empty mapping" if value == {} else f"a {type(value).__name__}"


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
