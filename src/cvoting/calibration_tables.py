"""How far the confidence of a bank's predictions can be believed, at every temperature: of cells, and of whole boards.

`of` says whose predictions: those of all kept candidates, or of the one that C-voting selects among them at that
temperature.  Every number is one of a training seed, or the mean over all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from cvoting.calibration import bin_sums, ece, mass_edges, reliability, risk_coverage, width_edges
from cvoting.params.calibration import CalibrationPlan
from cvoting.predictions import Predictions, Tempered, read_predictions
from cvoting.resampling import Resampled, resampled
from cvoting.table_files import ALL, CALIBRATION_COLUMNS, OF, RELIABILITY_COLUMNS, RISK_COLUMNS, write_csv
from cvoting.tasks.base import Task

WHOSE = ("candidates", "voted")
#: What is predicted: a cell, or a board whose confidence is the mean or the product of those of its cells.
UNITS = ("cell", "board_mean", "board_joint")
BINNINGS = ("width", "mass")
#: The metrics by which an answer may be wrong in the risk table; of a task those it has.
RISKS = ("board", "optimal")
COVERAGES = np.arange(1, 101) / 100

Row = dict[str, object]
BinSums = Float[np.ndarray, "puzzles 3 bins"]


@dataclass(frozen=True)
class _Sums:
    """What is added up over puzzles at one temperature.

    Attributes:
        cells: as `Tempered.sums`, of the chosen candidates.
        metrics: cell accuracy, and the task's metrics.
        bins: per (unit, binning) what `bin_sums` says.
    """

    cells: Float[np.ndarray, "puzzles 4"]
    metrics: Float[np.ndarray, "puzzles metrics"]
    bins: dict[tuple[str, str], BinSums]

    def numbers(self, shares: Float[np.ndarray, "draws puzzles"]) -> Float[np.ndarray, "draws numbers"]:
        """The metrics, in the order of `_metrics`, then accuracy and confidence of every bin."""
        cells, binned = shares @ self.cells, {key: np.tensordot(shares, sums, 1) for key, sums in self.bins.items()}
        errors = {key: ece(sums)[:, None] for key, sums in binned.items()}
        of_cells = [errors["cell", binning] for binning in BINNINGS]
        of_boards = [errors[unit, binning] for unit in UNITS[1:] for binning in BINNINGS]
        bins = [number for sums in binned.values() for number in reliability(sums)]
        return np.concatenate(
            [shares @ self.metrics, cells[:, 1:] / cells[:, :1], *of_cells, *of_boards, *bins], axis=1
        )


def write_calibration(
    shards: Sequence[Path], plan: CalibrationPlan, task: Task, out: Path, reliability_out: Path, risk_out: Path
) -> None:
    """Write the calibration, reliability and risk tables of a bank.

    Calibration: per temperature the accuracy of cells (mean over puzzles) and boards, and of the probabilities mean
    confidence, ECE in bins of equal width and of equal mass, Brier score and negative log likelihood over all cells
    alike; ECE of whole boards; at temperature 1 the area under the risk-coverage curve.  `fitted`: each puzzle at the
    temperature fitted on the other half of the puzzles; `temperature` is the mean of the two halves'.  Intervals take
    the fitted temperatures and the edges of bins of equal mass as given.  An ECE is never negative, so resampling adds
    to it: its interval leans upwards.

    Reliability: per temperature and bin the number of predictions, their mean confidence and their accuracy.

    Risk: the share of wrong boards among the most confident share `coverage` of them, at temperature 1.

    Args:
        shards: the bank's files, of all training seeds and shards and of one inference seed.
        plan: temperatures, bins, bootstrap.
        task: the task of the bank's puzzles.
        out, reliability_out, risk_out: the three CSV files.

    Raises:
        ShardsError: when the files are not all those of one bank with one inference seed.
        PredictionsError: when a file keeps no logits.
    """
    predictions = read_predictions(shards, task)
    calibration: list[Row] = []
    reliabilities: list[Row] = []
    puzzles = len(next(iter(predictions.values())).puzzles)
    for temperature in (*sorted(plan.temperatures), *[None] * (puzzles > 1)):  # one puzzle has no other half
        metrics, bins = _at_temperature(predictions, plan, task, temperature)
        calibration += metrics
        reliabilities += bins
    risks, areas = _risks(predictions, plan, task)
    write_csv(pd.DataFrame(calibration + areas, columns=list(CALIBRATION_COLUMNS)), out)
    write_csv(pd.DataFrame(reliabilities, columns=list(RELIABILITY_COLUMNS)), reliability_out)
    write_csv(pd.DataFrame(risks, columns=list(RISK_COLUMNS)), risk_out)


def _metrics(task: Task) -> tuple[str, ...]:
    """What the numbers of `_Sums` begin with."""
    of_cells = ("cell_confidence", "cell_brier", "cell_nll", *(f"cell_ece_{binning}" for binning in BINNINGS))
    of_boards = (f"{unit}_ece_{binning}" for unit in UNITS[1:] for binning in BINNINGS)
    return "cell_accuracy", *task.metrics, *of_cells, *of_boards


def _at_temperature(
    predictions: Mapping[int, Predictions], plan: CalibrationPlan, task: Task, temperature: float | None
) -> tuple[list[Row], list[Row]]:
    """The rows of one temperature (None: the fitted one) in the calibration and in the reliability table."""
    fitted = temperature is None
    if temperature is None:
        pairs = {seed: of_seed.at_fitted() for seed, of_seed in predictions.items()}
        tempered = {seed: pair[0] for seed, pair in pairs.items()}
        temperature = round(float(np.mean([pair[1] for pair in pairs.values()])), 12)
    else:
        tempered = {seed: of_seed.at(temperature) for seed, of_seed in predictions.items()}
    metrics: list[Row] = []
    bins: list[Row] = []
    for whose in WHOSE:
        chosen = {seed: _chosen(at, whose) for seed, at in tempered.items()}
        edges = _edges(predictions, tempered, chosen, plan.bins)
        sums = {s: _sums(of_seed, tempered[s], chosen[s], edges, task) for s, of_seed in predictions.items()}
        for found in _resampled({seed: s.numbers for seed, s in sums.items()}, predictions, plan):
            about = _about(predictions, plan, found) | {"of": whose, "temperature": temperature, "fitted": fitted}
            names = _metrics(task)
            metrics += [about | {"metric": name} | _number(found, place) for place, name in enumerate(names)]
            counted = [s for seed, s in sums.items() if found.training_seed in (ALL, str(seed))]
            bins += [about | row for row in _bin_rows(found, len(names), edges, counted)]
    return metrics, bins


def _bin_rows(
    found: Resampled, place: int, edges: Mapping[tuple[str, str], np.ndarray], counted: Sequence[_Sums]
) -> Iterator[Row]:
    """The rows of all bins, whose numbers begin at a place; of empty ones there is a count of 0."""
    for key, limits in edges.items():
        bins = len(limits) - 1
        counts = sum(sums.bins[key][:, 0].sum(axis=0) for sums in counted)
        for b in range(bins):
            about = {"unit": key[0], "binning": key[1], "bin": b + 1, "lower": limits[b], "upper": limits[b + 1]}
            accuracy, confidence = _number(found, place + b), _number(found, place + bins + b)["value"]
            own = {"count": int(counts[b]), "confidence": confidence, "accuracy": accuracy.pop("value")}
            yield about | own | accuracy
        place += 2 * bins


def _chosen(tempered: Tempered, whose: str) -> Bool[np.ndarray, "puzzles candidates"]:
    """All candidates, or the one of each puzzle that C-voting selects."""
    if whose == "candidates":
        return np.ones(tempered.mean.shape, dtype=bool)
    return np.arange(tempered.mean.shape[1]) == tempered.mean.argmax(axis=1)[:, None]


def _of_unit(
    predictions: Predictions, tempered: Tempered, chosen: Bool[np.ndarray, "puzzles candidates"], unit: str
) -> tuple[Float[np.ndarray, "predictions"], Bool[np.ndarray, "predictions"], Int[np.ndarray, "predictions"]]:
    """Confidence, correctness and puzzle of the chosen candidates' predictions of a unit."""
    if unit == "cell":
        kept = chosen.reshape(-1)[predictions.candidate]
        return tempered.top[kept], tempered.right[kept], predictions.puzzle[kept]
    confidence = tempered.mean if unit == "board_mean" else tempered.joint
    return confidence[chosen], predictions.correct["board"][chosen], np.nonzero(chosen)[0]


