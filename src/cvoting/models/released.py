"""What importing a released model's weights takes, whichever the model: its settings, and what a format offers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from cvoting.errors import CvotingError

#: What wrappers of torch put before every name: `torch.compile` and `DataParallel`.
WRAPPERS = ("_orig_mod.", "module.")
ABSENT = object()


class WeightsMismatch(CvotingError):
    """Weights that are not those of this model."""

    def __init__(self, what: str, problems: list[str]):
        super().__init__(f"{what}:\n" + "\n".join(f"  - {problem}" for problem in problems))


class SettingsError(CvotingError):
    """Settings of a released model that contradict its weights, or that it does not have."""


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


@dataclass
class Settings:
    """Settings of a released model, each from the first that has it: shapes, flags, a file, the released defaults.

    Attributes:
        flags: what the user states, by our dotted key, such as `network.heads`.
        config: the released program's configuration, where it left one.
        lines: what was found, with where it comes from, to be said aloud.
    """

    flags: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    _known: list[str] = field(default_factory=list)
    _problems: list[str] = field(default_factory=list)

    def told(self, key: str, value: Any, released: str = "") -> Any:
        """A setting that the weights tell; a flag or configuration may repeat it, not contradict it.

        Args:
            key: our name.
            value: what the weights tell.
            released: the dotted key of the released configuration, where it has one.
        """
        for where, stated in (("--set", self.flags.get(key, ABSENT)), ("all_config.yaml", self._released(released))):
            if stated is not ABSENT and stated != value:
                self._problems.append(f"{key} = {stated!r} ({where}): the weights are of {key} = {value!r}")
        return self._take(key, value, "the weights")

    def untold(self, key: str, default: Any, released: str = "") -> Any:
        """A setting that the weights do not tell.

        Args:
            key: our name.
            default: of the released program.
            released: as of `told`.
        """
        configured = self._released(released)
        if key in self.flags:
            return self._take(key, self.flags[key], "--set")
        if configured is not ABSENT:
            return self._take(key, configured, "all_config.yaml")
        return self._take(key, default, "assumed: the released default")

    def finish(self) -> None:
        """Nothing else is asked for.

        Raises:
            SettingsError: with every contradiction, and every flag that nobody asked for.
        """
        problems = self._problems + [
            f"{key}: unknown; known here: {', '.join(self._known)}" for key in self.flags if key not in self._known
        ]
        if problems:
            raise SettingsError("bad settings:\n" + "\n".join(f"  - {problem}" for problem in problems))

    def _take(self, key: str, value: Any, origin: str) -> Any:
        self._known.append(key)
        self.lines.append(f"{key} = {value} ({origin})")
        return value

    def _released(self, name: str) -> Any:
        block: Any = self.config if name else {}
        for part in name.split("."):
            block = block.get(part, ABSENT) if isinstance(block, Mapping) else ABSENT
        return block


#: What a module offers that knows the files of a released program: a function of the file's tensors by name and of the
#: settings, which it asks for all that makes the model and tells when that is all (`finish`).  It raises
#: WeightsMismatch with all names that are missing or unexpected, or all shapes that do not fit, and SettingsError as
#: `finish` does.
ReleasedFormat = Callable[[Mapping[str, Tensor], Settings], Released]


def without_wrappers(weights: Mapping[str, Tensor], prefix: str = "") -> dict[str, Tensor]:
    """The weights whose names start with a prefix, by names without it and without what wrappers of torch add."""
    found = {}
    for name, weight in weights.items():
        if name.startswith(prefix):
            rest = name.removeprefix(prefix)
            while start := next((w for w in WRAPPERS if rest.startswith(w)), ""):
                rest = rest.removeprefix(start)
            found[rest] = weight.to(torch.float32)
    return found
