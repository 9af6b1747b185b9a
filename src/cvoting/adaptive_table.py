"""The adaptive table of a bank: accuracy against the mean number of candidates, where it varies from puzzle to puzzle.

Beside every rule to stop stands C-voting with as many candidates for every puzzle.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from cvoting.adaptive_bank import MEASURES, Simulated, simulate
from cvoting.params.adaptive import AdaptivePlan
from cvoting.resampling import Resampled, resampled
from cvoting.table_files import ADAPTIVE_COLUMNS, ALL, METRICS, Row, of_bank, rounded, write_csv
from cvoting.tasks.base import Task


def write_adaptive(shards: Sequence[Path], plan: AdaptivePlan, task: Task, out: Path) -> None:
    """Write the adaptive table of a bank, by each of `METRICS` that the task has.

    `rule`: `threshold` draws until a candidate is confident enough, `agreement` until an answer has been given
    `parameter` times, `fixed` draws `parameter` candidates.  At most `K_max` are drawn; then the `vote` decides.  A
    threshold is the one at which the puzzles of the other half draw `parameter` candidates on average, so that no
    puzzle is judged by a threshold that it helped to choose; `threshold` is the mean of the two halves', and all other
    numbers are of both halves together.

    `value` is the accuracy, `drawn` the mean number of candidates.  With abstention an answer is given only where the
    rule stops: `coverage` is how often, `accuracy_answered` the accuracy then, empty where it never does.  `difference`
    is the accuracy less that of C-voting with `drawn` candidates for every puzzle, between two numbers by a straight
    line.  All are means over the orders of the candidates, and exact but for majorities with `subsets`.  Intervals take
    the thresholds as given.

    Args:
        shards: the bank's files, of all training seeds and shards and of one inference seed.
        plan: the rules and the bootstrap.
        task: the task of the bank's puzzles.
        out: the CSV file.

    Raises:
        BankFileError: when a file is no bank.
        ShardsError: when the files are not all those of one bank with one inference seed.
        AdaptiveError: when there are fewer candidates than are to be drawn from.
    """
    found, rows = simulate(shards, plan, task), list[Row]()
    for place, metric in enumerate(name for name in METRICS if name in task.metrics):
        rows += [{"metric": metric} | row for row in _rows(found, place, plan)]
    write_csv(pd.DataFrame(rows, columns=list(ADAPTIVE_COLUMNS)).astype({"subsets": "Int64"}), out)


def _rows(found: Mapping[int, Simulated], metric: int, plan: AdaptivePlan) -> Iterator[Row]:
    """The rows of one metric."""
    first = next(iter(found.values()))
    about = of_bank(plan.study, first.header) | {"inference_seed": str(first.header.inference_seed)}
    about |= {"puzzles": len(first.puzzles), "candidates": plan.candidates, "level": plan.level}
    statistics = {seed: partial(of_seed.numbers, metric) for seed, of_seed in found.items()}
    for numbers in resampled(statistics, len(first.puzzles), plan.resamples, plan.level, plan.seed):
        own = {"training_seed": numbers.training_seed, "interval": numbers.interval}
        meant = [of_seed for seed, of_seed in found.items() if numbers.training_seed in (ALL, str(seed))]
        # The first two puzzles are of different halves.
        thresholds = np.mean([of_seed.thresholds[:2] for of_seed in meant], axis=(0, 1))
        for place, rule in enumerate(first.rules):
            threshold = rounded({"threshold": thresholds[place]}) if place < len(thresholds) else {}
            yield about | own | rule | threshold | _measured(numbers, place, len(first.rules))


def _measured(numbers: Resampled, place: int, rules: int) -> Row:
    """The measures of one of the rules."""
    row: Row = {}
    for number, measure in enumerate(MEASURES):
        before = "" if measure == "value" else f"{measure}_"
        value, low, high = numbers.number(number * rules + place).values()
        row |= {measure: value, f"{before}low": low, f"{before}high": high}
    return row
