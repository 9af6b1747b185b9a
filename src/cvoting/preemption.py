"""Ending in time where a scheduler takes the machine away."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from cvoting.errors import CvotingError


class Preempted(CvotingError):
    """SIGTERM came, and what was done so far is saved."""

    #: Exit status: 128 + the number of the signal.
    status = 128 + signal.SIGTERM


@contextmanager
def sigterm_noticed() -> Iterator[Callable[[], bool]]:
    """While the block runs SIGTERM only leaves a note; the function given says whether it came."""
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True

    before = signal.signal(signal.SIGTERM, note)
    try:
        yield lambda: came
    finally:
        signal.signal(signal.SIGTERM, before)
