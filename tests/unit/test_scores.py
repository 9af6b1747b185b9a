"""Scores by hand: one puzzle, two candidates, three cells of which two are to be predicted."""

import numpy as np
import pytest
import torch

from cvoting.scores import change, probability_scores, stablemax_confidence

POSITIONS = torch.tensor([[True, False, True]])


def logits_of(probabilities) -> torch.Tensor:
    return torch.log(torch.tensor(probabilities))[None]


def test_scores_of_two_candidates():
    # Candidate 1 has P = (3/4, 1/4) and (1/2, 1/2) at the positions to predict, candidate 2 has (1/2, 1/2) twice;
    # the middle cell is given and must not count.
    scores = probability_scores(
        logits_of([[[0.75, 0.25], [0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [1.0, 1e-9], [0.5, 0.5]]]), POSITIONS
    )
    log = np.log
    expected = {
        "confidence": [(0.75 + 0.5) / 2, 0.5],
        "negative_entropy": [(0.75 * log(0.75) + 0.25 * log(0.25) + log(0.5)) / 2, log(0.5)],
        "log_probability": [(log(0.75) + log(0.5)) / 2, log(0.5)],
    }
    for name, values in expected.items():
        assert scores[name].dtype == torch.float64
        assert scores[name][0].numpy() == pytest.approx(values, rel=1e-6), name


def test_a_temperature_divides_the_logits():
    # P = (9/10, 1/10) has logits (log 9, 0); at temperature 2 they are (log 3, 0), so P = (3/4, 1/4).
    scores = probability_scores(logits_of([[[0.9, 0.1]] * 3]), POSITIONS, (1.0, 2.0, 0.5))
    assert scores["confidence_at_2"].item() == pytest.approx(0.75, rel=1e-6)
    assert scores["confidence_at_0.5"].item() == pytest.approx(81 / 82, rel=1e-6)
    assert scores["confidence_at_1"].item() == scores["confidence"].item()


def test_confidence_tells_candidates_apart_that_float32_cannot():
    # With logits of 20 the top-1 probability is 1 - 8e-9 or so: exactly 1 in float32, not in float64.
    logits = torch.tensor([[[[20.0, 0.0]] * 3, [[20.5, 0.0]] * 3]])
    first, second = probability_scores(logits, POSITIONS)["confidence"][0]
    assert first < second < 1


def test_the_confidence_of_stablemax_grows_with_logits_that_saturate_a_softmax():
    # s(9) = 10, s(0) = 1, s(-1) = 1/2: P = 10 / 11 and 1 / (1 + 1/2) at the positions to predict.
    logits = torch.tensor([[[[9.0, 0.0], [50.0, 0.0], [0.0, -1.0]]]])
    assert stablemax_confidence(logits, POSITIONS).item() == pytest.approx((10 / 11 + 2 / 3) / 2)
    many = stablemax_confidence(torch.tensor([[[[1000.0, 0.0]] * 3, [[2000.0, 0.0]] * 3]]), POSITIONS)
    assert many[0, 0] < many[0, 1] < 1
    assert many.dtype == torch.float64


def test_change_is_the_mean_length_over_the_positions():
    # Changes (3, 4), (100, 0), (0, 0) have lengths 5, 100, 0; the given cell in the middle does not count.
    before = torch.zeros(1, 1, 3, 2)
    now = torch.tensor([[[[3.0, 4.0], [100.0, 0.0], [0.0, 0.0]]]])
    assert change(now, before, POSITIONS).item() == pytest.approx(2.5)
