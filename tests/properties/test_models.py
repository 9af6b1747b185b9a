"""What every model of the registry does, whatever its parameters."""

from typing import Any, NamedTuple

import pytest
import torch
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from cvoting.checkpoint import Checkpoint
from cvoting.models.base import RecurrentModel, State
from cvoting.models.registry import MODELS
from cvoting.params import itrsa as itrsa_params
from cvoting.params.akorn import AkornParams
from cvoting.params.core import build, plain
from cvoting.params.hrm import HrmParams
from cvoting.params.itrsa import ItrsaParams
from cvoting.params.transformer import TransformerParams
from cvoting.training.losses import masked_cross_entropy

VOCABULARY, CLASSES = 5, 4
GRIDS = [(2, 2), (2, 3), (4, 4)]


class Case(NamedTuple):
    """A model with questions and noise, which a generator of a seed drew."""

    model: RecurrentModel
    grid: tuple[int, int]
    questions: Tensor
    noise: Tensor
    seed: int


@st.composite
def akorn(draw: st.DrawFn) -> AkornParams:
    """One layer: with more, T steps and T' steps are not T + T' steps of the network."""
    heads = draw(st.sampled_from([1, 2, 3]))
    return AkornParams(
        architecture="akorn",
        channels=24,
        oscillator_dim=draw(st.sampled_from([2, 3, 4, 8])),
        heads=heads,
        layers=1,
        step_size=draw(st.sampled_from([0.5, 1.0])),
        omega=draw(st.sampled_from(["none", "global", "per_pair"])),
        omega_initial=0.5,
        omega_learnable=draw(st.booleans()),
        random_cells=draw(st.sampled_from(["free", "all"])),
    )


@st.composite
def itrsa(draw: st.DrawFn) -> ItrsaParams:
    """Every variant of the ablations."""
    mixing = draw(
        st.sampled_from(
            [
                itrsa_params.CrossAttentionParams(kind="cross_attention"),
                itrsa_params.LinearMixingParams(kind="linear", residual=True),
                itrsa_params.LinearMixingParams(kind="linear", residual=False),
            ]
        )
    )
    activation = draw(st.sampled_from(["relu", "gelu", "silu"]))
    feed_forwards = [
        itrsa_params.SwiGluParams(kind="swiglu", hidden=20),
        itrsa_params.FeedForwardParams(kind="ffn", hidden=20, activation=activation),
    ]
    return ItrsaParams(
        architecture="itrsa",
        channels=24,
        heads=draw(st.sampled_from([1, 2, 3])),
        self_attentions=draw(st.integers(1, 3)),
        input_mixing=mixing,
        feed_forward=draw(st.sampled_from(feed_forwards)),
        gta=draw(st.sampled_from(["learnable", "fixed"])),
        norm_affine=draw(st.booleans()),
        norm_eps=draw(st.sampled_from([1e-6, 1e-5])),
    )


@st.composite
def hrm(draw: st.DrawFn) -> HrmParams:
    """With a random start: from a fixed one all candidates are equal (see test_hrm)."""
    return HrmParams(
        architecture="hrm",
        channels=24,
        heads=draw(st.sampled_from([1, 2, 3])),
        expansion=1.0,
        H_cycles=draw(st.integers(1, 2)),
        L_cycles=draw(st.integers(1, 2)),
        H_layers=draw(st.integers(1, 2)),
        L_layers=draw(st.integers(1, 2)),
        positions=draw(st.sampled_from(["rope", "learned"])),
        prefix=draw(st.booleans()),
        initial_state=draw(st.sampled_from(["per_row", "per_token"])),
        norm_eps=draw(st.sampled_from([1e-6, 1e-5])),
        probabilities=draw(st.sampled_from(["softmax", "stablemax"])),
    )


@st.composite
def transformer(draw: st.DrawFn) -> TransformerParams:
    """Few blocks."""
    heads, blocks = draw(st.sampled_from([1, 2, 3])), draw(st.integers(1, 3))
    return TransformerParams(architecture="transformer", channels=24, heads=heads, blocks=blocks, hidden=20)


#: The parameters of each architecture of the registry.
PARAMS: dict[str, st.SearchStrategy[Any]] = {
    "akorn": akorn(),
    "hrm": hrm(),
    "itrsa": itrsa(),
    "transformer": transformer(),
}
#: Those that take steps; the others make one pass, T = 1.
RECURRENT = [architecture for architecture in MODELS if architecture != "transformer"]


