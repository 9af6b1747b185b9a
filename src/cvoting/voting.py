"""Selection rules: the candidates of a puzzle -> one answer.

A rule sees a `Ballot`, which holds scores and answers and no label, so no rule can look at one.  Ties go to the
candidate of the lowest index.  `VOTES` lists the rules by name: a new score is a line there, a new kind of rule a class
with `needs` and either `select` or `compose`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int, UInt8

#: Cells of candidates' answers that `MajorityCell` holds at once: bounds its memory.
CELLS_AT_ONCE = 2**23


@dataclass(frozen=True)
class Ballot:
    """What a rule may look at: candidate k of puzzle p is entry [p, k] of every array.

    Attributes:
        scores: per name, larger is better.
        answer_ids: the row of `answers` that a candidate answered; no row is of two puzzles.
        answers: the distinct answers of all puzzles, as tokens.
    """

    scores: dict[str, Float[np.ndarray, "puzzles candidates"]]
    answer_ids: Int[np.ndarray, "puzzles candidates"]
    answers: UInt8[np.ndarray, "answers cells"]

    @staticmethod
    def stacked(
        scores: dict[str, Float[np.ndarray, "puzzles candidates"]],
        answer_ids: Int[np.ndarray, "puzzles candidates"],
        answers: list[UInt8[np.ndarray, "_ cells"]],
    ) -> "Ballot":
        """The ballot of puzzles with a table of answers each, whose rows the answer ids count from 0."""
        first_rows = np.cumsum([0, *(len(table) for table in answers[:-1])])
        return Ballot(scores, answer_ids + first_rows[:, None], np.concatenate(answers))

    def of(self, candidates: slice | Int[np.ndarray, "chosen"]) -> "Ballot":
        """The ballot of some candidates, in ascending order."""
        scores = {name: values[:, candidates] for name, values in self.scores.items()}
        return Ballot(scores, self.answer_ids[:, candidates], self.answers)

    def showing(self, names: tuple[str, ...]) -> "Ballot":
        """The ballot with these scores only."""
        return Ballot({name: self.scores[name] for name in names}, self.answer_ids, self.answers)


@runtime_checkable
class Selecting(Protocol):
    """A rule that selects a candidate."""

    #: Whether it looks at what candidates answered; a bank at an earlier step does not know.
    needs_answers: ClassVar[bool]

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the scores the rule looks at; a bank without them has no such vote."""

    def select(self, ballot: Ballot) -> Int[np.ndarray, "puzzles"]:
        """The index of the selected candidate."""


@runtime_checkable
class Composing(Protocol):
    """A rule whose answer need not be that of a candidate."""

    needs_answers: ClassVar[bool]

    @property
    def needs(self) -> tuple[str, ...]:
        """As of `Selecting`."""

    def compose(self, ballot: Ballot) -> UInt8[np.ndarray, "puzzles cells"]:
        """The answers, as tokens."""


@dataclass(frozen=True)
class Highest:
    """The candidate of the largest score: k* = argmax_k s^(k) (C-voting: Section 4; E-voting, s = -E: Section 3.2)."""

    score: str
    needs_answers: ClassVar[bool] = False

    @property
    def needs(self) -> tuple[str, ...]:
        """The score."""
        return (self.score,)

    def select(self, ballot: Ballot) -> Int[np.ndarray, "puzzles"]:
        """The index of the candidate."""
        return ballot.scores[self.score].argmax(axis=1)


@dataclass(frozen=True)
class MajorityAnswer:
    """The answer that most candidates gave as a whole, or whose candidates' scores have the largest sum.

    Of answers with equally many votes, the one that appears first.
    """

    weight: str | None = None
    needs_answers: ClassVar[bool] = True

    @property
    def needs(self) -> tuple[str, ...]:
        """The weight, where there is one."""
        return () if self.weight is None else (self.weight,)

    def select(self, ballot: Ballot) -> Int[np.ndarray, "puzzles"]:
        """The index of the first candidate that gave the answer."""
        weights = None if self.weight is None else ballot.scores[self.weight].ravel()
        votes = np.bincount(ballot.answer_ids.ravel(), weights, minlength=len(ballot.answers))
        return votes[ballot.answer_ids].argmax(axis=1)


