"""What rules to stop achieve on every puzzle of a bank, simulated from its files."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from cvoting.adaptive import Stopping, by_threshold, crossed_thresholds, fixed
from cvoting.agreement import by_agreement
from cvoting.bank import Bank, BankHeader
from cvoting.bank_file import read_ends
from cvoting.errors import CvotingError
from cvoting.estimators import Subsets, expected
from cvoting.params.adaptive import AdaptivePlan
from cvoting.shards import Shards
from cvoting.statistics import chunks, quotient
from cvoting.table_files import METRICS, Row
from cvoting.tally import CANDIDATES_AT_ONCE, outcomes_of
from cvoting.tasks.base import Task
from cvoting.voting import VOTES, Ballot, Highest, Vote, available

#: The score of C-voting.
SCORE = "confidence"
#: Votes of a fixed number of candidates.
FIXED = (SCORE, "majority_answer")
#: What is said of every rule; `value` is the accuracy.
MEASURES = ("value", "drawn", "coverage", "accuracy_answered", "difference")


class AdaptiveError(CvotingError):
    """A bank that cannot be drawn from."""


@dataclass(frozen=True)
class Simulated:
    """What the rules achieve on the puzzles of one training seed.

    Attributes:
        header: what the bank is of.
        puzzles: hashes, in ascending order.
        rules: of each rule the columns that say what it is.
        thresholds: of each puzzle those of the first rules.
        stopping: what the rules do.
        curve: what C-voting achieves with each of `K` candidates.
        K: numbers of candidates, increasing, from 1 to the most that are drawn.
    """

    header: BankHeader
    puzzles: list[str]
    rules: list[Row]
    thresholds: Float[np.ndarray, "puzzles targets"]
    stopping: Stopping
    curve: Float[np.ndarray, "puzzles K metrics"]
    K: list[int]

    def numbers(self, metric: int, shares: Float[np.ndarray, "draws puzzles"]) -> Float[np.ndarray, "draws numbers"]:
        """The numbers in the order of `MEASURES`, of each measure those of all rules, by one of the metrics."""
        found = self.stopping
        right, drawn, coverage, answered = (
            shares @ values
            for values in (found.right[..., metric], found.drawn, found.stopped, found.right_stopped[..., metric])
        )
        alike = interpolated(np.array(self.K), shares @ self.curve[..., metric], drawn)
        return np.concatenate([right, drawn, coverage, quotient(answered, coverage), right - alike], axis=1)


@dataclass(frozen=True)
class _Held:
    """What is kept of some puzzles until all of them are known: thresholds are chosen on the others."""

    header: BankHeader
    puzzles: list[str]
    confidence: Float[np.ndarray, "puzzles M"]
    right: Bool[np.ndarray, "metrics puzzles M"]
    others: Stopping
    curve: Float[np.ndarray, "puzzles K metrics"]


def simulate(shards: Sequence[Path], plan: AdaptivePlan, task: Task) -> dict[int, Simulated]:
    """What the rules of a plan achieve, by training seed and, as metrics, by each of `METRICS` that the task has.

    The halves of the puzzles, of which one chooses the thresholds of the other, are those of odd and of even place in
    the order of hashes.  Memory: a confidence and the outcomes of each candidate that is drawn from.

    Args:
        shards, plan, task: as of `cvoting.adaptive_table.write_adaptive`, which says what is raised.
    """
    read, parts = Shards(), defaultdict[int, list[_Held]](list)
    for path in shards:
        for bank in read_ends(path):
            if bank.candidates < plan.candidates:
                raise AdaptiveError(
                    f"{path}: candidates = {plan.candidates}: expected at most {bank.candidates}, those of the bank"
                )
            training_seed, _ = read.add(path, bank)
            parts[training_seed].append(_held(bank, plan, task))
    _, first = read.complete(inference_seeds=1)
    return {seed: _simulated(_joined(parts.pop(seed)), first, plan) for seed in sorted(parts)}


def interpolated(
    K: Int[np.ndarray, "K"], curve: Float[np.ndarray, "draws K"], at: Float[np.ndarray, "draws rules"]
) -> Float[np.ndarray, "draws rules"]:
    """A curve between its points, by a straight line: what drawing now one number and now the next achieves.

    Args:
        K: where its points are, increasing, at least two.
        curve: its values there.
        at: where it is asked for.
    """
    place = np.clip(np.searchsorted(K, at, side="right") - 1, 0, len(K) - 2)
    share = (at - K[place]) / (K[place + 1] - K[place])
    below, above = (np.take_along_axis(curve, places, axis=1) for places in (place, place + 1))
    return below + share * (above - below)


def _held(bank: Bank, plan: AdaptivePlan, task: Task) -> _Held:
    """What is kept of a part of a bank."""
    places = [task.metrics.index(metric) for metric in METRICS if metric in task.metrics]
    ballot = Ballot.stacked({SCORE: bank.scores[SCORE]}, bank.answer_ids, bank.answers).of(slice(plan.candidates))
    outcomes = outcomes_of(bank, task).of(slice(plan.candidates))
    right = outcomes.candidates[places]

    def of_fixed(vote: Vote, K: Sequence[int]) -> Float[np.ndarray, "puzzles K metrics"]:
        return expected(vote, ballot, outcomes, K, _subsets(plan))[places].transpose(1, 2, 0)

    rules = [fixed(of_fixed(vote, plan.K), plan.K) for vote in _fixed_votes(bank).values()]
    agreed = by_agreement(ballot.scores[SCORE], ballot.answer_ids, right, _agreements(plan, bank), plan.K_max)
    return _Held(
        header=bank.header,
        puzzles=bank.puzzles,
        confidence=ballot.scores[SCORE].copy(),  # a view would keep the numbers of all candidates
        right=right > 0,
        others=Stopping.joined([agreed, *rules], axis=1),
        curve=of_fixed(VOTES[SCORE], _curve_at(plan)),
    )


def _joined(parts: Sequence[_Held]) -> _Held:
    """All puzzles of one training seed, in ascending order of their hashes."""
    puzzles = [puzzle for part in parts for puzzle in part.puzzles]
    order = np.argsort(puzzles)
    return _Held(
        header=parts[0].header,
        puzzles=[puzzles[p] for p in order],
        confidence=np.concatenate([part.confidence for part in parts])[order],
        right=np.concatenate([part.right for part in parts], axis=1)[:, order],
        others=Stopping.joined([part.others for part in parts], axis=0).of(order),
        curve=np.concatenate([part.curve for part in parts])[order],
    )


def _simulated(held: _Held, first: Bank, plan: AdaptivePlan) -> Simulated:
    """All rules on all puzzles of one training seed; without another half there is no threshold."""
    puzzles, M = held.confidence.shape
    targets = plan.targets if puzzles > 1 else ()
    thresholds = np.empty((puzzles, 0))
    if targets:
        thresholds = crossed_thresholds(held.confidence, np.arange(puzzles) % 2, targets, plan.K_max)
    confident = [
        by_threshold(held.confidence[some], held.right[:, some].astype(float), thresholds[some], plan.K_max)
        for some in chunks(puzzles, M, CANDIDATES_AT_ONCE)
    ]
    return Simulated(
        header=held.header,
        puzzles=held.puzzles,
        rules=list(_rules(plan, targets, first)),
        thresholds=thresholds,
        stopping=Stopping.joined([Stopping.joined(confident, axis=0), held.others], axis=1),
        curve=held.curve,
        K=_curve_at(plan),
    )


def _rules(plan: AdaptivePlan, targets: Sequence[float], bank: Bank) -> Iterator[Row]:
    """What each rule is, in their order."""
    until: Row = {"vote": SCORE, "K_max": plan.K_max}
    yield from ({"rule": "threshold", "parameter": target} | until for target in targets)
    yield from ({"rule": "agreement", "parameter": m} | until for m in _agreements(plan, bank))
    for name, vote in _fixed_votes(bank).items():
        for K in plan.K:
            exact = isinstance(vote, Highest) or K == 1 or _subsets(plan).exhausts(plan.candidates, K)
            own: Row = {"vote": name, "K_max": K, "subsets": None if exact else plan.subsets}
            yield {"rule": "fixed", "parameter": K} | own


def _fixed_votes(bank: Bank) -> dict[str, Vote]:
    """The votes of a fixed number of candidates that a bank can hold."""
    return available(FIXED, bank.scores, bank.knows_answers)


def _agreements(plan: AdaptivePlan, bank: Bank) -> tuple[int, ...]:
    """How often an answer is to be given, where answers are known."""
    return plan.agreements if bank.knows_answers else ()


def _subsets(plan: AdaptivePlan) -> Subsets:
    """What majorities are averaged over."""
    return Subsets(plan.subsets, plan.seed)


def _curve_at(plan: AdaptivePlan) -> list[int]:
    """Where C-voting's accuracy is known: at every number of candidates up to 45, then at one in 2 %."""
    dense = np.rint(2 ** np.arange(0, np.log2(plan.K_max), 1 / 32)).astype(int)
    return sorted({*dense.tolist(), *plan.K, plan.K_max})
