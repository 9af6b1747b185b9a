"""Why voting helps or not: how well a bank's confidence tells right candidates from wrong ones.

A vote compares candidates of one puzzle, so only what confidence says within a puzzle helps it, and only where some
candidates are right and some wrong.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from cvoting.bank import Bank, BankHeader
from cvoting.bank_file import read_ends
from cvoting.discrimination import auroc_between, auroc_within, spread
from cvoting.diversity import distinct_prefix
from cvoting.params.calibration import DiscriminationPlan
from cvoting.resampling import resampled
from cvoting.shards import Shards
from cvoting.statistics import quotient
from cvoting.table_files import DISCRIMINATION_COLUMNS, METRICS, Row, of_bank, write_csv
from cvoting.tasks.base import Task
from cvoting.voting import VOTES, Highest

#: Means over the puzzles where they are defined.
MEANS = (
    "sd_within", "sd_within_right", "sd_within_wrong", "distinct_answers", "mixed_puzzles", "auroc_within", "no_vote",
    "vote", "oracle",
)  # fmt: skip
MEASURES = (*MEANS, "sd_between", "auroc_between", "wrong_but_optimal")
#: The score of C-voting, and those that other votes take the candidate of the highest of.
SCORE = "confidence"
OTHER_SCORES = tuple(vote.score for vote in VOTES.values() if isinstance(vote, Highest) and vote.score != SCORE)


@dataclass(frozen=True)
class Discriminated:
    """What is known of the puzzles of one training seed, by one metric.

    Attributes:
        header: what the bank is of.
        puzzles: hashes.
        others: those of `OTHER_SCORES` that the bank knows.
        means: per puzzle and measure of `MEANS`, then `auroc_within` of each other score; NaN where it is undefined.
        confidence, correct: of the first K candidates.
        wrong_but_optimal: the share of them; NaN where it means nothing.
    """

    header: BankHeader
    puzzles: list[str]
    others: tuple[str, ...]
    means: Float[np.ndarray, "puzzles means"]
    confidence: Float[np.ndarray, "puzzles K"]
    correct: Bool[np.ndarray, "puzzles K"]
    wrong_but_optimal: Float[np.ndarray, "puzzles"]

    @property
    def measures(self) -> tuple[str, ...]:
        """`MEASURES`, then `auroc_within_<score>` of each other score."""
        return (*MEASURES, *(f"auroc_within_{score}" for score in self.others))

    def numbers(self, shares: Float[np.ndarray, "draws puzzles"]) -> Float[np.ndarray, "draws measures"]:
        """The numbers in the order of `measures`."""
        defined = ~np.isnan(self.means)
        means = quotient(shares @ np.where(defined, self.means, 0), shares @ defined.astype(float))
        auroc = auroc_between(self.confidence, self.correct, shares)
        optimal = quotient(shares @ self.wrong_but_optimal, shares @ (~self.correct).mean(axis=1))
        means, others = np.split(means, [len(MEANS)], axis=1)
        return np.concatenate([means, np.stack([self._sd_between(shares), auroc, optimal], axis=1), others], axis=1)

    def _sd_between(self, shares: Float[np.ndarray, "draws puzzles"]) -> Float[np.ndarray, "draws"]:
        """The sample standard deviation of the puzzles' mean confidences; NaN of a single puzzle."""
        means, puzzles = self.confidence.mean(axis=1), len(self.puzzles)
        # Around the mean of all, as squares of numbers close to 1 would leave few digits of their differences.
        centred = means - means.mean()
        variance = np.maximum(shares @ centred**2 - (shares @ centred) ** 2, 0)
        return np.sqrt(variance * puzzles / (puzzles - 1)) if puzzles > 1 else np.full(len(shares), np.nan)


