"""Parameters of the intervals."""

from dataclasses import dataclass

from cvoting.params.core import key


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """How intervals are made."""

    resamples: int = key("bootstrap resamples", minimum=100)
    level: float = key("confidence level of the intervals", above=0, below=1)
    seed: int = key("seed of all that is drawn at random", minimum=0)
