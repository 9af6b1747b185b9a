"""Calibration of predicted probabilities: whether a confidence of 0.8 means that 8 in 10 are right.

Reliability and expected calibration error come from sums per puzzle and bin, so that a resample of puzzles is a
weighted sum of them (`statistics.puzzle_shares`), never another pass over the predictions.
"""

import math

import numpy as np
from jaxtyping import Bool, Float, Integer

from cvoting.statistics import chunks, quotient

#: Logits in float64 held at once while a temperature is fitted: few enough for a processor's cache.
LOGITS_AT_ONCE = 2**17
#: Weights of items held at once: bounds the memory of the risk-coverage curves of resamples.
WEIGHTS_AT_ONCE = 2**18
#: The last relative step of 1/T.  Newton's steps square their error, so that T itself is far more precise.
LAST_STEP = 1e-7


def probabilities(
    logits: Float[np.ndarray, "predictions classes"], temperature: float = 1.0
) -> Float[np.ndarray, "predictions classes"]:
    """softmax(logits / temperature), in float64.

    Args:
        logits: finite, of any precision, up to a constant for each prediction.
        temperature: above 0; above 1 makes confidences smaller, and never changes which class is the most probable.
    """
    weights = np.exp(_below_largest(logits) / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def width_edges(bins: int) -> Float[np.ndarray, "edges"]:
    """The bins + 1 edges of bins of equal width, 0 to 1."""
    return np.linspace(0, 1, bins + 1)


def mass_edges(confidence: Float[np.ndarray, "predictions"], bins: int) -> Float[np.ndarray, "edges"]:
    """The edges of bins of equally many predictions, or one more or fewer; the first is 0 and the last 1.

    Inner edge b is the confidence of rank ceil(b n / bins), the largest that its bin holds.  Equal confidences are
    never parted: where they make edges coincide, or leave nothing above one, there are fewer bins.
    Source: Nguyen & O'Connor (2015), Posterior calibration and exploratory analysis for natural language processing
    models (adaptive binning).

    Args:
        confidence: at least one.
        bins: how many to aim at.
    """
    ordered = np.sort(confidence)
    ranks = -(-np.arange(1, bins) * len(ordered) // bins)
    inner = ordered[ranks - 1]
    return np.unique(np.concatenate([[0.0], inner[inner < ordered[-1]], [1.0]]))


def bin_sums(
    confidence: Float[np.ndarray, "predictions"],
    correct: Bool[np.ndarray, "predictions"],
    puzzle: Integer[np.ndarray, "predictions"],
    puzzles: int,
    edges: Float[np.ndarray, "edges"],
) -> Float[np.ndarray, "puzzles 3 bins"]:
    """For each puzzle and bin the number of predictions, the sum of their confidences and the number of right ones.

    A bin holds lower < confidence <= upper, and the first one 0 too.
    Source: Guo et al. (2017), On calibration of modern neural networks, Section 2.
    Differs from torchmetrics 1.9: there it is lower <= confidence < upper, and 1 has a bin of its own.

    Args:
        confidence: the probability of the predicted class, 0 to 1 (rounding errors beyond go to the first or last bin).
        correct: whether that class is the label.
        puzzle: the puzzle of each prediction, from 0.
        puzzles: how many there are, with predictions or not.
        edges: ascending, from 0 to 1.
    """
    bins = len(edges) - 1
    of_bin = np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, bins - 1)
    place = np.ravel_multi_index((puzzle, of_bin), (puzzles, bins))
    sums = [np.bincount(place, weights, minlength=puzzles * bins) for weights in (None, confidence, correct)]
    return np.stack([s.reshape(puzzles, bins) for s in sums], axis=1).astype(np.float64)


def ece(sums: Float[np.ndarray, "*draws 3 bins"]) -> Float[np.ndarray, "*draws"]:
    """Expected calibration error; NaN without a prediction.

    sum_b n_b / n |right_b / n_b - confidence_b / n_b| = sum_b |confidence_b - right_b| / sum_b n_b: empty bins add
    nothing.
    Source: Naeini et al. (2015), Obtaining well calibrated probabilities using Bayesian binning; Guo et al. (2017),
    Equation 3.

    Args:
        sums: those of `bin_sums`, added up over puzzles, with any weights.
    """
    count, confidence, right = np.moveaxis(sums, -2, 0)
    return quotient(np.abs(confidence - right).sum(axis=-1), count.sum(axis=-1))


def reliability(
    sums: Float[np.ndarray, "*draws 3 bins"],
) -> tuple[Float[np.ndarray, "*draws bins"], Float[np.ndarray, "*draws bins"]]:
    """The share of right predictions and the mean confidence of each bin; NaN in an empty one.

    Source: Guo et al. (2017), Section 2 (reliability diagrams).

    Args:
        sums: those of `bin_sums`, added up over puzzles, with any weights.
    """
    count, confidence, right = np.moveaxis(sums, -2, 0)
    return quotient(right, count), quotient(confidence, count)


def brier_score(
    probabilities: Float[np.ndarray, "predictions classes"], labels: Integer[np.ndarray, "predictions"]
) -> Float[np.ndarray, "predictions"]:
    """sum_j (p_j - [j = label])^2, from 0 to 2; smaller is better.

    Source: Brier (1950), Verification of forecasts expressed in terms of probability.

    Args:
        probabilities: of the classes.
        labels: the right class of each prediction, from 0.
    """
    errors = probabilities.astype(np.float64)
    errors[np.arange(len(labels)), labels] -= 1
    return (errors**2).sum(axis=1)


def negative_log_likelihood(
    logits: Float[np.ndarray, "predictions classes"],
    labels: Integer[np.ndarray, "predictions"],
    temperature: float = 1.0,
) -> Float[np.ndarray, "predictions"]:
    """-log softmax(logits / temperature)_label, in nats; smaller is better.

    Finite, for stored logits are: they are clipped at the least number of float16.

    Args:
        logits: finite, of any precision, up to a constant for each prediction.
        labels: the right class of each prediction, from 0.
        temperature: above 0.
    """
    z = _below_largest(logits) / temperature
    return np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(labels)), labels]


