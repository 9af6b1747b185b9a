"""ItrSA++: parameters, its start, work done once per puzzle, gradient truncation, and the count of operations."""

import math
from collections import Counter

import pytest
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from cvoting.models.attention import Geometry
from cvoting.models.base import RecurrentModel
from cvoting.models.feed_forward import SwiGLU
from cvoting.models.itrsa import ItrSA
from cvoting.models.kernels import attend, fused_attention
from cvoting.params.core import ParameterError, build
from cvoting.params.itrsa import ItrsaParams

PAPER = {
    "architecture": "itrsa",
    "channels": 384,
    "heads": 12,
    "self_attentions": 4,
    "input_mixing": {"kind": "cross_attention"},
    "feed_forward": {"kind": "swiglu", "hidden": 1536},
    "gta": "learnable",
    "norm_affine": False,
    "norm_eps": 1e-6,
}
SMALL = PAPER | {"channels": 16, "heads": 2, "self_attentions": 2, "feed_forward": {"kind": "swiglu", "hidden": 24}}
LINEAR = {"kind": "linear", "residual": True}
FFN = {"kind": "ffn", "hidden": 24, "activation": "gelu"}
GRID = (4, 4)


def make_model(**changes: object) -> ItrSA:
    """An initialised model of 4x4 boards."""
    model = ItrSA(build(ItrsaParams, SMALL | changes), GRID, vocabulary=5, classes=4)
    model.initialise(torch.Generator().manual_seed(0))
    return model


def normal(*shape: int, seed: int = 1) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def questions(puzzles: int) -> Tensor:
    """Random tokens."""
    return torch.randint(0, 5, (puzzles, 16), generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize(
    ("board", "changes", "parameters"),
    [
        ("sudoku", {}, 2_997_888),
        ("sudoku", {"norm_affine": True}, 2_999_040),
        ("sudoku", {"gta": "fixed"}, 2_956_416),
        ("maze", {}, 3_413_376),
        ("maze", {"gta": "fixed"}, 2_952_576),
    ],
)
def test_the_paper_s_sizes_have_about_3_million_parameters(board: str, changes: dict, parameters: int) -> None:
    grid, vocabulary, classes = {"sudoku": ((9, 9), 10, 9), "maze": ((30, 30), 4, 5)}[board]
    with torch.device("meta"):
        model = ItrSA(build(ItrsaParams, PAPER | changes), grid, vocabulary, classes)
    assert sum(p.numel() for p in model.parameters()) == parameters


def test_a_plain_network_six_times_as_wide_has_as_many_parameters_as_swiglu_four_times_as_wide() -> None:
    plain = make_model(feed_forward=FFN | {"hidden": 6 * 16})
    gated = make_model(feed_forward={"kind": "swiglu", "hidden": 4 * 16})
    sizes = [sum(p.numel() for p in model.parameters()) for model in (plain, gated)]
    assert sizes[0] == sizes[1]


def test_every_cell_starts_at_the_noise_givens_too() -> None:
    model, noise = make_model(), normal(2, 3, 16, 16)
    assert torch.equal(model.initial_state(model.embed(questions(2)), noise).latent, noise)


def test_swiglu_by_hand() -> None:
    # gate 2 * 1 = 2, up 3 * 1 = 3: SiLU(2) = 2 / (1 + e^-2); down 5.
    network = SwiGLU(channels=1, hidden=1)
    with torch.no_grad():
        for part, value in ((network.gate, 2.0), (network.up, 3.0), (network.down, 5.0)):
            part.weight.fill_(value)
    expected = 5 * 3 * 2 / (1 + math.exp(-2))
    torch.testing.assert_close(network(torch.ones(1, 1, 1)), torch.full((1, 1, 1), expected))


def test_fixed_geometry_is_neither_trained_nor_saved() -> None:
    model = make_model(gta="fixed")
    assert not [name for name in model.state_dict() if "geometry" in name]
    assert len([name for name in make_model().state_dict() if "geometry" in name]) == 8


def test_initial_values_and_outputs_turn_against_each_other() -> None:
    geometry = Geometry((3, 3), head_dim=6, learnable=True)
    torch.testing.assert_close(geometry.out @ geometry.value, torch.eye(2).expand_as(geometry.value))


def test_both_kinds_of_attention_give_the_same() -> None:
    inputs = [normal(5, 3, 8, seed=seed).double().requires_grad_() for seed in (1, 2, 3)]
    ours, fused = (attention(*inputs, 2) for attention in (attend, fused_attention))
    torch.testing.assert_close(ours, fused)
    gradients = [torch.autograd.grad(out.square().sum(), inputs) for out in (ours, fused)]
    torch.testing.assert_close(*gradients)


def count_rows(model: ItrSA) -> Counter:
    """Counts, while a model runs, how many rows [cells] its linear maps are given, by the name of the map."""
    rows: Counter = Counter()

    def hook(name: str):
        return lambda _, inputs, __: rows.update({name: inputs[0].shape[1]})

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_hook(hook(name))
    return rows


def test_keys_and_values_of_cross_attention_are_computed_once_per_puzzle() -> None:
    model, puzzles, candidates, steps = make_model(), 3, 5, 4
    rows = count_rows(model)
    model(questions(puzzles), normal(puzzles, candidates, 16, 16), steps)
    cross = "input_mixing.attention"
    assert rows[f"{cross}.key"] == rows[f"{cross}.value"] == puzzles
    assert rows[f"{cross}.query"] == rows[f"{cross}.out"] == puzzles * candidates * steps
    assert rows["self_attention.key"] == puzzles * candidates * steps * 2


def test_steps_before_the_detached_state_keep_nothing_for_the_backward_pass() -> None:
    model, question, noise = make_model(), questions(2), normal(2, 1, 16, 16)

    def kept(steps: int, detach_step: int | None) -> int:
        sizes = []
        with saved_tensors_hooks(lambda t: sizes.append(t.nbytes) or t, lambda t: t):
            model(question, noise, steps, detach_step)
        return sum(sizes)

    assert kept(9, 7) == kept(3, 1)
    # What is kept of a block is the difference of two numbers of blocks.
    assert kept(9, None) - kept(9, 7) == 7 * (kept(2, None) - kept(1, None))


def test_the_embedding_learns_from_the_steps_after_the_detached_state() -> None:
    model = make_model()
    model(questions(2), normal(2, 1, 16, 16), 3, 2).square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in model.parameters())
    assert model.embedding.grad.any(-1).all()


def test_training_and_rollouts_know_no_other_way_to_run_steps() -> None:
    assert ItrSA.forward is RecurrentModel.forward


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 3}, "heads = 3: expected channels / heads to be an even number, got 16 / 3"),
        ({"input_mixing": {"kind": "conv"}}, "input_mixing.kind = 'conv': expected one of cross_attention, linear"),
        ({"input_mixing": {"kind": "linear"}}, "input_mixing.residual: missing"),
        ({"feed_forward": FFN | {"activation": "tanh"}}, "feed_forward.activation = 'tanh': expected one of"),
        ({"norm_eps": 0.0}, "norm_eps = 0.0: expected more than 0"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        build(ItrsaParams, SMALL | changes)