def some_steps(architecture: str) -> int:
    """A number of steps that has a meaning."""
    return 3 if architecture in RECURRENT else 1


@st.composite
def cases(draw: st.DrawFn, architecture: str) -> Case:
    """A model with weights, questions with at least one given and one blank, and noise."""
    grid, seed = draw(st.sampled_from(GRIDS)), draw(st.integers(0, 2**31))
    model = MODELS[architecture](draw(PARAMS[architecture]), grid, VOCABULARY, CLASSES)
    rng = torch.Generator().manual_seed(seed)
    model.initialise(rng)
    puzzles, candidates = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    questions = torch.randint(0, VOCABULARY, (puzzles, grid[0] * grid[1]), generator=rng)
    questions[:, :2] = torch.tensor([0, 1])
    return Case(model, grid, questions, draw_noise(model, puzzles, candidates, seed), seed)


def draw_noise(model: RecurrentModel, puzzles: int, candidates: int, seed: int) -> Tensor:
    """What rollouts start from: the first numbers of a generator."""
    return torch.randn(puzzles, candidates, *model.noise_shape, generator=torch.Generator().manual_seed(seed))


def roll_out(case: Case, steps: int) -> list[State]:
    """The start and the state after every step."""
    condition = case.model.embed(case.questions)
    start = case.model.initial_state(condition, case.noise)
    return [start, *case.model.trajectory(condition, start, steps)]


every_model = pytest.mark.parametrize("architecture", MODELS)
every_recurrent_model = pytest.mark.parametrize("architecture", RECURRENT)
some_cases = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_every_architecture_has_parameters_to_test() -> None:
    assert PARAMS.keys() == MODELS.keys()


@every_model
@given(data=st.data())
@some_cases
def test_states_and_logits_have_their_shape_and_are_finite(architecture: str, data: st.DataObject) -> None:
    case, steps = data.draw(cases(architecture)), data.draw(st.integers(1, some_steps(architecture)))
    puzzles, candidates = case.noise.shape[:2]
    states = roll_out(case, steps)
    assert len(states) == steps + 1
    for state in states:
        logits = case.model.readout(state)
        assert state.latent.shape[:3] == (puzzles, candidates, case.questions.shape[1])
        assert logits.shape == (puzzles, candidates, case.questions.shape[1], CLASSES)
        assert state.latent.isfinite().all()
        assert logits.isfinite().all()
    for state in states[1:]:
        assert state.energy is None or (state.energy.shape == (puzzles, candidates) and state.energy.isfinite().all())
        assert state.halting is None or state.halting.shape == (puzzles, candidates, 2)


@every_model
@given(data=st.data())
@some_cases
def test_every_trainable_parameter_has_a_gradient_in_the_loss(architecture: str, data: st.DataObject) -> None:
    case, steps = data.draw(cases(architecture)), some_steps(architecture)
    detach_step = data.draw(st.sampled_from([None, *range(1, steps)]))
    positions = data.draw(st.sampled_from([case.questions == 0, torch.ones_like(case.questions, dtype=torch.bool)]))
    targets = (case.questions + 1) % CLASSES
    logits = case.model(case.questions, case.noise[:, :1], steps, detach_step)
    loss = masked_cross_entropy(logits[:, 0], targets, positions)
    if (halting := roll_out(case, steps)[-1].halting) is not None:
        loss = loss + halting.square().sum()
    loss.backward()
    trainable = {name: p for name, p in case.model.named_parameters() if p.requires_grad}
    assert trainable
    for name, parameter in trainable.items():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


