"""What every model of the registry does, whatever its parameters."""

from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from cvoting.models.base import RecurrentModel, State
from cvoting.models.registry import MODELS
from cvoting.params.akorn import AkornParams

VOCABULARY, CLASSES = 5, 4


class Case(NamedTuple):
    """A model with questions and noise."""

    model: RecurrentModel
    questions: Tensor
    noise: Tensor


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
        omega_learnable=True,
    )


#: The parameters of each architecture of the registry.
PARAMS: dict[str, st.SearchStrategy[Any]] = {"akorn": akorn()}


@st.composite
def cases(draw: st.DrawFn, architecture: str) -> Case:
    """A model with weights, questions with at least one given and one blank, and noise."""
    grid = draw(st.sampled_from([(2, 2), (2, 3), (4, 4)]))
    model = MODELS[architecture](draw(PARAMS[architecture]), grid, VOCABULARY, CLASSES)
    rng = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    model.initialise(rng)
    puzzles, candidates = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    questions = torch.randint(0, VOCABULARY, (puzzles, grid[0] * grid[1]), generator=rng)
    questions[:, :2] = torch.tensor([0, 1])
    return Case(model, questions, torch.randn(puzzles, candidates, *model.noise_shape, generator=rng))


def roll_out(case: Case, steps: int) -> list[State]:
    """The start and the state after every step."""
    condition = case.model.embed(case.questions)
    start = case.model.initial_state(condition, case.noise)
    return [start, *case.model.trajectory(condition, start, steps)]


every_model = pytest.mark.parametrize("architecture", MODELS)
some_cases = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_every_architecture_has_parameters_to_test() -> None:
    assert PARAMS.keys() == MODELS.keys()


@every_model
@given(data=st.data(), steps=st.integers(1, 4))
@some_cases
def test_states_and_logits_have_their_shape_and_are_finite(architecture: str, data: st.DataObject, steps: int) -> None:
    case = data.draw(cases(architecture))
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


@every_model
@given(data=st.data())
@some_cases
def test_every_parameter_has_a_gradient(architecture: str, data: st.DataObject) -> None:
    case = data.draw(cases(architecture))
    case.model(case.questions, case.noise, 3).square().sum().backward()
    for name, parameter in case.model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


@every_model
@given(data=st.data())
@some_cases
def test_the_same_noise_gives_the_same_rollout_and_other_noise_another(architecture: str, data: st.DataObject) -> None:
    case = data.draw(cases(architecture))
    latents = [s.latent for s in roll_out(case, 3)]
    again = [s.latent for s in roll_out(case, 3)]
    other = [s.latent for s in roll_out(case._replace(noise=case.noise.flip(-1)), 3)]
    assert all(torch.equal(a, b) for a, b in zip(latents, again, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(latents, other, strict=True))


@every_model
@given(data=st.data())
@some_cases
def test_a_candidate_does_not_depend_on_the_others(architecture: str, data: st.DataObject) -> None:
    case = data.draw(cases(architecture))
    together = case.model.readout(roll_out(case, 3)[-1])
    for p in range(case.noise.shape[0]):
        for k in range(case.noise.shape[1]):
            alone = Case(case.model, case.questions[p : p + 1], case.noise[p : p + 1, k : k + 1])
            logits = case.model.readout(roll_out(alone, 3)[-1])
            torch.testing.assert_close(logits[0, 0], together[p, k], rtol=1e-4, atol=1e-5)


@every_model
@given(data=st.data(), first=st.integers(1, 3), second=st.integers(1, 3))
@some_cases
def test_steps_can_be_continued(architecture: str, data: st.DataObject, first: int, second: int) -> None:
    case = data.draw(cases(architecture))
    whole = roll_out(case, first + second)
    condition = case.model.embed(case.questions)
    middle = State(whole[first].latent.clone())
    for continued, state in zip(case.model.trajectory(condition, middle, second), whole[first + 1 :], strict=True):
        torch.testing.assert_close(continued.latent, state.latent)
        torch.testing.assert_close(continued.energy, state.energy)


@every_model
@given(data=st.data())
@some_cases
def test_a_saved_model_is_the_model(architecture: str, data: st.DataObject, tmp_path_factory) -> None:
    case = data.draw(cases(architecture))
    path = tmp_path_factory.mktemp("model") / "weights.pt"
    torch.save(case.model.state_dict(), path)
    grid = next(g for g in [(2, 2), (2, 3), (4, 4)] if g[0] * g[1] == case.questions.shape[1])
    loaded = MODELS[architecture](case.model.params, grid, VOCABULARY, CLASSES)
    loaded.load_state_dict(torch.load(path, weights_only=True))
    assert torch.equal(loaded(case.questions, case.noise, 2), case.model(case.questions, case.noise, 2))
