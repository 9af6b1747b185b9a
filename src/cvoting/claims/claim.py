"""What a claim is made of: the numbers that bear on it, and how each is judged."""

from collections.abc import Callable
from dataclasses import dataclass

from cvoting.claims.estimates import Estimate
from cvoting.claims.evidence import Evidence
from cvoting.claims.rules import Rule

#: How a number is read: in points of a percent, as a count, or as it is.
UNITS = ("%", "count", "")


@dataclass(frozen=True)
class Part:
    """A number that bears on a claim.

    Attributes:
        about: what it is, in words.
        number: finds it in a study.
        rule: judges it.
        published: the row of reference/published.csv that it stands beside.
        unit: one of `UNITS`.
        headline: what README calls it; None: it is not among its numbers.
    """

    about: str
    number: Callable[[Evidence], Estimate]
    rule: Rule
    published: str
    unit: str = "%"
    headline: str | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, or a question that it leaves open.

    Attributes:
        id: `c1` and so on; of a question `q1` and so on.
        about: the claim, in words.
        parts: what decides; it holds where each of them says so.
        shown_in: the paper's figure or table that shows it, by its name in a study; None: none does.
    """

    id: str
    about: str
    parts: tuple[Part, ...]
    shown_in: str | None = None

    @property
    def question(self) -> bool:
        """Whether it is a question."""
        return self.id.startswith("q")
