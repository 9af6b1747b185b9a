"""AKOrN: initial states, the update and the energy by hand, initial weights, importing, and the count of operations."""

import math
import re

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from cvoting.models import kernels
from cvoting.models.akorn import AKOrN
from cvoting.models.akorn_released import load_released, released_name
from cvoting.models.kuramoto import KuramotoLayer, Oscillators, Readout
from cvoting.models.layers import GeometricAttention, linear, rotations, to_candidates, to_rows
from cvoting.models.released import WeightsMismatch
from cvoting.params.akorn import AkornParams

GRID = (4, 4)


def make_params(**changes: object) -> AkornParams:
    """A small AKOrN, with changes."""
    values = {
        "channels": 16,
        "oscillator_dim": 4,
        "heads": 2,
        "layers": 1,
        "step_size": 1.0,
        "omega": "global",
        "omega_initial": 0.5,
        "omega_learnable": True,
    }
    return AkornParams(architecture="akorn", **(values | changes))


def make_model(seed: int = 0, grid: tuple[int, int] = GRID, **changes: object) -> AKOrN:
    """An initialised model of 4x4 boards."""
    model = AKOrN(make_params(**changes), grid, vocabulary=5, classes=4)
    model.initialise(torch.Generator().manual_seed(seed))
    return model


def normal(*shape: int, seed: int = 1) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def silence(layer: KuramotoLayer) -> None:
    """Attention gives 0, so that y = c."""
    with torch.no_grad():
        layer.attention.out.weight.zero_()
        layer.attention.out.bias.zero_()


def test_givens_start_at_their_embedding_and_blanks_at_the_noise() -> None:
    model = make_model()
    question = torch.tensor([[0, 3] * 8])
    noise = normal(1, 2, 16, 16)
    start = model.initial_state(model.embed(question), noise).latent
    expected = noise.clone()
    expected[:, :, 1::2] = model.embedding[3]
    expected = torch.nn.functional.normalize(expected.unflatten(-1, (4, 4)), dim=-1).flatten(-2)
    torch.testing.assert_close(start, expected)


def test_an_oscillator_that_is_zero_stays_zero() -> None:
    oscillators = Oscillators(channels=8, size=4)
    x = torch.tensor([3.0, 0, 4, 0, 0, 0, 0, 0]).view(1, 1, 8)
    torch.testing.assert_close(oscillators.normalise(x).flatten(), torch.tensor([0.6, 0, 0.8, 0, 0, 0, 0, 0]))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 12, 30, 60])
def test_sums_run_over_the_channels_of_an_oscillator(size: int) -> None:
    x = normal(2, 3, 60)
    expected = x.unflatten(-1, (-1, size)).sum(-1).repeat_interleave(size, -1)
    torch.testing.assert_close(Oscillators(channels=60, size=size).sums(x), expected)


def test_a_step_by_hand() -> None:
    # One cell, n = 2: x = (1, 0), c = (3, 4), no attention, gamma = 0.5, w = 0.8.
    # <x, y> = 3, tangent (0, 4), Omega x = (0.8 * 0, -0.8 * 1): z = (1, 0) + 0.5 (0, 4 - 0.8) = (1, 1.6).
    layer = KuramotoLayer(make_params(channels=4, heads=1, oscillator_dim=2), (1, 1))
    layer.initialise(torch.Generator().manual_seed(0))
    silence(layer)
    with torch.no_grad():
        layer.omega.copy_(torch.tensor([0.48, 0.64]))  # norm 0.8
    x, drive = torch.tensor([1.0, 0, 1, 0]).view(1, 1, 4), torch.tensor([3.0, 4, 3, 4]).view(1, 1, 4)
    ((after, energy),) = layer.steps(x, drive, torch.tensor([0.5]), 1)
    expected = torch.tensor([1.0, 1.6, 1.0, 1.6]).view(1, 1, 4) / math.sqrt(1 + 1.6**2)
    torch.testing.assert_close(after, expected)
    # Two oscillators, each - (1 * 3 + 0 * 4).
    torch.testing.assert_close(energy, torch.tensor([-6.0]))


def test_without_omega_the_state_itself_is_added() -> None:
    # As above, with Omega x replaced by x: z = (1, 0) + 0.5 ((1, 0) + (0, 4)) = (1.5, 2), normalised (0.6, 0.8).
    layer = KuramotoLayer(make_params(channels=4, heads=1, oscillator_dim=2, omega="none"), (1, 1))
    layer.initialise(torch.Generator().manual_seed(0))
    silence(layer)
    x, drive = torch.tensor([1.0, 0, 1, 0]).view(1, 1, 4), torch.tensor([3.0, 4, 3, 4]).view(1, 1, 4)
    ((after, _),) = layer.steps(x, drive, torch.tensor([0.5]), 1)
    torch.testing.assert_close(after.flatten(), torch.tensor([0.6, 0.8, 0.6, 0.8]))


