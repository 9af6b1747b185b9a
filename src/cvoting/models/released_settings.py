"""Settings of a released model: what its weights, its configuration and the user say of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cvoting.errors import CvotingError

ABSENT = object()
#: Why a value is assumed.
RELEASED, SQUAREST = "the released default", "closest to a square"


class SettingsError(CvotingError):
    """Settings of a released model that contradict its weights, or that it does not have."""


def _unchanged(value: Any) -> Any:
    return value


@dataclass
class Settings:
    """Settings of a released model, each from the first that has it: shapes, flags, a file, the released defaults.

    Attributes:
        flags: what the user states, by our dotted key, such as `network.heads`.
        config: the released program's configuration, where it left one.
        stated_by: where the user states it, for lines and errors.
        lines: what was found, with where it comes from, to be said aloud.
    """

    flags: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    stated_by: str = "--set"
    lines: list[str] = field(default_factory=list)
    _known: list[str] = field(default_factory=list)
    _problems: list[str] = field(default_factory=list)

    def within(self, block: str) -> None:
        """From now on the configuration is this block of it; all of it where it has no such block."""
        inner = self.config.get(block)
        self.config = inner if isinstance(inner, Mapping) else self.config

    def told(
        self,
        key: str,
        value: Any,
        released: str = "",
        read: Callable[[Any], Any] = _unchanged,
        fits: Callable[[Any], bool] | None = None,
    ) -> Any:
        """A setting that the weights tell; a flag or configuration may repeat it, not contradict it.

        Args:
            key: our name.
            value: what the weights tell.
            released: the dotted key of the released configuration, where it has one.
            read: our value from the configuration's.
            fits: where several values make the same weights, whether one does; what is stated is then taken.
        """
        taken = value, "the weights"
        for stated, where in (
            (self._released(released, read), "all_config.yaml"),
            (self.flags.get(key, ABSENT), self.stated_by),
        ):
            if stated is ABSENT:
                continue
            if not (fits(stated) if fits else stated == value):
                self._problems.append(f"{key} = {stated!r} ({where}): the weights are of {key} = {value!r}")
            elif fits:
                taken = stated, where
        return self._take(key, *taken)

    def untold(
        self, key: str, default: Any, released: str = "", read: Callable[[Any], Any] = _unchanged, why: str = RELEASED
    ) -> Any:
        """A setting that the weights do not tell.

        Args:
            key: our name.
            default: what else it is.
            released, read: as of `told`.
            why: the default is assumed.
        """
        configured = self._released(released, read)
        if key in self.flags:
            return self._take(key, self.flags[key], self.stated_by)
        if configured is not ABSENT:
            return self._take(key, configured, "all_config.yaml")
        return self._take(key, default, f"assumed: {why}")

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

    def _released(self, name: str, read: Callable[[Any], Any]) -> Any:
        found: Any = self.config if name else {}
        for part in name.split("."):
            found = found.get(part, ABSENT) if isinstance(found, Mapping) else ABSENT
        return found if found is ABSENT else read(found)
