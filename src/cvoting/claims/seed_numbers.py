"""Numbers about the spread over inference seeds, and about the growth of medians."""

from functools import cache

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import chi2, f

from cvoting.claims.estimates import Estimate, rank_correlation
from cvoting.claims.evidence import Evidence
from cvoting.seeding import generator
from cvoting.statistics import percentile_interval


def seed_range(evidence: Evidence, model: str, dataset: str) -> Estimate:
    """The range of C-voting's accuracy over inference seeds at the largest K, the ends of a box plot.

    The interval is that of the expected range of as many normal numbers, by the chi-squared interval of their standard
    deviation.
    """
    bank, level = evidence.bank(model, dataset), evidence.bootstrap["level"]
    rows = _at_largest_K(evidence.by_seed(bank))
    per_training = rows.groupby("training_seed")["value"]
    seeds, value = int(per_training.size().min()), float((per_training.max() - per_training.min()).mean())
    deviation, freedom = _deviation(rows), len(rows) - per_training.ngroups
    below, above = (chi2.ppf((1 + sign * level) / 2, freedom) for sign in (1, -1))
    low, high = (deviation * np.sqrt(freedom / q) * expected_range(seeds) for q in (below, above))
    K, note = int(rows["K"].iloc[0]), f"standard deviation {100 * deviation:.2g} points"
    interval = "normal accuracies of seeds"
    return Estimate(value, float(low), float(high), level, interval, (evidence.source(bank),), K, note=note)


def deviation_difference(evidence: Evidence, model: str, more: str, less: str) -> Estimate:
    """The standard deviation over inference seeds on one dataset minus that on another, by the F test.

    The interval is that of the ratio of the two, times the other one.
    """
    banks, level = [evidence.bank(model, dataset) for dataset in (more, less)], evidence.bootstrap["level"]
    rows = [_at_largest_K(evidence.by_seed(bank)) for bank in banks]
    (upper, lower), freedoms = map(_deviation, rows), [len(r) - r["training_seed"].nunique() for r in rows]
    sources = tuple(map(evidence.source, banks))
    if min(upper, lower) == 0:
        why = "the seeds of a bank agree to the last puzzle"
        return Estimate(upper - lower, -np.inf, np.inf, level, "F test", sources, incomparable=why)
    ratio = upper / lower
    low, high = (ratio / np.sqrt(f.ppf((1 + sign * level) / 2, *freedoms)) for sign in (1, -1))
    value, below, above = (lower * (float(end) - 1) for end in (ratio, low, high))
    note = f"ratio {ratio:.2f} [{low:.2f}, {high:.2f}]"
    return Estimate(value, below, above, level, "F test of normal seeds", sources, note=note)


def growth_of_medians(evidence: Evidence, model: str, dataset: str, resamples: int = 2000) -> Estimate:
    """The rank correlation of the median over inference seeds with K, resampled over the seeds."""
    bank, level = evidence.bank(model, dataset), evidence.bootstrap["level"]
    rows = evidence.by_seed(bank)
    curves = rows.pivot_table(index=["training_seed", "inference_seed"], columns="K", values="value").to_numpy()
    rng = generator("bootstrap", evidence.bootstrap["seed"])
    picks = rng.integers(len(curves), size=(resamples, len(curves)))
    draws = np.array([rank_correlation(np.median(curves[pick], axis=0)) for pick in picks])
    low, high = percentile_interval(draws, level)
    value = rank_correlation(np.median(curves, axis=0))
    source = evidence.source(bank)
    return Estimate(value, float(low), float(high), level, "inference seeds", (source,), note="rank correlation")


@cache
def expected_range(n: int) -> float:
    """The expected range of n standard normal numbers: the integral of 1 - F^n - (1 - F)^n."""
    return float(quad(lambda x: 1 - ndtr(x) ** n - ndtr(-x) ** n, -10, 10)[0])


def _at_largest_K(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["K"] == rows["K"].max()]


def _deviation(rows: pd.DataFrame) -> float:
    """The standard deviation over inference seeds, within training seeds."""
    within = rows["value"] - rows.groupby("training_seed")["value"].transform("mean")
    return float(np.sqrt((within**2).sum() / (len(rows) - rows["training_seed"].nunique())))