def test_each_pair_turns_with_its_own_frequency() -> None:
    # No drive: z = x + Omega x, an angle of -atan(w) per step.
    layer = KuramotoLayer(make_params(channels=4, heads=1, oscillator_dim=2, omega="per_pair"), (1, 1))
    layer.initialise(torch.Generator().manual_seed(0))
    silence(layer)
    with torch.no_grad():
        layer.omega.copy_(torch.tensor([[0.3, 0.4], [0.0, 2.0]]))
    x = torch.tensor([1.0, 0, 1, 0]).view(1, 1, 4)
    *_, (after, _) = layer.steps(x, torch.zeros_like(x), torch.tensor([1.0]), 2)
    turned = torch.atan2(after.flatten()[1::2], after.flatten()[::2])
    torch.testing.assert_close(turned, -2 * torch.atan(torch.tensor([0.5, 2.0])))


def test_energy_t_is_that_of_the_state_before_step_t() -> None:
    model = make_model()
    condition = model.embed(torch.randint(0, 5, (2, 16), generator=torch.Generator().manual_seed(0)))
    start = model.initial_state(condition, normal(2, 3, 16, 16))
    states = list(model.trajectory(condition, start, 3))
    for before, after in zip([start, *states[:-1]], states, strict=True):
        layer, x = model.layers[0], to_rows(before.latent)
        y = layer.attention(x, layer.attention.projections()) + to_rows(condition.embedding.expand_as(start.latent))
        torch.testing.assert_close(after.energy, -(x * y).sum((0, 2)).view(2, 3))


def test_states_that_go_out_are_views_of_rows() -> None:
    x = normal(16, 6, 8)
    candidates = to_candidates(x, puzzles=2)
    assert candidates.shape == (2, 3, 16, 8)
    assert to_rows(candidates).data_ptr() == x.data_ptr()
    assert torch.equal(candidates[1, 2, 5], x[5, 5])


def test_a_readout_does_not_depend_on_turning_all_components() -> None:
    readout = Readout(channels=8, size=2)
    readout.initialise(torch.Generator().manual_seed(0))
    x = normal(3, 2, 8)
    before = readout(x)
    angle = torch.tensor(0.7)
    turn = torch.stack([torch.stack([angle.cos(), -angle.sin()]), torch.stack([angle.sin(), angle.cos()])])
    with torch.no_grad():
        for parameter in readout.components.parameters():
            parameter.copy_(torch.einsum("ij,cj...->ci...", turn, parameter.unflatten(0, (8, 2))).flatten(0, 1))
    torch.testing.assert_close(readout(x), before)


def test_a_linear_map_is_the_same_as_a_convolution_and_as_a_product() -> None:
    x, weight, bias = normal(5, 3, 8), normal(6, 8, seed=2), normal(6, seed=3)
    torch.testing.assert_close(linear(x, weight, bias), x @ weight.T + bias)
    torch.testing.assert_close(linear(x, weight), x @ weight.T)


def queries_keys_values(offset: float) -> list[Tensor]:
    """Random [cells, rows, channels] of two heads in float64, with the offset added to every score."""
    q, k, v = (normal(5, 2, 6, seed=seed).double() for seed in (1, 2, 3))
    q[..., ::3] = offset
    k[..., ::3] = 1
    return [q, k, v]


#: Totals beyond 2^768 (with gradients 2^512) or their inverses are not summed as they are.
OFFSETS = pytest.mark.parametrize("offset", [0.0, 300.0, 800.0, -800.0])


@OFFSETS
def test_attention_is_a_softmax_whatever_the_size_of_the_scores(offset: float) -> None:
    q, k, v = queries_keys_values(offset)
    by_head = [t.unflatten(-1, (2, 3)).permute(1, 2, 0, 3) for t in (q, k, v)]
    weights = torch.softmax(by_head[0] @ by_head[1].mT * math.log(2), dim=-1)
    expected = (weights @ by_head[2]).permute(2, 0, 1, 3).flatten(-2)
    torch.testing.assert_close(kernels.attend(q, k, v, 2), expected)


@OFFSETS
def test_the_derivatives_of_attention_are_right(offset: float) -> None:
    assert gradcheck(lambda *t: kernels.attend(*t, 2), [t.requires_grad_() for t in queries_keys_values(offset)])


def test_the_derivatives_of_the_pair_products_are_right() -> None:
    x = normal(4, 3, 6).double().requires_grad_()
    a, b = (normal(4, 1, 3, 2, seed=seed).double().requires_grad_() for seed in (2, 3))
    assert gradcheck(kernels.multiply_pairs, [x, a, b])


def test_rotations_turn_by_row_and_column_in_turn() -> None:
    # Four pairs, two frequencies 1 and 10000^(-1/2) = 0.01; the cell in row 2, column 1 of a 3x4 grid.
    matrices = rotations((3, 4), 4)[2 * 4 + 1]
    angles = torch.atan2(matrices[:, 1, 0], matrices[:, 0, 0])
    torch.testing.assert_close(angles, torch.tensor([2.0, 1.0, 0.02, 0.01]))
    torch.testing.assert_close(matrices[:, 0, 1], -angles.sin())
    torch.testing.assert_close(matrices[:, 1, 1], angles.cos())


