"""How far the confidence of a bank's predictions can be believed, at every temperature: of cells, and of whole boards.

`of` says whose predictions: those of all kept candidates, or of the one that C-voting selects among them at that
temperature.  Numbers are those of a training seed, or means over all of them; counts are sums.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from cvoting.calibration import bin_sums, ece, mass_edges, reliability, width_edges
from cvoting.metrics import CELL_ACCURACY
from cvoting.params.calibration import CalibrationPlan
from cvoting.predictions import Predictions, Tempered, chosen, read_predictions
from cvoting.resampling import Resampled, resampled
from cvoting.risk_table import risk_rows
from cvoting.statistics import wilson
from cvoting.table_files import ALL, CALIBRATION_COLUMNS, RELIABILITY_COLUMNS, RISK_COLUMNS, Row, rounded, write_csv
from cvoting.tasks.base import Task

WHOSE = ("candidates", "voted")
#: What is predicted: a cell, or a board whose confidence is the mean or the product of those of its cells.
UNITS = ("cell", "board_mean", "board_joint")
BINNINGS = ("width", "mass")

#: A unit and a binning.
Key = tuple[str, str]
#: Confidence, correctness and puzzle of the predictions of a unit.
OfUnit = tuple[Float[np.ndarray, "predictions"], Bool[np.ndarray, "predictions"], Integer[np.ndarray, "predictions"]]


@dataclass(frozen=True)
class _Sums:
    """What is added up over puzzles at one temperature.

    Attributes:
        cells: as `Tempered.sums`, of the chosen candidates.
        accuracies: cell accuracy and the task's metrics; of C-voting's answer also how far they are from those at
            temperature 1.
        bins: what `bin_sums` says.
    """

    cells: Float[np.ndarray, "puzzles 4"]
    accuracies: Float[np.ndarray, "puzzles accuracies"]
    bins: dict[Key, Float[np.ndarray, "puzzles 3 bins"]]

    def numbers(self, shares: Float[np.ndarray, "draws puzzles"]) -> Float[np.ndarray, "draws numbers"]:
        """The metrics, in the order of `_metrics`, then accuracy and confidence of every bin."""
        cells, binned = shares @ self.cells, {key: np.tensordot(shares, sums, 1) for key, sums in self.bins.items()}
        errors = [ece(sums)[:, None] for sums in binned.values()]
        bins = [number for sums in binned.values() for number in reliability(sums)]
        return np.concatenate([shares @ self.accuracies, cells[:, 1:] / cells[:, :1], *errors, *bins], axis=1)


def write_calibration(
    shards: Sequence[Path], plan: CalibrationPlan, task: Task, out: Path, reliability_out: Path, risk_out: Path
) -> None:
    """Write the calibration, reliability and risk tables of a bank.

    Calibration: per temperature the accuracy of cells (mean over puzzles) and boards, of C-voting's answer also its
    change from temperature 1 on the same puzzles; over all cells alike mean confidence, Brier score, negative log
    likelihood and ECE in bins of equal width and of equal mass; ECE of whole boards by the label; at temperature 1 the
    area under the risk-coverage curve.  `fitted`: each puzzle at the temperature fitted on the other half of the
    puzzles; `temperature` is the mean of the two halves'.  Intervals take the fitted temperatures and the edges of bins
    of equal mass as given.  An ECE is never negative, so resampling adds to it: its interval leans upwards.

    Reliability: per temperature and bin the number of predictions, their mean confidence and their accuracy, which of
    C-voting's boards of one training seed, one per puzzle, has Wilson's interval.

    Risk: the share of wrong boards among the most confident share `coverage` of them, at temperature 1.

    Args:
        shards: the bank's files, of all training seeds and shards and of one inference seed.
        plan: temperatures, bins, bootstrap.
        task: the task of the bank's puzzles.
        out, reliability_out, risk_out: the three CSV files.

    Raises:
        BankFileError: when a file is no bank.
        ShardsError: when the files are not all those of one bank with one inference seed.
        PredictionsError: when a file keeps no logits.
    """
    predictions = read_predictions(shards, task)
    calibration: list[Row] = []
    reliabilities: list[Row] = []
    of_one = {s: _accuracies(found, chosen(found.confidence, "voted"), task) for s, found in predictions.items()}
    puzzles = len(next(iter(predictions.values())).puzzles)
    for temperature in (*sorted(plan.temperatures), *[None] * (puzzles > 1)):  # one puzzle has no other half
        tempered, fitted = _tempered(predictions, temperature), {"fitted": temperature is None}
        for whose in WHOSE:
            metrics, bins = _rows(predictions, tempered, of_one, plan, task, whose)
            calibration += [row | fitted for row in metrics]
            reliabilities += [row | fitted for row in bins]
    risks, areas = risk_rows(predictions, plan, task, WHOSE)
    write_csv(pd.DataFrame(calibration + areas, columns=list(CALIBRATION_COLUMNS)), out)
    write_csv(pd.DataFrame(reliabilities, columns=list(RELIABILITY_COLUMNS)), reliability_out)
    write_csv(pd.DataFrame(risks, columns=list(RISK_COLUMNS)), risk_out)


def _tempered(predictions: Mapping[int, Predictions], temperature: float | None) -> dict[int, tuple[Tempered, float]]:
    """The predictions of each training seed at a temperature (None: the fitted one), and which it is."""
    if temperature is None:
        return {seed: found.at_fitted() for seed, found in predictions.items()}
    return {seed: (found.at(temperature), temperature) for seed, found in predictions.items()}


def _rows(
    predictions: Mapping[int, Predictions],
    tempered: Mapping[int, tuple[Tempered, float]],
    of_one: Mapping[int, Float[np.ndarray, "puzzles accuracies"]],
    plan: CalibrationPlan,
    task: Task,
    whose: str,
) -> tuple[list[Row], list[Row]]:
    """The rows of one temperature in the calibration and in the reliability table.

    Args:
        predictions: by training seed.
        tempered: the same at the temperature.
        of_one: accuracies of the vote at temperature 1.
        plan, task: as of `write_calibration`.
        whose: one of `WHOSE`.
    """
    units = {s: {unit: _of_unit(predictions[s], at, unit, whose) for unit in UNITS} for s, (at, _) in tempered.items()}
    edges = _edges(units, plan.bins)
    sums = {
        seed: _sums(predictions[seed], at, units[seed], edges, of_one[seed] if whose == "voted" else None, task, whose)
        for seed, (at, _) in tempered.items()
    }
    first, names = next(iter(predictions.values())), _metrics(task, whose)
    metrics: list[Row] = []
    bins: list[Row] = []
    statistics = {seed: s.numbers for seed, s in sums.items()}
    for found in resampled(statistics, len(first.puzzles), plan.resamples, plan.level, plan.seed):
        seeds = [seed for seed in predictions if found.training_seed in (ALL, str(seed))]
        T = rounded({"temperature": float(np.mean([tempered[seed][1] for seed in seeds]))})
        about = first.about(plan.study) | T | {"of": whose, "level": plan.level}
        about |= {"training_seed": found.training_seed, "interval": found.interval}
        metrics += [about | {"metric": name} | found.number(place) for place, name in enumerate(names)]
        bins += [about | row for row in _bin_rows(found, len(names), edges, [sums[s] for s in seeds], plan, whose)]
    return metrics, bins


def _metrics(task: Task, whose: str) -> tuple[str, ...]:
    """What the numbers of `_Sums` begin with."""
    accuracies = (CELL_ACCURACY, *task.metrics)
    changes = tuple(f"{name}_change" for name in accuracies) if whose == "voted" else ()
    errors = (f"{unit}_ece_{binning}" for unit in UNITS for binning in BINNINGS)
    return *accuracies, *changes, "cell_confidence", "cell_brier", "cell_nll", *errors


def _bin_rows(
    found: Resampled,
    place: int,
    edges: Mapping[Key, Float[np.ndarray, "edges"]],
    counted: Sequence[_Sums],
    plan: CalibrationPlan,
    whose: str,
) -> Iterator[Row]:
    """The rows of all bins, whose numbers begin at a place; of empty ones there is a count of 0."""
    for (unit, binning), limits in edges.items():
        bins = len(limits) - 1
        counts = sum(sums.bins[unit, binning][:, 0].sum(axis=0) for sums in counted)
        for b in range(bins):
            about = {"unit": unit, "binning": binning, "bin": b + 1, "lower": limits[b], "upper": limits[b + 1]}
            accuracy, confidence = found.number(place + b), found.number(place + bins + b)["value"]
            value, count = accuracy.pop("value"), int(counts[b])
            # Boards are independent, one per puzzle: unlike the bootstrap's, this interval has a width at 0 and 1 too.
            if whose == "voted" and unit != "cell" and len(counted) == 1 and count:
                low, high = wilson(round(float(found.value[place + b]) * count), count, plan.level)
                accuracy = rounded({"low": low, "high": high}) | {"interval": "Wilson, puzzles only"}
            yield about | {"count": count, "confidence": confidence, "accuracy": value} | accuracy
        place += 2 * bins


def _of_unit(predictions: Predictions, tempered: Tempered, unit: str, whose: str) -> OfUnit:
    """The predictions of a unit."""
    meant = chosen(tempered.mean, whose)
    if unit == "cell":
        kept = meant.reshape(-1)[predictions.candidate]
        return tempered.top[kept], tempered.right[kept], predictions.puzzle[kept]
    confidence = tempered.mean if unit == "board_mean" else tempered.joint
    return confidence[meant], predictions.correct["board"][meant], np.nonzero(meant)[0]


def _edges(units: Mapping[int, Mapping[str, OfUnit]], bins: int) -> dict[Key, Float[np.ndarray, "edges"]]:
    """The edges of the bins, which all training seeds share."""
    edges = {}
    for unit in UNITS:
        confidence = np.concatenate([of_seed[unit][0] for of_seed in units.values()])
        edges[unit, "width"], edges[unit, "mass"] = width_edges(bins), mass_edges(confidence, bins)
    return edges


def _sums(
    predictions: Predictions,
    tempered: Tempered,
    units: Mapping[str, OfUnit],
    edges: Mapping[Key, Float[np.ndarray, "edges"]],
    of_one: Float[np.ndarray, "puzzles accuracies"] | None,
    task: Task,
    whose: str,
) -> _Sums:
    """What is added up of one training seed; without `of_one` there are no changes."""
    meant, puzzles = chosen(tempered.mean, whose), len(predictions.puzzles)
    accuracies = _accuracies(predictions, meant, task)
    return _Sums(
        cells=np.where(meant[..., None], tempered.sums, 0).sum(axis=1),
        accuracies=accuracies if of_one is None else np.concatenate([accuracies, accuracies - of_one], axis=1),
        bins={key: bin_sums(*units[key[0]], puzzles, limits) for key, limits in edges.items()},
    )


def _accuracies(
    predictions: Predictions, meant: Bool[np.ndarray, "puzzles candidates"], task: Task
) -> Float[np.ndarray, "puzzles accuracies"]:
    """Of each puzzle, the mean over the candidates that are meant of cell accuracy and the task's metrics."""
    judged = [predictions.cell_accuracy, *(predictions.correct[metric] for metric in task.metrics)]
    return np.stack([np.where(meant, values, 0).sum(axis=1) / meant.sum(axis=1) for values in judged], axis=1)
