"""Parameters of the figures."""

from collections.abc import Iterator
from dataclasses import dataclass

from cvoting.params.core import key


@dataclass(frozen=True, kw_only=True)
class AkornVotingFigure:
    """Figure 2: C-voting against E-voting in AKOrN, one panel per bank."""

    banks: tuple[str, ...] = key("one panel per bank, left to right")
    votes: tuple[str, ...] = key("selection rules drawn as curves")


@dataclass(frozen=True, kw_only=True)
class FiguresParams:
    """The figures of the study; an absent figure is not drawn."""

    fig2_akorn_voting: AkornVotingFigure | None = key("Figure 2", default=None)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.__dataclass_fields__ if getattr(self, name) is not None)
