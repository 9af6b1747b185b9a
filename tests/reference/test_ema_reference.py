"""Our moving average is that of ema-pytorch: its recorded values, and the library itself on a real module."""

from pathlib import Path

import ema_pytorch
import numpy as np
import pytest
import torch

from cvoting.params.training import EmaParams
from cvoting.training.ema import decay_at, update_average

RECORDED = Path(__file__).parent / "data" / "ema_pytorch.npz"


@pytest.mark.parametrize(("after", "every"), [(100, 10), (10, 1)])
def test_recorded_values_of_ema_pytorch_are_reproduced(after, every):
    with np.load(RECORDED) as recorded:
        weights, expected = recorded["weight_at_step"], recorded[f"ema_after{after}_every{every}"]
    model, average = (torch.nn.Linear(1, 1, bias=False, dtype=torch.float64) for _ in range(2))
    ours = []
    for update, weight in enumerate(weights):
        torch.nn.init.constant_(model.weight, weight)
        update_average(average, model, update, EmaParams(decay=0.995, after=after, every=every))
        ours.append(average.weight.item())
    error = np.abs(np.array(ours) / expected - 1).max()
    assert error <= 1e-6, f"largest relative error {error:.1e}: the averaging schedule is another one"


@pytest.mark.parametrize(("after", "every", "decay"), [(0, 1, 0.9), (5, 3, 0.995), (7, 10, 0.5)])
def test_the_library_agrees_update_by_update(after, every, decay):
    rng = np.random.default_rng(0)
    model = torch.nn.Linear(3, 2, dtype=torch.float64)
    library = ema_pytorch.EMA(model, beta=decay, update_after_step=after, update_every=every)
    average = torch.nn.Linear(3, 2, dtype=torch.float64)
    for update in range(60):
        with torch.no_grad():
            for weight in model.parameters():
                weight.copy_(torch.from_numpy(rng.normal(size=tuple(weight.shape))))
        library.update()
        update_average(average, model, update, EmaParams(decay=decay, after=after, every=every))
        for ours, theirs in zip(average.parameters(), library.ema_model.parameters(), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


def test_decay_by_hand():
    params = EmaParams(decay=0.9, after=4, every=2)
    assert decay_at(1, params) is None  # not a multiple of 2
    assert decay_at(4, params) == 0  # still a copy
    assert decay_at(6, params) == pytest.approx(1 - 3 ** (-2 / 3))  # s = 2
    assert decay_at(400, params) == 0.9  # 1 - 397^(-2/3) = 0.98 is more than the largest decay