def fit_temperature(
    logits: Float[np.ndarray, "predictions classes"],
    labels: Integer[np.ndarray, "predictions"],
    low: float = 0.05,
    high: float = 20.0,
) -> float:
    """The temperature of the least mean negative log likelihood; of equally good ones, the lowest.

    That mean is convex in b = 1/T, with the derivative mean(E_p[z] - z_label), p = softmax(b z), and the second
    derivative mean(Var_p[z]).  Newton's method finds the zero of the first, kept between two b around it: a step that
    leaves them, or is not half as long as the one before, is replaced by the bisection of log b.
    Source: Guo et al. (2017), Section 4.2 (temperature scaling).

    Args:
        logits: finite, of any precision, up to a constant for each prediction; at least one prediction.
        labels: the right class of each prediction, from 0.
        low: the least temperature, above 0: the result where the best is below, as where all predictions are right.
        high: the largest: the result where the best is above, as where all are wrong.
    """
    least, most = 1 / high, 1 / low
    if _slope_and_curvature(logits, labels, most)[0] <= 0:
        return low
    if _slope_and_curvature(logits, labels, least)[0] >= 0:
        return high
    b, step = min(max(1.0, least), most), math.inf
    while step > LAST_STEP * b:
        slope, curvature = _slope_and_curvature(logits, labels, b)
        least, most = (least, b) if slope > 0 else (b, most)
        newton = b - slope / curvature if curvature > 0 else math.inf
        usable = least <= newton <= most and abs(newton - b) < step / 2
        following = newton if usable else math.sqrt(least * most)
        b, step = following, abs(following - b)
    return 1 / b


