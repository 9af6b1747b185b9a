"""The predictions whose logits a bank keeps: every cell to predict, of some candidates of every puzzle."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Float16, Int, Int32, UInt8

from cvoting.bank import Bank, BankHeader
from cvoting.bank_file import read_ends
from cvoting.calibration import brier_score, fit_temperature, negative_log_likelihood, probabilities
from cvoting.errors import CvotingError
from cvoting.shards import Shards
from cvoting.statistics import chunks
from cvoting.table_files import Row, of_bank
from cvoting.tasks.base import Task

#: Predictions whose probabilities are in memory at once.
PREDICTIONS_AT_ONCE = 2**20
#: The score of C-voting.
SCORE = "confidence"


class PredictionsError(CvotingError):
    """A bank whose predictions are not kept."""


@dataclass(frozen=True)
class Predictions:
    """The kept predictions of one training seed; candidate k of puzzle p is number p * `candidates` + k.

    Attributes:
        header: what the bank is of.
        puzzles: hashes, in ascending order.
        candidates: how many of each puzzle are kept.
        logits: one per token, in descending order.
        ranks: the place of the label's.
        candidate: the number of the candidate whose prediction it is, ascending.
        confidence: the score of C-voting, from logits that were not rounded.
        correct: per metric of the task, whether the candidate's answer is right.
        cell_accuracy: share of the positions to predict that are right.
    """

    header: BankHeader
    puzzles: list[str]
    candidates: int
    logits: Float16[np.ndarray, "predictions tokens"]
    ranks: UInt8[np.ndarray, "predictions"]
    candidate: Int32[np.ndarray, "predictions"]
    confidence: Float[np.ndarray, "puzzles candidates"]
    correct: dict[str, Bool[np.ndarray, "puzzles candidates"]]
    cell_accuracy: Float[np.ndarray, "puzzles candidates"]

    @property
    def puzzle(self) -> Int32[np.ndarray, "predictions"]:
        """The place of the puzzle of each prediction."""
        return self.candidate // self.candidates

    def about(self, study: str) -> Row:
        """What rows about them have in common."""
        sizes = {"puzzles": len(self.puzzles), "candidates": self.candidates}
        return of_bank(study, self.header) | sizes | {"inference_seed": str(self.header.inference_seed)}

    def at(self, temperature: float) -> "Tempered":
        """The predictions by softmax(logits / temperature); at 1 candidates have the scores by which the bank votes.

        Args:
            temperature: above 0.
        """
        tempered = self._tempered([(temperature, np.arange(len(self.ranks)))])
        return replace(tempered, mean=self.confidence) if temperature == 1 else tempered

    def at_fitted(self) -> tuple["Tempered", float]:
        """The predictions at the temperature of least loss on the other half of the puzzles; the mean of the two.

        The halves are the puzzles of odd and of even place in the order of hashes.
        """
        halves = [np.flatnonzero(self.puzzle % 2 == half) for half in (0, 1)]
        fitted = [fit_temperature(self.logits[half], self.ranks[half]) for half in halves]
        return self._tempered([(fitted[1], halves[0]), (fitted[0], halves[1])]), sum(fitted) / 2

    def _tempered(self, parts: Sequence[tuple[float, Int[np.ndarray, "_"]]]) -> "Tempered":
        """The predictions where some have one temperature and others another."""
        top, right = np.empty(len(self.ranks)), self.ranks == 0
        sums, logs = np.zeros((4, len(self.puzzles) * self.candidates)), np.zeros(len(self.puzzles) * self.candidates)
        for temperature, places in parts:
            for rows in chunks(len(places), 1, PREDICTIONS_AT_ONCE):
                some = places[rows]
                logits, ranks, candidate = self.logits[some], self.ranks[some], self.candidate[some]
                p = probabilities(logits, temperature)
                top[some] = p[:, 0]
                loss = negative_log_likelihood(logits, ranks, temperature)
                for total, values in zip(sums, (None, top[some], brier_score(p, ranks), loss), strict=True):
                    total += np.bincount(candidate, values, minlength=len(total))
                logs += np.bincount(candidate, np.log(top[some]), minlength=len(logs))
        shape = len(self.puzzles), self.candidates
        return Tempered(
            top=top,
            right=right,
            sums=sums.T.reshape(*shape, 4),
            mean=(sums[1] / sums[0]).reshape(shape),
            joint=np.exp(logs).reshape(shape),
        )


@dataclass(frozen=True)
class Tempered:
    """Predictions at a temperature, or at one for each half of the puzzles.

    Attributes:
        top: the largest probability of the cell.
        right: whether its token is the label's.
        sums: of each candidate the number of its predictions, and sums of `top`, of Brier scores and of negative log
            likelihoods.
        mean: of each candidate the mean of `top`, C-voting's score.
        joint: the product of `top`: the chance that all cells are right, if they were calibrated and
            independent.
    """

    top: Float[np.ndarray, "predictions"]
    right: Bool[np.ndarray, "predictions"]
    sums: Float[np.ndarray, "puzzles candidates 4"]
    mean: Float[np.ndarray, "puzzles candidates"]
    joint: Float[np.ndarray, "puzzles candidates"]


def chosen(confidence: Float[np.ndarray, "puzzles candidates"], whose: str) -> Bool[np.ndarray, "puzzles candidates"]:
    """Which candidates are meant.

    Args:
        confidence: by which C-voting selects.
        whose: "candidates", all of them, or "voted", of each puzzle the one that C-voting selects.
    """
    if whose == "candidates":
        return np.ones(confidence.shape, dtype=bool)
    return np.arange(confidence.shape[1]) == confidence.argmax(axis=1)[:, None]


def read_predictions(shards: Sequence[Path], task: Task) -> dict[int, Predictions]:
    """The kept predictions of a bank, by training seed.

    Args:
        shards: the bank's files, of all training seeds and shards and of one inference seed, in any order.
        task: what candidates are judged by.

    Raises:
        BankFileError: when a file is no bank.
        ShardsError: when the files are not all those of one bank with one inference seed.
        PredictionsError: when a file keeps no logits.
    """
    read, parts = Shards(), defaultdict[int, list[Bank]](list)
    for path in shards:
        for bank in read_ends(path, logits=True):
            if not bank.logits:
                raise PredictionsError(f"{path}: it keeps no logits: roll out again with `logit_candidates`")
            read.add(path, bank)
            parts[bank.header.training_seed].append(_without_the_rest(bank))
    read.complete(inference_seeds=1)
    return {seed: _gathered(parts[seed], task) for seed in sorted(parts)}


def _without_the_rest(bank: Bank) -> Bank:
    """The bank of the candidates whose logits are kept, without what they answered."""
    kept = len(bank.logits[0])
    return replace(
        bank,
        answers=[],
        answer_ids=bank.answer_ids[:, :kept].copy(),
        scores={SCORE: bank.scores[SCORE][:, :kept].copy()},
        correct={metric: right[:, :kept].copy() for metric, right in bank.correct.items()},
        cell_accuracy=bank.cell_accuracy[:, :kept].copy(),
    )


def _gathered(parts: Sequence[Bank], task: Task) -> Predictions:
    """The predictions of one training seed, its puzzles in ascending order of their hashes."""
    puzzles = [puzzle for part in parts for puzzle in part.puzzles]
    order = np.argsort(puzzles)
    logits = [of_puzzle for part in parts for of_puzzle in part.logits]
    ranks = [of_puzzle for part in parts for of_puzzle in part.ranks]
    kept = len(logits[0])
    cells = np.repeat([ranks[p].shape[1] for p in order], kept)

    def in_order(values: Sequence[np.ndarray]) -> np.ndarray:
        """Of all puzzles, in order."""
        return np.concatenate(values)[order]

    return Predictions(
        header=parts[0].header,
        puzzles=[puzzles[p] for p in order],
        candidates=kept,
        logits=np.concatenate([logits[p].reshape(-1, logits[p].shape[2]) for p in order]),
        ranks=np.concatenate([ranks[p].ravel() for p in order]),
        candidate=np.repeat(np.arange(len(cells), dtype=np.int32), cells),
        confidence=in_order([part.scores[SCORE] for part in parts]),
        correct={metric: in_order([part.correct[metric] for part in parts]) for metric in task.metrics},
        cell_accuracy=in_order([part.cell_accuracy for part in parts]),
    )