@every_model
@given(data=st.data())
@some_cases
def test_the_same_generator_gives_the_same_rollout_and_another_another(architecture: str, data: st.DataObject) -> None:
    case = data.draw(cases(architecture))
    same, other = (draw_noise(case.model, *case.noise.shape[:2], seed) for seed in (case.seed, case.seed + 1))
    rollouts = (roll_out(case._replace(noise=noise), some_steps(architecture)) for noise in (case.noise, same, other))
    latents, again, others = ([state.latent for state in states] for states in rollouts)
    assert all(torch.equal(a, b) for a, b in zip(latents, again, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(latents, others, strict=True))


@every_model
@given(data=st.data())
@some_cases
def test_a_candidate_does_not_depend_on_the_others(architecture: str, data: st.DataObject) -> None:
    case = data.draw(cases(architecture))
    # In float32 recurrence can make a difference in rounding larger than any fixed tolerance.
    case.model.double()
    case = case._replace(noise=case.noise.double())
    together = case.model.readout(roll_out(case, some_steps(architecture))[-1])
    for p in range(case.noise.shape[0]):
        for k in range(case.noise.shape[1]):
            alone = case._replace(questions=case.questions[p : p + 1], noise=case.noise[p : p + 1, k : k + 1])
            logits = case.model.readout(roll_out(alone, some_steps(architecture))[-1])
            torch.testing.assert_close(logits[0, 0], together[p, k], rtol=1e-9, atol=1e-9)


@every_recurrent_model
@given(data=st.data(), first=st.integers(1, 3), second=st.integers(1, 3))
@some_cases
def test_steps_can_be_continued(architecture: str, data: st.DataObject, first: int, second: int) -> None:
    case = data.draw(cases(architecture))
    whole = roll_out(case, first + second)
    condition = case.model.embed(case.questions)
    middle = whole[first].detach()
    for continued, state in zip(case.model.trajectory(condition, middle, second), whole[first + 1 :], strict=True):
        torch.testing.assert_close(continued.latent, state.latent)
        torch.testing.assert_close(continued.energy, state.energy)
        torch.testing.assert_close(continued.halting, state.halting)


@every_model
@given(data=st.data())
@some_cases
def test_a_saved_model_is_the_model(architecture: str, data: st.DataObject, tmp_path_factory) -> None:
    case = data.draw(cases(architecture))
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    about = {"run": "a", "model": "b", "task": {}, "network": plain(case.model.params), "training_seed": 0}
    weights = case.model.state_dict()
    Checkpoint(about, weights, {name: tensor + 1 for name, tensor in weights.items()}).save(path)
    checkpoint = Checkpoint.load(path)
    params = build(MODELS[architecture].Params, checkpoint.about["network"])
    loaded = MODELS[architecture](params, case.grid, VOCABULARY, CLASSES)
    checkpoint.load_into(loaded)
    steps = some_steps(architecture)
    assert torch.equal(loaded(case.questions, case.noise, steps), case.model(case.questions, case.noise, steps))


@every_recurrent_model
@given(data=st.data(), detach_step=st.integers(1, 3))
@some_cases
def test_a_truncated_gradient_is_that_of_a_detached_state(
    architecture: str, data: st.DataObject, detach_step: int
) -> None:
    case = data.draw(cases(architecture))
    condition = case.model.embed(case.questions)
    start = case.model.initial_state(condition, case.noise)
    *_, middle = case.model.trajectory(condition, start, detach_step)
    *_, last = case.model.trajectory(condition, middle.detach(), 4 - detach_step)
    expected = case.model.readout(last)
    truncated = case.model(case.questions, case.noise, 4, detach_step)
    assert torch.equal(truncated, expected)
    parameters = [p for p in case.model.parameters() if p.requires_grad]
    gradients = [torch.autograd.grad(x.square().sum(), parameters, allow_unused=True) for x in (truncated, expected)]
    for ours, theirs in zip(*gradients, strict=True):
        assert (ours is None and theirs is None) or torch.equal(ours, theirs)


@every_model
@given(data=st.data())
@some_cases
def test_parameters_survive_a_file(architecture: str, data: st.DataObject) -> None:
    params = data.draw(PARAMS[architecture])
    assert build(MODELS[architecture].Params, yaml.safe_load(yaml.safe_dump(plain(params)))) == params


@every_model
@given(data=st.data())
@some_cases
def test_weight_decay_spares_no_matrix_of_a_linear_map(architecture: str, data: st.DataObject) -> None:
    model = data.draw(cases(architecture)).model
    spared = {id(p) for p in model.undecayed()}
    maps = {id(m.weight) for m in model.modules() if isinstance(m, torch.nn.Linear)}
    assert not spared & maps
    assert len(spared) == len(model.undecayed())


@every_model
@given(data=st.data(), seed=st.integers(0, 2**31))
@some_cases
def test_weights_drawn_afresh_do_not_depend_on_those_before(architecture: str, data: st.DataObject, seed: int) -> None:
    model = data.draw(cases(architecture)).model
    model.initialise(torch.Generator().manual_seed(seed))
    first = [p.detach().clone() for p in model.parameters()]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 1
    model.initialise(torch.Generator().manual_seed(seed))
    assert all(torch.equal(a, b) for a, b in zip(first, model.parameters(), strict=True))
