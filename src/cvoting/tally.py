"""What every vote achieved on every puzzle of a bank, counted from its files a few puzzles at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, UInt8

from cvoting.bank import Bank, BankHeader, concatenate
from cvoting.bank_file import read_at, read_ends
from cvoting.diversity import distinct_expected, distinct_prefix, tied_expected, tied_prefix
from cvoting.errors import CvotingError
from cvoting.estimators import Outcomes, Subsets, expected, prefix
from cvoting.metrics import CELL_ACCURACY, judge
from cvoting.params.voting import VotingParams
from cvoting.shards import Shards
from cvoting.tasks.base import Task
from cvoting.voting import Ballot, Highest, Vote, available

ESTIMATORS = ("prefix", "expected")
#: Candidates in memory at once.
CANDIDATES_AT_ONCE = 2**18


class TallyError(CvotingError):
    """A bank whose votes cannot be counted."""


@dataclass(frozen=True)
class Tally:
    """The outcomes of a bank's votes; its size does not depend on the number of candidates.

    Attributes:
        header: what the bank is of; its seeds and shard mean nothing.
        candidates: M.
        votes, outcomes, K: names of the votes the bank can hold; the task's metrics, 0 or 1 for a puzzle, and the cell
            accuracy, a share; numbers of candidates.
        subsets: what majorities are averaged over.
        puzzles: hashes, in ascending order.
        values: per (training seed, inference seed) what the votes achieved: puzzles x `votes` x `ESTIMATORS` x
            `outcomes` x `K`.
        tied: per (training seed, inference seed) the chance that scores tie at the top; NaN for votes that are not by a
            score.
        distinct: per (training seed, inference seed) the number of distinct answers; NaN where they are unknown.
    """

    header: BankHeader
    candidates: int
    votes: tuple[str, ...]
    outcomes: tuple[str, ...]
    K: tuple[int, ...]
    subsets: Subsets
    puzzles: list[str]
    values: dict[tuple[int, int], Float[np.ndarray, "puzzles votes estimators outcomes K"]]
    tied: dict[tuple[int, int], Float[np.ndarray, "puzzles votes estimators K"]]
    distinct: dict[tuple[int, int], Float[np.ndarray, "puzzles estimators K"]]

    def of(self, chosen: Bool[np.ndarray, "puzzles"]) -> "Tally":
        """The outcomes on some of the puzzles."""

        def part(numbers: dict[tuple[int, int], np.ndarray]) -> dict[tuple[int, int], np.ndarray]:
            return {seeds: of_puzzles[chosen] for seeds, of_puzzles in numbers.items()}

        puzzles = list(compress(self.puzzles, chosen))
        values, tied, distinct = map(part, (self.values, self.tied, self.distinct))
        return replace(self, puzzles=puzzles, values=values, tied=tied, distinct=distinct)


@dataclass
class _Counted:
    """What was counted of the shards of one pair of seeds so far."""

    puzzles: list[str]
    values: list[np.ndarray]
    tied: list[np.ndarray]
    distinct: list[np.ndarray]

    def take(self, name: str) -> np.ndarray:
        """What was counted under a name, with the puzzles in ascending order of their hashes; it is not kept here."""
        parts = getattr(self, name)
        together = np.concatenate(parts)
        parts.clear()
        return together[np.argsort(self.puzzles, kind="stable")]


def tally(shards: Sequence[Path], params: VotingParams, task: Task, step: int | None = None) -> Tally:
    """Count the votes of a bank.

    Memory is that of `CANDIDATES_AT_ONCE` candidates and of twice the result.

    Args:
        shards: the files of one bank: of all training seeds, inference seeds and shards, in any order.
        params: which votes, over which numbers of candidates.
        task: says what answers are judged by, and judges composed ones.
        step: where the votes are held: one of the bank's `steps`; None: at the end.

    Raises:
        BankFileError: when a file is no bank, or was not read out at the step.
        ShardsError: when the files are not all those of one bank.
        TallyError: when there are fewer candidates than the largest K, when no vote can be held, or when a score is not
            a number.
    """
    counted: dict[tuple[int, int], _Counted] = {}
    read = Shards()
    subsets = Subsets(params.subsets, params.seed)
    for path in shards:
        for bank in _batches(read_ends(path) if step is None else read_at(path, step)):
            seeds = read.add(path, bank)
            _check(path, bank, params, task)
            votes = _held(bank, params)
            count = counted.setdefault(seeds, _Counted([], [], [], []))
            count.puzzles += bank.puzzles
            count.values.append(_values(bank, votes, params.K, subsets, task))
            count.tied.append(_tied(bank, votes, params.K))
            count.distinct.append(_distinct(bank, params.K))
    puzzles, first = read.complete()
    return Tally(
        header=first.header,
        candidates=first.candidates,
        votes=tuple(_held(first, params)),
        outcomes=(*task.metrics, CELL_ACCURACY),
        K=params.K,
        subsets=subsets,
        puzzles=puzzles,
        values={seeds: counted[seeds].take("values") for seeds in sorted(counted)},
        tied={seeds: counted[seeds].take("tied") for seeds in sorted(counted)},
        distinct={seeds: counted[seeds].take("distinct") for seeds in sorted(counted)},
    )


def _held(bank: Bank, params: VotingParams) -> dict[str, Vote]:
    """The votes that the bank can hold."""
    return available(params.votes, bank.scores, bank.knows_answers, bank.knows_boards)


def _batches(parts: Iterable[Bank]) -> Iterator[Bank]:
    """The same puzzles in larger parts, of at most `CANDIDATES_AT_ONCE` candidates or one part."""
    batch: list[Bank] = []
    for part in parts:
        if batch and (sum(map(len, batch)) + len(part)) * part.candidates > CANDIDATES_AT_ONCE:
            whole, batch = concatenate(batch), []
            yield whole
        batch.append(part)
    if batch:
        yield concatenate(batch)


def _check(path: Path, bank: Bank, params: VotingParams, task: Task) -> None:
    """Refuse a bank that cannot be counted."""
    if missing := [metric for metric in task.metrics if metric not in bank.correct]:
        raise TallyError(
            f"{path}: answers judged by {', '.join(bank.correct)}: expected {', '.join(missing)} too: roll out again"
        )
    if not _held(bank, params):
        raise TallyError(f"{path}: scores {', '.join(bank.scores)}: expected those of one of {', '.join(params.votes)}")
    if params.K[-1] > bank.candidates:
        raise TallyError(f"{path}: K = {params.K[-1]}: expected at most {bank.candidates}, the candidates of the bank")
    for name, scores in bank.scores.items():
        if np.isnan(scores).any():
            puzzle, candidate = np.argwhere(np.isnan(scores))[0]
            raise TallyError(
                f"{path}: {name} of candidate {candidate + 1} of puzzle {bank.puzzles[puzzle]} is not a number: "
                "the model diverged (train it again), or the puzzle has no position to predict (leave it out)"
            )


def _values(
    bank: Bank, votes: dict[str, Vote], K: Sequence[int], subsets: Subsets, task: Task
) -> Float[np.ndarray, "puzzles votes estimators outcomes K"]:
    """The outcomes of every vote."""
    ballot = Ballot.stacked(bank.scores, bank.answer_ids, bank.answers)
    outcomes = outcomes_of(bank, task)
    values = [
        [prefix(vote, ballot, outcomes, K), expected(vote, ballot, outcomes, K, subsets)] for vote in votes.values()
    ]
    return np.moveaxis(np.array(values), 3, 0)


def _tied(bank: Bank, votes: dict[str, Vote], K: Sequence[int]) -> Float[np.ndarray, "puzzles votes estimators K"]:
    """Ties at the top, by both estimators."""
    unknown = np.full((len(ESTIMATORS), len(bank), len(K)), np.nan)
    shares = [
        [tied_prefix(bank.scores[vote.score], K), tied_expected(bank.scores[vote.score], K)]
        if isinstance(vote, Highest)
        else unknown
        for vote in votes.values()
    ]
    return np.moveaxis(np.array(shares), 2, 0)


def _distinct(bank: Bank, K: Sequence[int]) -> Float[np.ndarray, "puzzles estimators K"]:
    """Distinct answers, by both estimators."""
    if not bank.knows_answers:
        return np.full((len(bank), len(ESTIMATORS), len(K)), np.nan)
    return np.stack([distinct_prefix(bank.answer_ids, K), distinct_expected(bank.answer_ids, K)], axis=1)


def outcomes_of(bank: Bank, task: Task) -> Outcomes:
    """What the answers of a bank's candidates are worth, and how to judge other answers to its puzzles.

    Args:
        bank: the candidates.
        task: the judge.
    """

    def stacked(correct: dict[str, np.ndarray], cell_accuracy: np.ndarray) -> np.ndarray:
        return np.stack([*(correct[metric] for metric in task.metrics), cell_accuracy]).astype(float)

    def judged(answers: UInt8[np.ndarray, "puzzles cells"]) -> Float[np.ndarray, "outcomes puzzles"]:
        return stacked(*judge(task, answers, bank.questions, bank.labels))

    return Outcomes(stacked(bank.correct, bank.cell_accuracy), judged)