def test_initial_attention_scores_depend_on_the_distance_of_cells_alone() -> None:
    matrices = rotations((3, 3), 5).view(3, 3, 5, 2, 2)
    relative = torch.einsum("rcpji,RCpjk->rcRCpik", matrices, matrices)
    torch.testing.assert_close(relative[0, 0, 1, 2], relative[1, 0, 2, 2])
    torch.testing.assert_close(relative[2, 1, 1, 0], relative[1, 2, 0, 1])


def test_initial_values_and_outputs_turn_against_each_other() -> None:
    attention = GeometricAttention(channels=24, heads=2, grid=(3, 3))
    attention.initialise(torch.Generator().manual_seed(0))
    assert torch.equal(attention.mat_q, attention.mat_k)
    assert torch.equal(attention.mat_q, attention.mat_v)
    identity = torch.eye(2).expand_as(attention.mat_v)
    torch.testing.assert_close(attention.mat_o @ attention.mat_v, identity)


def test_initial_weights_are_those_of_the_released_code() -> None:
    model = make_model(channels=64, omega_initial=0.5, step_size=0.7)
    layer = model.layers[0]
    assert model.step_size.item() == pytest.approx(0.7)
    assert layer.omega.norm().item() == pytest.approx(0.5)
    assert not layer.readout.bias.any()
    for weights in (layer.attention.qkv.weight, layer.attention.out.bias, layer.readout.hidden.weight):
        assert weights.abs().max() <= 1 / 8
        assert weights.abs().max() > 0.9 / 8
    assert layer.attention.qkv.weight.std().item() == pytest.approx(1 / 8 / math.sqrt(3), rel=0.02)
    assert model.embedding.std().item() == pytest.approx(1, abs=0.15)


def test_weights_come_from_the_given_generator_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first, second, other = make_model(seed=1), make_model(seed=1), make_model(seed=2)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not torch.equal(first.layers[0].attention.qkv.weight, other.layers[0].attention.qkv.weight)


def test_frequencies_that_are_not_learnable_get_no_gradient() -> None:
    model = make_model(omega_learnable=False)
    model(torch.zeros(1, 16, dtype=torch.long), normal(1, 1, 16, 16), 2).sum().backward()
    assert model.layers[0].omega.grad is None
    assert "layers.0.omega" in model.state_dict()


def test_released_names_are_those_of_the_released_state_dict() -> None:
    convolutions = ["0.connectivity.W_qkv", "0.connectivity.W_o", "1.0.invconv"]
    convolutions += ["1.1.fn.fn.0.fn.2", "1.1.fn.fn.1.fn.2", "1.2.fn.2"]
    layer = ["0.omg.omg_param", "1.0.bias", *(f"0.connectivity.mat_{x}" for x in "qkvo")]
    layer += [f"{name}.{part}" for name in convolutions for part in ("weight", "bias")]
    released = {"embedding.weight", "gamma", "out.1.weight", "out.1.bias"}
    released |= {f"layers.{index}.{name}" for index in (0, 1) for name in layer}
    assert {released_name(name) for name in make_model(layers=2).state_dict()} == released


def released_weights(model: AKOrN) -> dict[str, Tensor]:
    """The weights of a model as the released code would save them."""
    weights = {released_name(name): weight for name, weight in model.state_dict().items()}
    for name in weights.keys() - {"embedding.weight"}:
        if name.endswith("weight"):
            weights[name] = weights[name][..., None, None]
    return weights | {"x0": torch.zeros(1, 16, *GRID)}


def test_released_weights_are_taken_over() -> None:
    source, target = make_model(seed=1, layers=2), make_model(seed=2, layers=2)
    load_released(target, released_weights(source))
    for (name, ours), theirs in zip(target.named_parameters(), source.parameters(), strict=True):
        assert torch.equal(ours, theirs), name


def test_missing_and_unexpected_released_weights_are_listed() -> None:
    weights = released_weights(make_model(omega="none"))
    weights["layers.1.0.connectivity.W_o.bias"] = torch.zeros(16)
    with pytest.raises(WeightsMismatch) as caught:
        load_released(make_model(), weights)
    assert "missing: layers.0.0.omg.omg_param\n" in str(caught.value)
    assert "unexpected: layers.1.0.connectivity.W_o.bias" in str(caught.value)


def test_released_weights_of_another_shape_are_listed() -> None:
    weights = released_weights(make_model(grid=(2, 2)))
    expected = "layers.0.0.connectivity.mat_q: shape [4, 4, 2, 2], expected [16, 4, 2, 2]"
    with pytest.raises(WeightsMismatch, match=re.escape(expected)):
        load_released(make_model(), weights)
