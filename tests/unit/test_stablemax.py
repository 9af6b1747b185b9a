"""Stablemax by hand, and its gradient where its two halves meet."""

import pytest
import torch

from cvoting.stablemax import log_stablemax


def test_stablemax_by_hand() -> None:
    # s = 3, 1, 1/2, 1/4 for x = 2, 0, -1, -3: the sum is 19/4.
    logits = torch.tensor([2.0, 0.0, -1.0, -3.0], dtype=torch.float64)
    expected = torch.tensor([12.0, 4.0, 2.0, 1.0], dtype=torch.float64) / 19
    torch.testing.assert_close(log_stablemax(logits).exp(), expected)


@pytest.mark.parametrize("x", [-5.0, -1.0, 0.0, 0.5, 30.0])
def test_the_gradient_is_that_of_the_definition(x: float) -> None:
    # d log s / dx = 1 / (1 + |x|); with p = s / (s + 1), d log p / dx = (1 - p) / (1 + |x|).
    logits = torch.tensor([x, 0.0], dtype=torch.float64, requires_grad=True)
    s = x + 1 if x >= 0 else 1 / (1 - x)
    log_stablemax(logits)[0].backward()
    assert logits.grad is not None
    assert logits.grad[0].item() == pytest.approx((1 - s / (s + 1)) / (1 + abs(x)))


def test_large_logits_stay_numbers() -> None:
    log_p = log_stablemax(torch.tensor([1e30, -1e30, 0.0]))
    assert log_p.isfinite().all()
    assert log_p.argmax() == 0
