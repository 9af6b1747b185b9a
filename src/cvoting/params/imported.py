"""Parameters of a run whose weights come from a file."""

import re
from dataclasses import dataclass
from typing import Literal

from cvoting.params.core import ParameterError, key

#: Architectures whose released weights can be read: the keys of `models.released_registry.FORMATS`, without torch.
RELEASED = ("akorn", "hrm")


@dataclass(frozen=True, kw_only=True)
class ImportedParams:
    """A file of weights in the place of a training."""

    file: str = key("path of the file, from the folder where the workflow runs")
    sha256: str = key("its SHA-256, 64 hex digits: a file of other contents is refused")
    format: Literal["checkpoint", "released"] = key(
        "checkpoint: written by cvoting; released: by the released code of the network's architecture",
        default="checkpoint",
    )
    puzzle_identifier: int | None = key(
        "which puzzle embedding of a released HRM of several is the prefix; null: 0, that of all released Sudoku and "
        "mazes",
        default=None,
        minimum=0,
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise ParameterError(
                [f"sha256 = {self.sha256!r}: expected 64 hex digits in lower case (sha256sum {self.file})"]
            )