def _edges(
    predictions: Mapping[int, Predictions],
    tempered: Mapping[int, Tempered],
    chosen: Mapping[int, np.ndarray],
    bins: int,
) -> dict[tuple[str, str], Float[np.ndarray, "edges"]]:
    """The edges of the bins, which all training seeds share."""
    edges = {}
    for unit in UNITS:
        of_seeds = [_of_unit(predictions[seed], tempered[seed], chosen[seed], unit)[0] for seed in predictions]
        edges[unit, "width"], edges[unit, "mass"] = width_edges(bins), mass_edges(np.concatenate(of_seeds), bins)
    return edges


def _sums(
    predictions: Predictions,
    tempered: Tempered,
    chosen: Bool[np.ndarray, "puzzles candidates"],
    edges: Mapping[tuple[str, str], Float[np.ndarray, "edges"]],
    task: Task,
) -> _Sums:
    """What is added up of one training seed."""
    puzzles = len(predictions.puzzles)
    judged = [predictions.cell_accuracy, *(predictions.correct[metric] for metric in task.metrics)]
    return _Sums(
        cells=np.where(chosen[..., None], tempered.sums, 0).sum(axis=1),
        metrics=np.stack([np.where(chosen, values, 0).sum(axis=1) / chosen.sum(axis=1) for values in judged], axis=1),
        bins={
            key: bin_sums(*_of_unit(predictions, tempered, chosen, key[0]), puzzles, limits)
            for key, limits in edges.items()
        },
    )


