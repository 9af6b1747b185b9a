"""ItrSA++ agrees with the slow implementation in `itrsa_equations`, values and gradients, in float64."""

import itertools
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from cvoting.models.attention import Geometry
from cvoting.models.itrsa import ItrSA
from cvoting.params.core import build
from cvoting.params.itrsa import ItrsaParams

equations = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("itrsa_equations.py"))))

PUZZLES, CANDIDATES, STEPS, GRID, EPS = 2, 2, 2, (2, 3), 1e-3
TOLERANCE = 1e-10
CROSS, LINEAR, REPLACING = (
    {"kind": "cross_attention"},
    {"kind": "linear", "residual": True},
    {"kind": "linear", "residual": False},
)
SWIGLU = {"kind": "swiglu", "hidden": 10}
NETWORKS = [SWIGLU, *({"kind": "ffn", "hidden": 10, "activation": name} for name in ("relu", "gelu", "silu"))]

#: Every kind of mixing with every network, then heads, S, and kinds of norms and geometry.
CASES = [
    *(
        {"input_mixing": mix, "feed_forward": net}
        for mix, net in itertools.product((CROSS, LINEAR, REPLACING), NETWORKS)
    ),
    *({"heads": heads} for heads in (1, 3, 6)),
    *({"self_attentions": count} for count in (1, 3)),
    *({"gta": gta, "norm_affine": affine} for gta, affine in itertools.product(("learnable", "fixed"), (False, True))),
]


def make_model(changes: dict, rng: torch.Generator) -> ItrSA:
    """A small model away from the initial values, which hide mistakes: rotations, gains of 1."""
    values = {
        "architecture": "itrsa",
        "channels": 12,
        "heads": 2,
        "self_attentions": 2,
        "input_mixing": CROSS,
        "feed_forward": SWIGLU,
        "gta": "learnable",
        "norm_affine": False,
        "norm_eps": EPS,
    }
    model = ItrSA(build(ItrsaParams, values | changes), GRID, vocabulary=7, classes=6).double()
    model.initialise(rng)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=rng, dtype=torch.float64)
    return model


def assert_close(name: str, ours: Tensor, theirs: Tensor) -> None:
    """The largest difference is within rounding of the largest value."""
    tolerance = TOLERANCE * float(theirs.detach().abs().max())
    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance, msg=lambda text: f"{name}: {text}")


@pytest.mark.parametrize("changes", CASES, ids=str)
def test_rollouts_and_gradients_agree_with_the_equations(changes: dict) -> None:
    rng = torch.Generator().manual_seed(0)
    model = make_model(changes, rng)
    questions = torch.randint(0, 7, (PUZZLES, 6), generator=rng)
    noise = torch.randn(PUZZLES, CANDIDATES, 6, 12, generator=rng, dtype=torch.float64)

    condition = model.embed(questions)
    *_, last = model.trajectory(condition, model.initial_state(condition, noise), STEPS)
    ours = (last.latent, model.readout(last))

    weights = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    p = model.params
    slow = equations.Equations(
        weights=weights | dict(model.named_buffers()),
        heads=p.heads,
        self_attentions=p.self_attentions,
        eps=EPS,
        residual=getattr(p.input_mixing, "residual", True),
        activation=getattr(p.feed_forward, "activation", ""),
    )
    pairs = itertools.product(range(PUZZLES), range(CANDIDATES))
    rollouts = [slow.rollout(questions[i].tolist(), noise[i, k], STEPS) for i, k in pairs]
    batch = (PUZZLES, CANDIDATES)
    theirs = tuple(torch.stack(arrays).unflatten(0, batch) for arrays in zip(*rollouts, strict=True))

    for name, found, expected in zip(("state", "logits"), ours, theirs, strict=True):
        assert_close(name, found, expected)
    for outputs in (ours, theirs):
        sum((t * torch.linspace(1, 2, t.numel()).view(t.shape)).sum() for t in outputs).backward()
    for name, parameter in model.named_parameters():
        assert_close(name, parameter.grad, weights[name].grad)


@pytest.mark.parametrize("learnable", [True, False])
def test_geometry_starts_from_rotations(learnable: bool) -> None:
    geometry = Geometry((3, 4), head_dim=10, learnable=learnable)
    expected = torch.tensor([[equations.rotation(4, 5, cell, pair) for pair in range(5)] for cell in range(12)])
    for matrices in (geometry.query, geometry.key, geometry.value, geometry.out.mT):
        torch.testing.assert_close(matrices.data, expected)
