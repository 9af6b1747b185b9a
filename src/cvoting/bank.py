"""A bank: everything later stages need of the rollouts of one checkpoint on one set of puzzles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float16, Int, UInt8

from cvoting.data.puzzles import Origin


@dataclass(frozen=True)
class BankHeader:
    """What a bank file is of: the same for all its rows; it is number `shard` of `shards` files, from 0."""

    run: str
    model: str
    dataset: str
    split: str
    origin: Origin
    source: str
    T_eval: int
    training_seed: int
    inference_seed: int
    shards: int = 1
    shard: int = 0


@dataclass(frozen=True)
class Reading:
    """What the first candidates of some puzzles were at a step; arrays as those of `Bank`."""

    scores: dict[str, Float[np.ndarray, "puzzles read"]]
    correct: dict[str, Bool[np.ndarray, "puzzles read"]]
    cell_accuracy: Float[np.ndarray, "puzzles read"]


@dataclass(frozen=True)
class Bank:
    """Rollouts of some puzzles; candidate k of puzzle p is entry [p, k] of every per-candidate array.

    Attributes:
        header: what the bank is of.
        puzzles: the hash of each puzzle.
        questions, labels: tokens; of no cell in a bank without boards.
        answers: for each puzzle its table of distinct answers, in order of appearance; rows of no cell likewise.
        answer_ids: the row of the puzzle's table that a candidate answered.
        scores: per name, larger is better: confidence, negative_entropy, log_probability, and confidence_at_<t> for
            each temperature that was asked for; latent_residual and logit_residual (minus the change); where the model
            has an energy, energy_last and energy_sum (minus the energy); of HRM halting_logit and confidence_stablemax.
        correct: per metric of the task, whether the candidate's answer is right.
        cell_accuracy: share of the positions to predict that are right.
        steps: what the first candidates were at earlier steps.
        logits: where kept, for each puzzle those of its first candidates at the positions to predict, one per token,
            minus the largest and in descending order, as `compact` makes them.
        ranks: the places of the labels' logits in that order.
    """

    header: BankHeader
    puzzles: list[str]
    questions: UInt8[np.ndarray, "puzzles cells"]
    labels: UInt8[np.ndarray, "puzzles cells"]
    answers: list[UInt8[np.ndarray, "_ cells"]]
    answer_ids: Int[np.ndarray, "puzzles candidates"]
    scores: dict[str, Float[np.ndarray, "puzzles candidates"]]
    correct: dict[str, Bool[np.ndarray, "puzzles candidates"]]
    cell_accuracy: Float[np.ndarray, "puzzles candidates"]
    steps: dict[int, Reading] = field(default_factory=dict)
    logits: list[Float16[np.ndarray, "kept _ tokens"]] = field(default_factory=list)
    ranks: list[UInt8[np.ndarray, "kept _"]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.puzzles)

    @property
    def candidates(self) -> int:
        """M, the number of candidates per puzzle."""
        return self.answer_ids.shape[1]

    @property
    def knows_answers(self) -> bool:
        """Whether it holds which candidates answered alike."""
        return any(map(len, self.answers))

    @property
    def knows_boards(self) -> bool:
        """Whether it holds questions, labels, and what the candidates answered."""
        return self.knows_answers and self.questions.shape[1] > 0

    def without_boards(self) -> "Bank":
        """The bank of the same puzzles by their hashes alone: what votes need but those that compose an answer."""
        none = slice(0)
        return replace(
            self,
            questions=self.questions[:, none],
            labels=self.labels[:, none],
            answers=[table[:, none] for table in self.answers],
        )

    def at(self, step: int) -> "Bank":
        """The bank as if its rollouts had ended at one of its `steps`, without what they answered there."""
        return bank_at(self.header, step, self.puzzles, self.questions, self.labels, self.steps[step])


def bank_at(
    header: BankHeader, step: int, puzzles: list[str], questions: np.ndarray, labels: np.ndarray, reading: Reading
) -> Bank:
    """The bank of what candidates were at a step: nothing is known of their answers."""
    return Bank(
        header=replace(header, T_eval=step),
        puzzles=puzzles,
        questions=questions,
        labels=labels,
        answers=[questions[:0]] * len(puzzles),
        answer_ids=np.zeros(reading.cell_accuracy.shape, dtype=np.int32),
        scores=reading.scores,
        correct=reading.correct,
        cell_accuracy=reading.cell_accuracy,
    )


def concatenate(parts: Iterable[Bank]) -> Bank:
    """All rows of some parts of one bank, in memory at once."""
    parts = list(parts)
    first = parts[0]
    steps = {step: [part.steps[step] for part in parts] for step in first.steps}
    return Bank(
        header=first.header,
        puzzles=[p for part in parts for p in part.puzzles],
        questions=np.concatenate([p.questions for p in parts]),
        labels=np.concatenate([p.labels for p in parts]),
        answers=[a for part in parts for a in part.answers],
        answer_ids=np.concatenate([p.answer_ids for p in parts]),
        **_concatenated(parts),
        steps={step: Reading(**_concatenated(readings)) for step, readings in steps.items()},
        logits=[logits for part in parts for logits in part.logits],
        ranks=[ranks for part in parts for ranks in part.ranks],
    )


def _concatenated(parts: Sequence["Bank | Reading"]) -> dict[str, Any]:
    """The scores and judgements of some parts."""
    scores, correct = ([getattr(part, name) for part in parts] for name in ("scores", "correct"))
    return {
        "scores": {name: np.concatenate([part[name] for part in scores]) for name in scores[0]},
        "correct": {name: np.concatenate([part[name] for part in correct]) for name in correct[0]},
        "cell_accuracy": np.concatenate([part.cell_accuracy for part in parts]),
    }