def _risks(predictions: Mapping[int, Predictions], plan: CalibrationPlan, task: Task) -> tuple[list[Row], list[Row]]:
    """The rows of the risk table, and those of the areas under its curves."""
    risks, areas = [], []
    for whose in WHOSE:
        for metric in (name for name in RISKS if name in task.metrics):
            statistics = {seed: partial(_risk, of_seed, whose, metric) for seed, of_seed in predictions.items()}
            for found in _resampled(statistics, predictions, plan):
                about = _about(predictions, plan, found) | {"of": whose}
                for place, coverage in enumerate(COVERAGES):
                    number = _number(found, place)
                    risks.append(about | {"metric": metric, "coverage": coverage, "risk": number["value"]} | number)
                area = {"temperature": 1.0, "fitted": False, "metric": f"aurc_{metric}"}
                areas.append(about | area | _number(found, len(COVERAGES)))
    return risks, areas


def _risk(
    predictions: Predictions, whose: str, metric: str, shares: Float[np.ndarray, "draws puzzles"]
) -> Float[np.ndarray, "draws numbers"]:
    """The risk at each of `COVERAGES`, and the area under its curve."""
    confidence, wrong = predictions.confidence, (~predictions.correct[metric]).astype(float)
    if whose == "voted":
        selected = confidence.argmax(axis=1)[:, None]
        confidence, wrong = (np.take_along_axis(values, selected, axis=1) for values in (confidence, wrong))
    risk, area = risk_coverage(confidence, wrong, shares, COVERAGES)
    return np.concatenate([risk, area[:, None]], axis=1)


def _resampled(
    statistics: Mapping, predictions: Mapping[int, Predictions], plan: CalibrationPlan
) -> Iterator[Resampled]:
    puzzles = len(next(iter(predictions.values())).puzzles)
    return resampled(statistics, puzzles, plan.resamples, plan.level, plan.seed)


def _about(predictions: Mapping[int, Predictions], plan: CalibrationPlan, found: Resampled) -> Row:
    """What the rows of some numbers are of."""
    first = next(iter(predictions.values()))
    header = {"study": plan.study, **asdict(first.header)}
    sizes = {"puzzles": len(first.puzzles), "candidates": first.candidates}
    seeds = {"training_seed": found.training_seed, "inference_seed": str(first.header.inference_seed)}
    return {name: header[name] for name in OF} | sizes | seeds | {"level": plan.level, "interval": found.interval}


def _number(found: Resampled, place: int) -> Row:
    """A number with its interval, without the rounding errors of sums."""
    ends = {"value": found.value[place], "low": found.low[place], "high": found.high[place]}
    return {name: round(float(number), 12) + 0.0 for name, number in ends.items()}
