"""Risk against coverage of the kept candidates of a bank: what is gained by leaving the least confident ones out."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from cvoting.calibration import risk_coverage
from cvoting.params.calibration import CalibrationPlan
from cvoting.predictions import Predictions, chosen
from cvoting.resampling import resampled
from cvoting.table_files import METRICS, Row
from cvoting.tasks.base import Task

COVERAGES = np.arange(1, 101) / 100


def risk_rows(
    predictions: Mapping[int, Predictions], plan: CalibrationPlan, task: Task, whose: Sequence[str]
) -> tuple[list[Row], list[Row]]:
    """The rows of the risk table, and of the calibration table those of the areas under its curves.

    Args:
        predictions: by training seed; candidates are ranked by confidence at temperature 1.
        plan: the bootstrap.
        task: its metrics.
        whose: answers that are ranked, of all puzzles together: of all candidates, or one of each puzzle.
    """
    first = next(iter(predictions.values()))
    risks: list[Row] = []
    areas: list[Row] = []
    for of in whose:
        for metric in (name for name in METRICS if name in task.metrics):
            statistics = {seed: partial(_risk, of_seed, of, metric) for seed, of_seed in predictions.items()}
            for found in resampled(statistics, len(first.puzzles), plan.resamples, plan.level, plan.seed):
                about = first.about(plan.study) | {"of": of, "level": plan.level}
                about |= {"training_seed": found.training_seed, "interval": found.interval}
                for place, coverage in enumerate(COVERAGES):
                    number = found.number(place)
                    risks.append(about | {"metric": metric, "coverage": coverage, "risk": number["value"]} | number)
                area = {"temperature": 1.0, "fitted": False, "metric": f"aurc_{metric}"}
                areas.append(about | area | found.number(len(COVERAGES)))
    return risks, areas


def _risk(
    predictions: Predictions, whose: str, metric: str, shares: Float[np.ndarray, "draws puzzles"]
) -> Float[np.ndarray, "draws numbers"]:
    """The risk at each of `COVERAGES`, and the area under its curve."""
    ranked, wrong = predictions.confidence, (~predictions.correct[metric]).astype(float)
    meant = chosen(predictions.confidence, whose)
    confidence, loss = (values[meant].reshape(len(values), -1) for values in (ranked, wrong))
    risk, area = risk_coverage(confidence, loss, shares, COVERAGES)
    return np.concatenate([risk, area[:, None]], axis=1)
