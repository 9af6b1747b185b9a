"""AKOrN agrees with the slow implementation in `akorn_equations`, values and gradients, in float64."""

import itertools
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from cvoting.models.akorn import AKOrN
from cvoting.models.akorn_released import released_name
from cvoting.params.akorn import AkornParams

equations = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("akorn_equations.py"))))

PUZZLES, CANDIDATES, STEPS, GRID = 2, 3, 4, (2, 3)
TOLERANCE = 1e-10

#: (channels, n, heads, layers, omega): every n with every kind of frequencies, then heads and layers.
CASES = [
    *((24, n, 2, 1, omega) for n, omega in itertools.product((2, 3, 4, 8, 24), ("global", "per_pair", "none"))),
    *((48, 4, heads, 1, "global") for heads in (1, 3, 4, 12)),
    *((16, 4, 2, layers, omega) for layers, omega in itertools.product((2, 3), ("per_pair", "none"))),
]


def make_params(channels: int, n: int, heads: int, layers: int, omega: str, learnable: bool) -> AkornParams:
    """Parameters with a step size other than 1."""
    return AkornParams(
        architecture="akorn",
        channels=channels,
        oscillator_dim=n,
        heads=heads,
        layers=layers,
        step_size=0.7,
        omega=omega,
        omega_initial=0.5,
        omega_learnable=learnable,
    )


def assert_close(name: str, ours: Tensor, theirs: Tensor) -> None:
    """The largest difference is within rounding of the largest value."""
    tolerance = TOLERANCE * float(theirs.detach().abs().max())
    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance, msg=lambda text: f"{name}: {text}")


@pytest.mark.parametrize("learnable", [True, False], ids=["learnable", "fixed"])
@pytest.mark.parametrize(("channels", "n", "heads", "layers", "omega"), CASES)
def test_rollouts_and_gradients_agree_with_the_equations(
    channels: int, n: int, heads: int, layers: int, omega: str, learnable: bool
) -> None:
    rng = torch.Generator().manual_seed(channels + n + heads + layers)
    model = AKOrN(make_params(channels, n, heads, layers, omega, learnable), GRID, vocabulary=7, classes=6).double()
    model.initialise(rng)
    with torch.no_grad():  # away from the initial values, which hide mistakes: equal frequencies, rotations, zeros
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=rng, dtype=torch.float64)
    puzzle = torch.randint(0, 7, (PUZZLES, 6), generator=rng)
    noise = torch.randn(PUZZLES, CANDIDATES, 6, channels, generator=rng, dtype=torch.float64)

    condition = model.embed(puzzle)
    states = list(model.trajectory(condition, model.initial_state(condition, noise), STEPS))
    ours = (model.readout(states[-1]), states[-1].latent, torch.stack([s.energy for s in states]))

    weights = {released_name(k): p.detach().clone().requires_grad_() for k, p in model.named_parameters()}
    rows = puzzle.repeat_interleave(CANDIDATES, 0), noise.flatten(0, 1)
    logits, state, energies = equations.rollout(weights, n, heads, layers, STEPS, *rows)
    batch = (PUZZLES, CANDIDATES)
    theirs = (logits.unflatten(0, batch), state.unflatten(0, batch), energies.unflatten(1, batch))

    for name, found, expected in zip(("logits", "state", "energies"), ours, theirs, strict=True):
        assert_close(name, found, expected)
    for outputs in (ours, theirs):
        sum((t * torch.linspace(1, 2, t.numel()).view(t.shape)).sum() for t in outputs).backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert_close(name, parameter.grad, weights[released_name(name)].grad)
        else:
            assert name.endswith("omega"), name
            assert not learnable