def risk_coverage(
    confidence: Float[np.ndarray, "puzzles items"],
    wrong: Float[np.ndarray, "puzzles items"],
    shares: Float[np.ndarray, "draws puzzles"],
    coverages: Float[np.ndarray, "coverages"],
) -> tuple[Float[np.ndarray, "draws coverages"], Float[np.ndarray, "draws"]]:
    """The risk among the most confident items, for each coverage, and the area under that curve (AURC).

    Every item of puzzle p weighs shares_p / items.  With the items from the most confident on, W is the weight and E
    the weight times `wrong` of all that are at least as confident as one of them.  E(c) is linear between the points
    (W, E), from (0, 0) on: an item that is covered in part counts in part, and items of equal confidence are covered
    together, as in a random order.  risk(c) = E(c) / c.  AURC is the integral of risk(c) over 0 < c <= 1, and exact:
    where E(c) = E_a + r (c - a) for a < c < b, it is (E_a - r a) log(b / a) + r (b - a).
    Source: Geifman & El-Yaniv (2017), Selective classification for deep neural networks, Section 2; Geifman et al.
    (2019), Bias-reduced uncertainty estimation for deep neural classifiers (the area).
    Differs from the mean of the risks at c = 1/n, 2/n, ... 1, which is often taken for the area: the integral does not
    change where every item is there twice, so that a puzzle drawn twice is the same as one of twice the weight.

    Args:
        confidence: larger is covered earlier.
        wrong: the loss of each item, 1 for a wrong one.
        shares: of the puzzles in each resample; they add up to 1.  A row of 1 / puzzles is the sample itself.
        coverages: above 0, at most 1.
    """
    puzzles, items = confidence.shape
    order = np.argsort(-confidence, axis=None, kind="stable")
    of_puzzle, losses, ordered = order // items, wrong.ravel()[order], confidence.ravel()[order]
    last_of_equals = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    risks, areas = np.empty((len(shares), len(coverages))), np.empty(len(shares))
    for rows in chunks(len(shares), puzzles * items, WEIGHTS_AT_ONCE):
        weights = shares[rows][:, of_puzzle] / items
        W, E = (np.cumsum(w, axis=1)[:, last_of_equals] for w in (weights, weights * losses))
        W, E = (np.pad(sums, ((0, 0), (1, 0))) for sums in (W, E))
        risks[rows] = [np.interp(coverages, w, e) / coverages for w, e in zip(W, E, strict=True)]
        areas[rows] = _area(W, E)
    return risks, areas


def _area(W: Float[np.ndarray, "draws points"], E: Float[np.ndarray, "draws points"]) -> Float[np.ndarray, "draws"]:
    """The integral of E(c) / c between the first point, (0, 0), and the last; see `risk_coverage`."""
    a, widths, rises = W[:, :-1], np.diff(W), np.diff(E)
    # Puzzles that a resample lacks make pieces of no width, which add nothing.  Where a = 0, so is E_a - r a.
    rates = np.divide(rises, widths, out=np.zeros_like(widths), where=widths > 0)
    logarithms = np.log1p(np.divide(widths, a, out=np.zeros_like(widths), where=a > 0))
    return ((E[:, :-1] - rates * a) * logarithms + rises).sum(axis=1)


def _below_largest(logits: Float[np.ndarray, "predictions classes"]) -> Float[np.ndarray, "predictions classes"]:
    """Logits minus the largest of each prediction, in float64, so that no exponential overflows."""
    z = logits.astype(np.float64)
    z -= z.max(axis=1, keepdims=True)
    return z


def _slope_and_curvature(
    logits: Float[np.ndarray, "predictions classes"], labels: Integer[np.ndarray, "predictions"], b: float
) -> tuple[float, float]:
    """The first and second derivative of the mean negative log likelihood in b = 1/T; see `fit_temperature`."""
    predictions, classes = logits.shape
    slope = curvature = 0.0
    for rows in chunks(predictions, classes, LOGITS_AT_ONCE):
        # Classes first: sums over a short last axis are slow.
        z = logits[rows].T.astype(np.float64, order="C")
        z -= z.max(axis=0)
        p = np.exp(b * z)
        p /= p.sum(axis=0)
        mean = np.einsum("cp,cp->p", p, z)
        slope += float((mean - z[labels[rows], np.arange(z.shape[1])]).sum())
        curvature += float(np.einsum("cp,cp,cp->", p, z, z) - mean @ mean)
    return slope / predictions, curvature / predictions
