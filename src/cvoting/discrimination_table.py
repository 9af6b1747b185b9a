"""Why voting helps or not: how well a bank's confidence tells right candidates from wrong ones.

A vote compares candidates of one puzzle, so only what confidence says within a puzzle helps it, and only where some
candidates are right and some wrong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from cvoting.bank import Bank, BankHeader
from cvoting.bank_file import read_ends
from cvoting.discrimination import auroc_between, auroc_within, spread
from cvoting.diversity import distinct_expected
from cvoting.estimators import Subsets, expected
from cvoting.params.calibration import DiscriminationPlan
from cvoting.resampling import resampled
from cvoting.shards import Shards
from cvoting.table_files import DISCRIMINATION_COLUMNS, OF, write_csv
from cvoting.tally import outcomes_of
from cvoting.tasks.base import Task
from cvoting.voting import VOTES, Ballot

Row = dict[str, object]

#: The metrics by which a candidate may be right; of a task those it has.  On mazes the second tells wrong paths from
#: paths that are merely not the label's.
METRICS = ("board", "optimal")
#: What depends on the number of candidates.
AT_K = {"no_vote": "random", "vote": "confidence", "oracle": "oracle"}
#: Means over the puzzles where they are defined.
MEANS = ("sd_within", "sd_within_right", "sd_within_wrong", "distinct_answers", "mixed_puzzles", "auroc_within", *AT_K)
MEASURES = (*MEANS, "sd_between", "auroc_between", "wrong_but_optimal")
SCORE = "confidence"
#: Of votes by a score the mean over all subsets is exact.
NO_SUBSETS = Subsets(count=1, seed=0)


@dataclass(frozen=True)
class Discriminated:
    """What is known of the puzzles of one training seed, by one metric; puzzles in ascending order of their hashes.

    Attributes:
        header: what the bank is of.
        puzzles: hashes.
        candidates: M, of each puzzle.
        means: per puzzle and measure of `MEANS`; NaN where it is undefined.
        mean_confidence: of all candidates.
        wrong, wrong_but_optimal: shares of the candidates; the second is NaN where it means nothing.
        confidence, correct: of the first K candidates.
    """

    header: BankHeader
    puzzles: list[str]
    candidates: int
    means: Float[np.ndarray, "puzzles means"]
    mean_confidence: Float[np.ndarray, "puzzles"]
    wrong: Float[np.ndarray, "puzzles"]
    wrong_but_optimal: Float[np.ndarray, "puzzles"]
    confidence: Float[np.ndarray, "puzzles K"]
    correct: Bool[np.ndarray, "puzzles K"]

    def numbers(self, shares: Float[np.ndarray, "draws puzzles"]) -> Float[np.ndarray, "draws measures"]:
        """The numbers in the order of `MEASURES`."""
        defined = ~np.isnan(self.means)
        means = _ratio(shares @ np.where(defined, self.means, 0), shares @ defined.astype(float))
        # Around the mean of all, as squares of numbers close to 1 would leave few digits of their differences.
        centred = self.mean_confidence - self.mean_confidence.mean()
        between = np.sqrt(np.maximum(shares @ centred**2 - (shares @ centred) ** 2, 0))
        auroc = auroc_between(self.confidence, self.correct, shares)
        optimal = _ratio(shares @ self.wrong_but_optimal, shares @ self.wrong)
        return np.concatenate([means, np.stack([between, auroc, optimal], axis=1)], axis=1)


def write_discrimination(shards: Sequence[Path], plan: DiscriminationPlan, task: Task, out: Path) -> None:
    """Write the table of discrimination of a bank, by each of `METRICS` that the task has.

    Measures: `sd_within`, standard deviation of the confidence of a puzzle's candidates, also of the right and of the
    wrong ones alone (mean over the puzzles with two such); `sd_between`, of the puzzles' mean confidences;
    `distinct_answers` of K candidates; `mixed_puzzles`, the share with right and wrong candidates; `auroc_within`, the
    chance that a right candidate is more confident than a wrong one of the same puzzle (mean over mixed puzzles), and
    `auroc_between` of another puzzle (of K candidates each); `no_vote`, `vote` and `oracle`, what a candidate, C-voting
    and the best of K achieve; `wrong_but_optimal`, of the candidates whose path is not the label's, the share of those
    with a shortest one.  Empty where nothing is compared.

    Args:
        shards: the bank's files, of all training seeds and shards and of one inference seed.
        plan: K and the bootstrap.
        task: the task of the bank's puzzles.
        out: the CSV file.

    Raises:
        BankFileError: when a file is no bank.
        ShardsError: when the files are not all those of one bank with one inference seed.
    """
    found: dict[str, dict[int, list[Discriminated]]] = {metric: {} for metric in METRICS if metric in task.metrics}
    read = Shards()
    for path in shards:
        for bank in read_ends(path):
            read.add(path, bank)
            for metric, of_seeds in found.items():
                of_seeds.setdefault(bank.header.training_seed, []).append(_discriminated(bank, plan.K, task, metric))
    read.complete(inference_seeds=1)
    joined = {
        metric: {seed: _joined(of_seeds[seed]) for seed in sorted(of_seeds)} for metric, of_seeds in found.items()
    }
    rows = [row for metric, of_seeds in joined.items() for row in _rows(of_seeds, plan, metric)]
    write_csv(pd.DataFrame(rows, columns=list(DISCRIMINATION_COLUMNS)).astype({"K": "Int64"}), out)


def _rows(found: dict[int, Discriminated], plan: DiscriminationPlan, metric: str) -> Iterator[Row]:
    """The rows of one metric."""
    first = next(iter(found.values()))
    header = {"study": plan.study, **asdict(first.header)}
    about = {name: header[name] for name in OF} | {"inference_seed": str(first.header.inference_seed)}
    about |= {"puzzles": len(first.puzzles), "metric": metric, "level": plan.level}
    statistics = {seed: of_seed.numbers for seed, of_seed in found.items()}
    for numbers in resampled(statistics, len(first.puzzles), plan.resamples, plan.level, plan.seed):
        for place, measure in enumerate(MEASURES):
            of_K = measure in (*AT_K, "distinct_answers", "auroc_between")
            own: Row = {"training_seed": numbers.training_seed, "interval": numbers.interval, "measure": measure}
            own |= {"candidates": first.candidates, "K": plan.K if of_K else None}
            ends = {"value": numbers.value[place], "low": numbers.low[place], "high": numbers.high[place]}
            yield about | own | {name: round(float(number), 12) + 0.0 for name, number in ends.items()}


def _discriminated(bank: Bank, K: int, task: Task, metric: str) -> Discriminated:
    """What is known of some puzzles."""
    confidence, correct = bank.scores[SCORE], bank.correct[metric]
    groups = (np.ones_like(correct), correct, ~correct)
    right = correct.mean(axis=1)
    votes = _votes(bank, K, task, metric)
    means = [
        *(spread(confidence, group) for group in groups),
        distinct_expected(bank.answer_ids, [K])[:, 0],
        ((right > 0) & (right < 1)).astype(float),
        auroc_within(confidence, correct),
        *votes,
    ]
    told_apart = metric == "board" and "optimal" in task.metrics
    optimal = (~correct & bank.correct["optimal"]).mean(axis=1) if told_apart else np.full(len(bank), np.nan)
    return Discriminated(
        header=bank.header,
        puzzles=bank.puzzles,
        candidates=bank.candidates,
        means=np.stack(means, axis=1),
        mean_confidence=confidence.mean(axis=1),
        wrong=1 - right,
        wrong_but_optimal=optimal,
        confidence=confidence[:, :K].copy(),  # not a view, which would keep those of all candidates
        correct=correct[:, :K].copy(),
    )


def _votes(bank: Bank, K: int, task: Task, metric: str) -> Iterator[Float[np.ndarray, "puzzles"]]:
    """What each of `AT_K` achieves, as a mean over all subsets of K candidates."""
    ballot = Ballot.stacked(bank.scores, bank.answer_ids, bank.answers)
    outcomes, place = outcomes_of(bank, task), task.metrics.index(metric)
    for vote in AT_K.values():
        yield expected(VOTES[vote], ballot, outcomes, [K], NO_SUBSETS)[place, :, 0]


def _joined(parts: Sequence[Discriminated]) -> Discriminated:
    """All puzzles of one training seed, in ascending order of their hashes."""
    puzzles = [puzzle for part in parts for puzzle in part.puzzles]
    order = np.argsort(puzzles)
    names = ("means", "mean_confidence", "wrong", "wrong_but_optimal", "confidence", "correct")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts])[order] for name in names}
    return replace(parts[0], puzzles=[puzzles[p] for p in order], **arrays)


def _ratio(above: Float[np.ndarray, "*numbers"], below: Float[np.ndarray, "*numbers"]) -> Float[np.ndarray, "*numbers"]:
    """A quotient; NaN for one by 0."""
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
