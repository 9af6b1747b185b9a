"""Adam-atan2: steps by hand, against its formula over many steps, and a resumed one."""

import copy
import math

import pytest
import torch
from torch import Tensor

from cvoting.training.adam_atan2 import AdamAtan2


def parameter(*values: float) -> Tensor:
    return torch.nn.Parameter(torch.tensor(values, dtype=torch.float64))


def take_steps(optimizer: AdamAtan2, weights: Tensor, gradients: Tensor) -> None:
    for gradient in gradients:
        weights.grad = gradient.clone()
        optimizer.step()


def test_the_first_step_is_an_eighth_of_a_turn_whatever_the_gradient() -> None:
    # m / (1 - b1) = g and v / (1 - b2) = g^2 at t = 1: atan2(g, |g|) = +-pi/4; a gradient of 0 gives atan2(0, 0) = 0.
    weights = parameter(1.0, 1.0, 1.0)
    take_steps(AdamAtan2([weights], lr=0.1), weights, torch.tensor([[1e-8, -1e8, 0.0]], dtype=torch.float64))
    assert weights.tolist() == pytest.approx([1 - 0.1 * math.pi / 4, 1 + 0.1 * math.pi / 4, 1.0])


def test_two_steps_by_hand() -> None:
    # b1 = 1/2, b2 = 3/4, gradients 1 and 3: m = 1/2, then 7/4; v = 1/4, then 39/16.
    # Corrected at t = 2: m / (3/4) = 7/3 and v / (7/16) = 39/7.
    weights = parameter(1.0)
    optimizer = AdamAtan2([weights], lr=0.1, betas=(0.5, 0.75), weight_decay=2.0)
    take_steps(optimizer, weights, torch.tensor([[1.0], [3.0]], dtype=torch.float64))
    first = 1.0 * (1 - 0.2) - 0.1 * math.pi / 4
    assert weights.item() == pytest.approx(first * (1 - 0.2) - 0.1 * math.atan2(7 / 3, math.sqrt(39 / 7)))


def test_many_steps_follow_the_formula() -> None:
    rng = torch.Generator().manual_seed(0)
    gradients = torch.randn(20, 3, generator=rng, dtype=torch.float64)
    weights, lr, b1, b2, decay = parameter(0.3, -2.0, 0.0), 0.05, 0.9, 0.95, 1.0
    p, m, v = weights.tolist(), [0.0] * 3, [0.0] * 3
    for t, gradient in enumerate(gradients.tolist(), start=1):
        for i, g in enumerate(gradient):
            m[i] = b1 * m[i] + (1 - b1) * g
            v[i] = b2 * v[i] + (1 - b2) * g * g
            p[i] -= lr * decay * p[i]
            p[i] -= lr * math.atan2(m[i] / (1 - b1**t), math.sqrt(v[i] / (1 - b2**t)))
    take_steps(AdamAtan2([weights], lr, (b1, b2), decay), weights, gradients)
    assert weights.tolist() == pytest.approx(p, rel=1e-12)


def test_a_sign_group_takes_steps_of_one_size_and_keeps_no_moments() -> None:
    weights = parameter(1.0, 1.0, 1.0)
    optimizer = AdamAtan2([{"params": [weights], "sign": True, "lr": 0.5}], lr=0.1, weight_decay=1.0)
    take_steps(optimizer, weights, torch.tensor([[7.0, -1e-9, 0.0]], dtype=torch.float64))
    assert weights.tolist() == [0.0, 1.0, 0.5]
    assert optimizer.state_dict()["state"] == {}


def test_a_parameter_without_a_gradient_stays() -> None:
    weights = parameter(1.0)
    AdamAtan2([weights], lr=0.1, weight_decay=1.0).step()
    assert weights.item() == 1.0


def test_an_optimizer_goes_on_from_its_state() -> None:
    gradients = torch.randn(6, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    whole, halves = parameter(1.0, 2.0), parameter(1.0, 2.0)
    take_steps(AdamAtan2([whole], lr=0.1), whole, gradients)
    first, second = AdamAtan2([halves], lr=0.1), AdamAtan2([halves], lr=0.1)
    take_steps(first, halves, gradients[:3])
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    take_steps(second, halves, gradients[3:])
    assert torch.equal(whole, halves)


def test_a_closure_is_evaluated_with_gradients() -> None:
    weights = parameter(1.0)

    def closure() -> Tensor:
        loss = weights.square().sum()
        loss.backward()
        return loss

    assert AdamAtan2([weights], lr=0.1).step(closure).item() == 1.0
    assert weights.item() == pytest.approx(1 - 0.1 * math.pi / 4)
