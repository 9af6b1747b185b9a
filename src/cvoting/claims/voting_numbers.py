"""Numbers of votes that several claims are made of, and how accuracies that the paper prints are judged."""

from collections.abc import Callable, Sequence

from cvoting.claims.claim import Part
from cvoting.claims.estimates import Estimate, minus
from cvoting.claims.evidence import WHERE, Evidence
from cvoting.claims.rules import Matches
from cvoting.table_files import NO_VOTE

HARD, EXTREME, MAZE = WHERE
SUDOKUS = (HARD, EXTREME)
#: Half of the last digit of a percentage with one decimal.
DIGIT = 0.0005

Number = Callable[[Evidence], Estimate]


def accuracy(model: str, dataset: str, vote: str = "confidence", **options: object) -> Number:
    """The accuracy of a model under a vote of as many candidates as there are."""
    return lambda e: e.accuracy(e.bank(model, dataset), vote, **options)  # type: ignore[arg-type]


def gain(model: str, dataset: str) -> Number:
    """What C-voting gains, at the largest K."""
    return lambda e: e.gain(model, dataset)


def over_energy(dataset: str) -> Number:
    """C-voting minus E-voting in AKOrN, with its growth over K."""

    def number(evidence: Evidence) -> Estimate:
        bank = evidence.bank("akorn", dataset)
        found = evidence.paired(bank, "energy_sum")
        return evidence.growing(found, evidence.compared(bank, "energy_sum"))

    return number


def over_model(dataset: str, other: str, vote: str, other_vote: str = NO_VOTE) -> Number:
    """ItrSA++ under a vote above another model."""
    may_fail = (other, dataset) == ("akorn", MAZE)  # it solves no maze in the paper either
    return lambda e: e.above(
        e.accuracy(e.bank("itrsa", dataset), vote), e.accuracy(e.bank(other, dataset), other_vote), may_fail
    )


def gain_over(more: tuple[str, str], less: tuple[str, str]) -> Number:
    """The gain of one model on one dataset minus that of another, at the K that both have."""

    def number(evidence: Evidence) -> Estimate:
        K = evidence.largest_K(more, less)
        return minus(evidence.gain(*more, K), evidence.gain(*less, K))

    return number


def against_score(dataset: str, score: str) -> Number:
    """C-voting minus the vote by another score, in ItrSA++."""
    return lambda e: e.paired(e.bank("itrsa", dataset), score)


def printed_accuracies(rows: Sequence[tuple[str, str, str, str, str]]) -> tuple[Part, ...]:
    """Accuracies that the paper prints: published id, model, dataset, vote, what it is called."""
    return tuple(
        Part(f"accuracy on {WHERE[dataset]}", accuracy(model, dataset, vote), Matches(DIGIT), id, headline=headline)
        for id, model, dataset, vote, headline in rows
    )
