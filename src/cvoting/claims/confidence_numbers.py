"""Numbers about confidence that no table holds: of trajectories, and over temperatures."""

from dataclasses import replace

import numpy as np
import pandas as pd
from jaxtyping import Float

from cvoting.claims.estimates import Estimate, Source, largest, minus, rank_correlation
from cvoting.claims.evidence import Evidence, NotRunError
from cvoting.resampling import resampled
from cvoting.statistics import quotient

#: Whose calibration the paper draws, and its error: that of the cells of all candidates.
OF_ALL = {"of": "candidates", "metric": "cell_ece_width", "fitted": False}


def growth(evidence: Evidence, model: str, dataset: str, right: bool) -> Estimate:
    """How much the confidence of right, or of wrong, candidates grows from the first step to the last.

    Args:
        evidence: the study.
        model, dataset: which.
        right: whether candidates that are right at the last step are meant.
    """
    bank = evidence.bank(model, dataset)
    pooled = _pooled(evidence, bank)
    meant = pooled[pooled["right"] == right]
    if meant.empty:
        raise NotRunError(f"no {'right' if right else 'wrong'} candidate among the pooled puzzles of {bank}")
    first, last = meant["step"].min(), meant["step"].max()
    trend = rank_correlation(meant.groupby("step")["confidence"].mean())
    ends = meant[meant["step"] == last].assign(sign=1.0), meant[meant["step"] == first].assign(sign=-1.0)
    found = evidence.learned(_difference(evidence, pooled, pd.concat(ends)), bank)
    return found.over(_source(evidence, bank, pooled), trend=trend, note=f"from step {first} to {last}")


def gap(evidence: Evidence, model: str, dataset: str) -> Estimate:
    """By how much right candidates are more confident than wrong ones at the last step."""
    bank = evidence.bank(model, dataset)
    pooled = _pooled(evidence, bank)
    ends = pooled[pooled["step"] == pooled["step"].max()]
    if ends["right"].nunique() < 2:
        raise NotRunError(f"right or wrong candidates alone among the pooled puzzles of {bank}")
    found = evidence.learned(_difference(evidence, pooled, ends.assign(sign=np.where(ends["right"], 1.0, -1.0))), bank)
    return found.over(_source(evidence, bank, pooled))


def _pooled(evidence: Evidence, bank: str) -> pd.DataFrame:
    """The candidates of the pooled puzzles at every step; `right`: whether they are at the last."""
    table = evidence.table("trajectories", bank)
    table = table[table["pooled"]]
    ends = table.loc[table["step"] == table["step"].max(), ["puzzle", "candidate", "board"]]
    right = ends.assign(right=ends["board"].astype(bool)).drop(columns="board")
    return table.merge(right, on=["puzzle", "candidate"])


def _difference(evidence: Evidence, pooled: pd.DataFrame, signed: pd.DataFrame) -> Estimate:
    """The mean confidence where `sign` is 1 minus that where it is -1, resampled over the pooled puzzles."""
    puzzles = sorted(pooled["puzzle"].unique())

    def of_puzzles(sign: float, count: bool) -> Float[np.ndarray, "puzzles"]:
        values = signed[signed["sign"] == sign].groupby("puzzle")["confidence"]
        return (values.size() if count else values.sum()).reindex(puzzles, fill_value=0).to_numpy(float)

    sums = {(sign, count): of_puzzles(sign, count) for sign in (1.0, -1.0) for count in (False, True)}

    def statistic(shares: Float[np.ndarray, "draws puzzles"]) -> Float[np.ndarray, "draws 1"]:
        above, below = (quotient(shares @ sums[sign, False], shares @ sums[sign, True]) for sign in (1.0, -1.0))
        return (above - below)[:, None]

    (found,) = resampled({0: statistic}, len(puzzles), **evidence.bootstrap)
    value, low, high = (float(ends[0]) for ends in (found.value, found.low, found.high))
    return Estimate(value, low, high, evidence.bootstrap["level"], f"{found.interval}, of those pooled")


def _source(evidence: Evidence, bank: str, pooled: pd.DataFrame) -> Source:
    """The rollouts of the pooled puzzles."""
    candidates, puzzles = int(pooled["candidates"].iloc[0]), pooled["puzzle"].nunique()
    return Source(bank, puzzles, 1, 1, candidates, int(pooled["T_eval"].iloc[0]))


def least_temperature(evidence: Evidence, model: str, dataset: str) -> Estimate:
    """The temperature whose calibration error is least; the interval: those whose own intervals meet the least's."""
    bank = evidence.bank(model, dataset)
    temperatures = _temperatures(evidence, bank)
    errors = {T: evidence.measure("calibration", bank, temperature=T, **OF_ALL) for T in temperatures}
    best = min(errors, key=lambda T: errors[T].value)
    close = [T for T in temperatures if errors[T].low <= errors[best].high]
    note = f"ECE {100 * errors[best].value:.2g} %"
    if 2.0 in errors:
        note += f", at temperature 2 {100 * errors[2.0].value:.2g} %"
    interval = "intervals of the errors meet"
    return replace(errors[best], value=best, low=min(close), high=max(close), interval=interval, note=note)


def gain_of_softening(evidence: Evidence, model: str, dataset: str) -> Estimate:
    """The calibration error at temperature 1 minus that at 2.

    Raises:
        NotRunError: where the study has no temperature 2.
    """
    bank = evidence.bank(model, dataset)
    return minus(*(evidence.measure("calibration", bank, temperature=T, **OF_ALL) for T in (1.0, 2.0)))


def largest_change(evidence: Evidence, model: str, dataset: str, metric: str) -> Estimate:
    """The change of a metric of C-voting's answer from temperature 1 that is largest over temperatures.

    The interval is from the lowest to the highest end at any of them.
    """
    bank = evidence.bank(model, dataset)
    where = {"of": "voted", "metric": f"{metric}_change", "fitted": False}
    changes = [evidence.measure("calibration", bank, temperature=T, **where) for T in _temperatures(evidence, bank)]
    found = largest(changes)
    low, high = min(c.low for c in changes), max(c.high for c in changes)
    return replace(found, low=low, high=high, interval=f"{found.interval}, at any temperature")


def range_over_temperatures(evidence: Evidence, model: str, dataset: str) -> Estimate:
    """How far the cell accuracy of all candidates differs between temperatures."""
    bank = evidence.bank(model, dataset)
    where = {"of": "candidates", "metric": "cell_accuracy", "fitted": False}
    found = [evidence.measure("calibration", bank, temperature=T, **where) for T in _temperatures(evidence, bank)]
    values = [accuracy.value for accuracy in found]
    difference = max(values) - min(values)
    interval = "the same candidates"
    return replace(found[0], value=difference, low=difference, high=difference, level=None, interval=interval)


def _temperatures(evidence: Evidence, bank: str) -> list[float]:
    table = evidence.table("calibration", bank)
    return sorted(table.loc[~table["fitted"], "temperature"].unique().tolist())
