"""Calibration and discrimination are those of torchmetrics and torch, where these define the same."""

import numpy as np
import pytest
import torch
from torchmetrics.functional.classification import binary_auroc, multiclass_calibration_error

from cvoting.calibration import (
    bin_sums,
    ece,
    fit_temperature,
    negative_log_likelihood,
    probabilities,
    width_edges,
)
from cvoting.discrimination import auroc_between, auroc_within
from cvoting.seeding import generator


def predictions(seed: int, n: int = 500, classes: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Made-up logits, and labels that they predict somewhat."""
    rng = generator("made-up logits", seed)
    logits = 2 * rng.normal(size=(n, classes))
    return logits, (logits + 3 * rng.normal(size=logits.shape)).argmax(axis=1)


def error(p: np.ndarray, labels: np.ndarray, bins: int) -> float:
    """Our expected calibration error of the most probable class."""
    alone = np.zeros(len(p), dtype=int)
    return ece(bin_sums(p.max(axis=1), p.argmax(axis=1) == labels, alone, 1, width_edges(bins)).sum(axis=0)).item()


def torchmetrics_error(p: np.ndarray, labels: np.ndarray, bins: int) -> float:
    """That of torchmetrics."""
    classes = p.shape[1]
    return multiclass_calibration_error(torch.tensor(p), torch.tensor(labels), classes, bins, norm="l1").item()


@pytest.mark.parametrize("bins", [1, 2, 10, 15, 100])
@pytest.mark.parametrize("seed", range(3))
def test_the_calibration_error_is_that_of_torchmetrics(seed: int, bins: int) -> None:
    logits, labels = predictions(seed)
    p = probabilities(logits)
    # torchmetrics computes in float32.
    assert error(p, labels, bins) == pytest.approx(torchmetrics_error(p, labels, bins), abs=1e-6)


def test_torchmetrics_counts_a_confidence_on_an_edge_in_the_bin_above() -> None:
    # 0.75, on an edge of four bins, with one of two right, and 0.6 with one of one.  Guo et al. and we put all three in
    # the third bin: |2.1 - 2| / 3.  torchmetrics parts them: (|1.5 - 1| + |0.6 - 1|) / 3.
    p, labels = np.array([[0.25, 0.75], [0.25, 0.75], [0.4, 0.6]]), np.array([1, 0, 1])
    assert error(p, labels, 4) == pytest.approx(0.1 / 3)
    assert torchmetrics_error(p, labels, 4) == pytest.approx(0.9 / 3)


def test_torchmetrics_counts_a_confidence_of_one_in_a_bin_of_its_own() -> None:
    # 1, wrong, and 0.8, right: in one bin |1.8 - 1| / 2, apart (1 + 0.2) / 2.
    p, labels = np.array([[0.0, 1.0], [0.2, 0.8]]), np.array([0, 1])
    assert error(p, labels, 2) == pytest.approx(0.8 / 2)
    assert torchmetrics_error(p, labels, 2) == pytest.approx(1.2 / 2)


@pytest.mark.parametrize("levels", [5, 10**9])
@pytest.mark.parametrize("seed", range(3))
def test_auroc_is_that_of_torchmetrics_for_each_puzzle(seed: int, levels: int) -> None:
    rng = generator("made-up scores", seed)
    correct = rng.random((4, 30)) < 0.4
    scores = np.floor((rng.random((4, 30)) + 0.3 * correct) * levels) / levels
    theirs = [binary_auroc(torch.tensor(s / 2), torch.tensor(c).int()) for s, c in zip(scores, correct, strict=True)]
    np.testing.assert_allclose(auroc_within(scores, correct), theirs, atol=1e-6)


@pytest.mark.parametrize("levels", [5, 10**9])
def test_auroc_between_puzzles_of_one_candidate_is_that_of_torchmetrics_for_all_of_them(levels: int) -> None:
    rng = generator("made-up scores")
    correct = rng.random((60, 1)) < 0.4
    scores = np.floor((rng.random((60, 1)) + 0.3 * correct) * levels) / levels
    theirs = binary_auroc(torch.tensor(scores.ravel() / 2), torch.tensor(correct.ravel()).int())
    np.testing.assert_allclose(auroc_between(scores, correct, np.full((1, 60), 1 / 60)), theirs.item(), atol=1e-6)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_likelihood_and_probabilities_are_those_of_torch(temperature: float) -> None:
    logits, labels = predictions(0)
    scaled = torch.tensor(logits) / temperature
    theirs = torch.nn.functional.cross_entropy(scaled, torch.tensor(labels), reduction="none")
    np.testing.assert_allclose(negative_log_likelihood(logits, labels, temperature), theirs, atol=1e-13)
    np.testing.assert_allclose(probabilities(logits, temperature), scaled.softmax(dim=1), rtol=1e-12)


def test_the_derivative_of_torchs_likelihood_is_zero_at_the_fitted_temperature() -> None:
    logits, labels = predictions(1)
    temperature = torch.tensor(fit_temperature(logits, labels), dtype=torch.float64, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(torch.tensor(logits) / temperature, torch.tensor(labels))
    (derivative,) = torch.autograd.grad(loss, temperature)
    assert abs(derivative.item()) < 1e-10