@dataclass(frozen=True)
class MajorityCell:
    """In each cell the token that most candidates answered; the result need not be the answer of any candidate.

    Of tokens with equally many votes, the one that appears first.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    needs_answers: ClassVar[bool] = True

    def compose(self, ballot: Ballot) -> UInt8[np.ndarray, "puzzles cells"]:
        """The composed answers."""
        cells = ballot.answers.shape[1]
        at_once = max(1, CELLS_AT_ONCE // (ballot.answer_ids.shape[1] * cells))
        parts = np.split(ballot.answer_ids, range(at_once, len(ballot.answer_ids), at_once))
        return np.concatenate([_cell_modes(ids, ballot.answers) for ids in parts])


@dataclass(frozen=True)
class Reference:
    """Not a rule but a line to compare rules with: a statistic of the candidates' outcomes, which rules never see."""

    statistic: Literal["mean", "max"]
    needs: ClassVar[tuple[str, ...]] = ()
    needs_answers: ClassVar[bool] = False


Vote = Selecting | Composing | Reference

VOTES: dict[str, Vote] = {
    "confidence": Highest("confidence"),  # C-voting
    "negative_entropy": Highest("negative_entropy"),
    "log_probability": Highest("log_probability"),
    "energy_last": Highest("energy_last"),  # E-voting as the paper writes it
    "energy_sum": Highest("energy_sum"),  # E-voting as AKOrN's README runs it
    "halting_logit": Highest("halting_logit"),  # HRM's own opinion of whether it is done
    "confidence_stablemax": Highest("confidence_stablemax"),  # C-voting with the probabilities that HRM trains
    "latent_residual": Highest("latent_residual"),
    "logit_residual": Highest("logit_residual"),
    "majority_answer": MajorityAnswer(),
    "majority_cell": MajorityCell(),
    "majority_confidence": MajorityAnswer(weight="confidence"),
    "random": Reference("mean"),  # any candidate, each equally often
    "oracle": Reference("max"),  # right where any candidate is: pass@K
}


def available(
    votes: Collection[str], scores: Collection[str], answers: bool = True, boards: bool = True
) -> dict[str, Vote]:
    """Of the votes of these names, those that a bank can hold.

    Args:
        votes: names.
        scores: those that the bank knows.
        answers: whether it knows which candidates answered alike.
        boards: whether it knows what they answered, of which answers can be composed.
    """
    held = {name: VOTES[name] for name in votes if set(VOTES[name].needs) <= set(scores)}
    return {
        name: vote
        for name, vote in held.items()
        if (answers or not vote.needs_answers) and (boards or not isinstance(vote, Composing))
    }


def _cell_modes(
    answer_ids: Int[np.ndarray, "puzzles candidates"], answers: UInt8[np.ndarray, "answers cells"]
) -> UInt8[np.ndarray, "puzzles cells"]:
    """The most frequent token of each cell, from the distinct answers and how often each was given."""
    voted, ids, counts = np.unique(answer_ids, return_inverse=True, return_counts=True)
    ids, rows = ids.reshape(answer_ids.shape), answers[voted]
    puzzles, cells, tokens = len(ids), rows.shape[1], int(rows.max()) + 1
    puzzle_of = np.empty(len(voted), dtype=np.int64)
    puzzle_of[ids] = np.arange(puzzles)[:, None]
    bins = (puzzle_of[:, None] * cells + np.arange(cells)) * tokens + rows
    votes = np.bincount(bins.ravel(), np.repeat(counts, cells), minlength=puzzles * cells * tokens)
    votes = votes.reshape(puzzles, cells, tokens)
    modes = votes.argmax(axis=-1)
    # argmax prefers the smallest token; where several share the maximum, the candidates are asked in their order.
    puzzle, cell = np.nonzero((votes == votes.max(axis=-1, keepdims=True)).sum(axis=-1) > 1)
    answered = rows[ids[puzzle], cell[:, None]]
    first = np.take_along_axis(votes[puzzle, cell], answered.astype(np.int64), axis=1).argmax(axis=1)
    modes[puzzle, cell] = answered[np.arange(len(puzzle)), first]
    return modes.astype(np.uint8)
