"""The audit of puzzle sets: sound puzzles, no duplicates, no overlap of training and test puzzles.

What a sound puzzle is, and which puzzles are equal up to symmetry, an `Auditor` of the task knows.  Everything the
audit finds is a mask over the puzzles of a set.  Some masks are defects: puzzles that no set should hold.  The others
are facts; equality up to symmetry is one of them, because there are so few small boards that it cannot be avoided.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Int, UInt8

from cvoting.data.puzzles import Puzzles

#: The facts that a strict audit counts as defects.
SYMMETRY_FACTS = ("duplicate_up_to_symmetry", "in_another_set_up_to_symmetry")


@dataclass(frozen=True, eq=False)
class Examination:
    """What there is to know about each puzzle of a set.  The names become columns of the table.

    Attributes:
        measures: numbers that a reader wants the range and the histogram of, such as the givens.
        facts: what may be so, such as having one solution.
        defects: what must not be so, such as an answer that contradicts its question.
    """

    measures: Mapping[str, Int[np.ndarray, "puzzles"]]
    facts: Mapping[str, Bool[np.ndarray, "puzzles"]]
    defects: Mapping[str, Bool[np.ndarray, "puzzles"]]


@dataclass(frozen=True, eq=False)
class Difficulty:
    """How difficult each puzzle of a set is.

    Attributes:
        measure: what is counted, in a word.
        values: of each puzzle.
        starts: the least value of each stratum, ascending, of which the last has no end; empty: strata of about as many
            puzzles each.
    """

    measure: str
    values: Int[np.ndarray, "puzzles"]
    starts: tuple[int, ...] = ()


@runtime_checkable
class Auditor(Protocol):
    """What the audit asks of a task, and the strata of a set; `data.audit_registry` names one for each task and calls
    it with the task.
    """

    def examine(
        self, questions: UInt8[np.ndarray, "puzzles cells"], answers: UInt8[np.ndarray, "puzzles cells"]
    ) -> Examination:
        """Each puzzle by itself.

        Every defect and fact has a mask, also where it is false of every puzzle: all sets of a task have one form.

        Args:
            questions: tokens of the task's vocabulary.
            answers: any tokens; a token that no answer has is a defect to be found, not an error.
        """

    def symmetry_classes(self, questions: UInt8[np.ndarray, "puzzles cells"]) -> Int[np.ndarray, "puzzles"]:
        """A number for each puzzle: the same for two exactly if a symmetry of the task maps one question to the other.

        Args:
            questions: those of all sets one after the other; some may be equal.
        """

    def difficulty(self, puzzles: Puzzles) -> Difficulty:
        """How difficult each puzzle is, by what its source states of it or by what can be counted.

        Args:
            puzzles: sound ones of the task.
        """


@dataclass(frozen=True, eq=False)
class AuditedSet:
    """A set and what was found.

    Attributes:
        name: how it is called in the report: its file.
        origin, source: what the puzzles say of themselves.
        found: the examination of its puzzles, with their ratings, duplicates and overlap added.
    """

    name: str
    origin: str
    source: str
    found: Examination

    def __len__(self) -> int:
        return len(next(iter(self.found.defects.values())))


@dataclass(frozen=True)
class Overlap:
    """How many puzzles of each of two sets are in the other one.

    Attributes:
        sets: their names.
        exact: equal questions: puzzles of the first set, puzzles of the second.
        up_to_symmetry: questions that a symmetry makes equal, which includes the equal ones.
    """

    sets: tuple[str, str]
    exact: tuple[int, int]
    up_to_symmetry: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Audit:
    """The audit of some sets.

    Attributes:
        sets: one entry per set.
        overlaps: one entry per pair.
        refused: files that could not be read, and why.
    """

    sets: tuple[AuditedSet, ...]
    overlaps: tuple[Overlap, ...]
    refused: Mapping[str, str]

    def defects(self, strict: bool = False) -> list[str]:
        """One line for each kind of defect in each set; none for clean sets.

        Args:
            strict: equality up to symmetry is a defect.
        """
        lines = [f"refused: {why}" for why in self.refused.values()]
        for audited in self.sets:
            facts = audited.found.facts
            masks = {**audited.found.defects, **{name: facts[name] for name in SYMMETRY_FACTS if strict}}
            for name, mask in masks.items():
                if mask.any():
                    puzzles = "1 puzzle" if mask.sum() == 1 else f"{mask.sum():,} puzzles"
                    lines.append(f"{audited.name}: {puzzles} with {name}, the first is number {np.argmax(mask) + 1:,}")
        return lines


def audit(
    auditor: Auditor,
    sets: Mapping[str, Puzzles],
    against: Mapping[str, Puzzles] | None = None,
    refused: Mapping[str, str] | None = None,
) -> Audit:
    """Examine every puzzle, and compare every set with every other one.

    Args:
        auditor: that of the sets' task.
        sets: what is audited, by name.
        against: further sets, with which the others are compared; they are not audited themselves.
        refused: files that could not be read, and why; they are reported.
    """
    if not sets:
        return Audit((), (), refused or {})
    everything = {**sets, **(against or {})}
    starts = np.cumsum([len(puzzles) for puzzles in everything.values()])[:-1]
    questions = np.concatenate([puzzles.questions for puzzles in everything.values()])
    exact = dict(zip(everything, np.split(distinct(questions)[1], starts), strict=True))
    similar = dict(zip(everything, np.split(auditor.symmetry_classes(questions), starts), strict=True))
    pairs = [*combinations(sets, 2), *product(sets, [name for name in everything if name not in sets])]
    audited = []
    for name, puzzles in sets.items():
        found = auditor.examine(puzzles.questions, puzzles.answers)
        ratings = {} if puzzles.ratings is None else {"rating": puzzles.ratings}
        examination = Examination(
            measures={**found.measures, **ratings},
            facts={
                **found.facts,
                "duplicate_up_to_symmetry": _repeated(similar[name]),
                "in_another_set_up_to_symmetry": _in_others(name, similar),
            },
            defects={
                **found.defects,
                "duplicate": _repeated(exact[name]),
                "in_another_set": _in_others(name, exact),
            },
        )
        audited.append(AuditedSet(name, puzzles.origin, puzzles.source, examination))
    overlaps = tuple(Overlap(pair, _shared(pair, exact), _shared(pair, similar)) for pair in pairs)
    return Audit(tuple(audited), overlaps, refused or {})


def distinct(
    rows: UInt8[np.ndarray, "puzzles cells"],
) -> tuple[Int[np.ndarray, "different"], Int[np.ndarray, "puzzles"]]:
    """The place of the first of each kind of row, and for every row the number of its kind."""
    # As opaque values of that many bytes: some times faster than `axis=0`.
    opaque = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1])))[:, 0]
    _, first, kind = np.unique(opaque, return_index=True, return_inverse=True)
    return first, kind


def _repeated(classes: Int[np.ndarray, "puzzles"]) -> Bool[np.ndarray, "puzzles"]:
    """The puzzles whose class an earlier one has."""
    mask = np.ones(len(classes), bool)
    mask[np.unique(classes, return_index=True)[1]] = False
    return mask


def _in_others(name: str, classes: Mapping[str, Int[np.ndarray, "_"]]) -> Bool[np.ndarray, "_"]:
    """The puzzles of a set whose class another set has."""
    others = [numbers for other, numbers in classes.items() if other != name]
    return np.isin(classes[name], np.concatenate(others)) if others else np.zeros(len(classes[name]), bool)


def _shared(pair: tuple[str, str], classes: Mapping[str, Int[np.ndarray, "_"]]) -> tuple[int, int]:
    """How many puzzles of each set have a class of the other's."""
    first, second = (classes[name] for name in pair)
    return int(np.isin(first, second).sum()), int(np.isin(second, first).sum())
