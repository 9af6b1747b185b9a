"""How many puzzles a dataset has in each split."""

from dataclasses import dataclass, fields

from cvoting.params.core import key


@dataclass(frozen=True, kw_only=True)
class Splits:
    """Number of puzzles per split; a split of 0 puzzles is not made."""

    train: int = key("training puzzles", default=0, minimum=0)
    validation: int = key("puzzles watched during training", default=0, minimum=0)
    test: int = key("test puzzles", default=0, minimum=0)

    @property
    def names(self) -> tuple[str, ...]:
        """The splits that are made."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name))