def write_discrimination(shards: Sequence[Path], plan: DiscriminationPlan, task: Task, out: Path) -> None:
    """Write the table of discrimination of a bank, by each of `METRICS` that the task has.

    Everything is of the first K candidates of each puzzle.  `sd_within`: the standard deviation of the confidence of a
    puzzle's candidates, also of the right and of the wrong ones alone (mean over the puzzles with two such);
    `sd_between`: of the puzzles' mean confidences; `distinct_answers`; `mixed_puzzles`: the share with right and wrong
    candidates; `auroc_within`: the chance that a right candidate is more confident than a wrong one of the same puzzle
    (mean over mixed puzzles), and `auroc_between` of another puzzle; `auroc_within_<score>`: the same as `auroc_within`
    for another score that a vote goes by, such as an energy; `no_vote`, `vote` and `oracle`: the accuracy of a
    candidate, of C-voting and of the best candidate; `wrong_but_optimal`: of the candidates whose path is not the
    label's, the share of those with a shortest one.  Empty where nothing is compared.

    Args:
        shards: the bank's files, of all training seeds and shards and of one inference seed.
        plan: K and the bootstrap.
        task: the task of the bank's puzzles.
        out: the CSV file.

    Raises:
        BankFileError: when a file is no bank.
        ShardsError: when the files are not all those of one bank with one inference seed.
    """
    read, parts = Shards(), defaultdict[tuple[str, int], list[Discriminated]](list)
    for path in shards:
        for bank in read_ends(path):
            training_seed, _ = read.add(path, bank)
            for metric in (name for name in METRICS if name in task.metrics):
                parts[metric, training_seed].append(_discriminated(bank, plan.K, metric))
    read.complete(inference_seeds=1)
    joined = {key: _joined(parts[key]) for key in sorted(parts)}
    rows: list[Row] = []
    for metric in dict.fromkeys(metric for metric, _ in joined):
        rows += _rows({seed: found for (name, seed), found in joined.items() if name == metric}, plan, metric)
    write_csv(pd.DataFrame(rows, columns=list(DISCRIMINATION_COLUMNS)), out)


def _rows(found: Mapping[int, Discriminated], plan: DiscriminationPlan, metric: str) -> Iterator[Row]:
    """The rows of one metric."""
    first = next(iter(found.values()))
    about = of_bank(plan.study, first.header) | {"inference_seed": str(first.header.inference_seed)}
    about |= {"puzzles": len(first.puzzles), "candidates": plan.K, "metric": metric, "level": plan.level}
    statistics = {seed: of_seed.numbers for seed, of_seed in found.items()}
    for numbers in resampled(statistics, len(first.puzzles), plan.resamples, plan.level, plan.seed):
        own = {"training_seed": numbers.training_seed, "interval": numbers.interval}
        yield from (
            about | own | {"measure": name} | numbers.number(place) for place, name in enumerate(first.measures)
        )


def _discriminated(bank: Bank, K: int, metric: str) -> Discriminated:
    """What is known of some puzzles."""
    # Copies, as views would keep the numbers of all candidates.
    confidence, correct = bank.scores[SCORE][:, :K].copy(), bank.correct[metric][:, :K].copy()
    right, selected = correct.mean(axis=1), confidence.argmax(axis=1)
    others = tuple(score for score in OTHER_SCORES if score in bank.scores)
    means = [
        *(spread(confidence, group) for group in (np.ones_like(correct), correct, ~correct)),
        distinct_prefix(bank.answer_ids, [K])[:, 0],
        ((right > 0) & (right < 1)).astype(float),
        auroc_within(confidence, correct),
        right,
        correct[np.arange(len(bank)), selected].astype(float),
        correct.max(axis=1).astype(float),
        *(auroc_within(bank.scores[score][:, :K], correct) for score in others),
    ]
    optimal = np.full(len(bank), np.nan)
    if metric == "board" and "optimal" in bank.correct:
        optimal = (~correct & bank.correct["optimal"][:, :K]).mean(axis=1)
    return Discriminated(bank.header, bank.puzzles, others, np.stack(means, axis=1), confidence, correct, optimal)


def _joined(parts: Sequence[Discriminated]) -> Discriminated:
    """All puzzles of one training seed, in ascending order of their hashes."""
    puzzles = [puzzle for part in parts for puzzle in part.puzzles]
    order = np.argsort(puzzles)
    names = ("means", "confidence", "correct", "wrong_but_optimal")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts])[order] for name in names}
    return replace(parts[0], puzzles=[puzzles[p] for p in order], **arrays)
