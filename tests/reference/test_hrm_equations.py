"""HRM and its training by segments agree with the slow `hrm_equations`, values and gradients, in float64."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cvoting.models.hrm import HRM
from cvoting.models.hrm_released_weights import to_released
from cvoting.params.core import build
from cvoting.params.hrm import HrmParams
from cvoting.training import act

equations = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("hrm_equations.py"))))

CELLS, VOCABULARY, CANDIDATES = 4, 5, 2
PADDING = VOCABULARY - 1
#: The seed of everything that is drawn after the configuration.
SEEDS = st.integers(0, 2**31)
some_cases, few_cases = (settings(max_examples=count, deadline=None) for count in (12, 6))


@st.composite
def networks(draw: st.DrawFn) -> HrmParams:
    """Any configuration, small."""
    heads = draw(st.sampled_from([1, 2, 3]))
    return HrmParams(
        architecture="hrm",
        channels=12,
        heads=heads,
        expansion=1.0,
        H_cycles=draw(st.integers(1, 3)),
        L_cycles=draw(st.integers(1, 3)),
        H_layers=draw(st.integers(1, 2)),
        L_layers=draw(st.integers(1, 2)),
        positions=draw(st.sampled_from(["rope", "learned"])),
        prefix=draw(st.booleans()),
        initial_state=draw(st.sampled_from(["fixed", "per_row", "per_token"])),
        norm_eps=1e-2,
    )


def make_model(params: HrmParams, rng: torch.Generator) -> HRM:
    """Away from the initial values, which hide mistakes: a prefix and halting weights of 0.

    Small weights, because large ones make chaos: rounding errors grow a hundredfold with every segment.
    """
    model = HRM(params, (2, 2), VOCABULARY, VOCABULARY).double()
    model.initialise(rng)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=rng, dtype=torch.float64)
            parameter.mul_(0.5).add_(noise, alpha=0.1)
        model.halting.bias += 2.5  # so that some rows halt
    return model


def slow_model(model: HRM) -> tuple[SimpleNamespace, dict[str, Tensor]]:
    """The equations with leaf copies of the weights, and those."""
    tensors = {name: tensor.detach().clone() for name, tensor in to_released(model.state_dict()).items()}
    weights = {name: tensor.requires_grad_() for name, tensor in tensors.items()}
    p = model.params
    sizes = {name: getattr(p, name) for name in ("heads", "H_cycles", "L_cycles", "H_layers", "L_layers")}
    return equations.Network(weights, **sizes, eps=p.norm_eps, rope=p.positions == "rope"), weights


def released_tokens(questions: Tensor) -> list[list[int]]:
    """With padding as token 0."""
    return torch.where(questions < 0, questions, (questions + 1) % VOCABULARY).tolist()


def starts(model: HRM, noise: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """The initial states of one rollout, token by token."""
    p = model.params
    if p.initial_state == "fixed":
        return [model.start_H] * model.tokens, [model.start_L] * model.tokens
    if p.initial_state == "per_row":
        return [noise[0, 0]] * model.tokens, [noise[1, 0]] * model.tokens
    return list(noise[0]), list(noise[1])


def assert_close(name: str, ours: Tensor, theirs: Tensor) -> None:
    """The largest difference is within rounding of the largest value."""
    tolerance = 1e-9 * max(float(theirs.detach().abs().max()), 1e-3)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance, msg=lambda text: f"{name}: {text}")


def assert_same_gradients(model: HRM, weights: dict[str, Tensor]) -> None:
    """Every parameter has the gradient of its counterpart, and only parameters have one."""
    gradients = to_released({name: p.grad for name, p in model.named_parameters() if p.grad is not None})
    assert gradients.keys() == {name for name, weight in weights.items() if weight.grad is not None}
    for name, gradient in gradients.items():
        assert_close(name, gradient, weights[name].grad)


@given(params=networks(), seed=SEEDS, segments=st.integers(1, 2))
@some_cases
def test_rollouts_and_gradients_agree_with_the_equations(params: HrmParams, seed: int, segments: int) -> None:
    rng = torch.Generator().manual_seed(seed)
    model = make_model(params, rng)
    questions = torch.randint(0, VOCABULARY, (2, CELLS), generator=rng)
    noise = torch.randn(2, CANDIDATES, *model.noise_shape, generator=rng, dtype=torch.float64)

    condition = model.embed(questions)
    *_, last = model.trajectory(condition, model.initial_state(condition, noise), segments)
    ours = (*last.hidden, model.readout(last), last.halting)

    slow, weights = slow_model(model)
    rollouts = []
    for puzzle, row in zip(released_tokens(questions), noise, strict=True):
        for candidate in row:
            z_H, z_L = starts(model, candidate)
            for _ in range(segments):
                z_H, z_L, logits, halting = slow.segment(puzzle, z_H, z_L)
            rollouts.append((torch.stack(z_H), torch.stack(z_L), logits.roll(-1, -1), halting))
    theirs = tuple(torch.stack(arrays).unflatten(0, (2, CANDIDATES)) for arrays in zip(*rollouts, strict=True))

    for name, found, expected in zip(("z_H", "z_L", "logits", "halting"), ours, theirs, strict=True):
        assert_close(name, found, expected)
    for outputs in (ours, theirs):
        sum((t * torch.linspace(1, 2, t.numel()).view(t.shape)).sum() for t in outputs).backward()
    assert_same_gradients(model, weights)


@given(params=networks(), seed=SEEDS, maximum=st.integers(2, 3), act_mode=st.sampled_from(["off", "explore"]))
@few_cases
def test_training_by_segments_agrees_row_by_row(params: HrmParams, seed: int, maximum: int, act_mode: str) -> None:
    rng = torch.Generator().manual_seed(seed)
    model, rows, calls = make_model(params, rng), 2, 4
    slow, weights = slow_model(model)
    places = [equations.Row(slow, maximum) for _ in range(rows)]
    carry = None
    for call in range(calls):
        questions, labels = torch.randint(0, VOCABULARY, (2, rows, CELLS), generator=rng)
        labels[:, 1] = act.IGNORED
        labels[0] = labels[0] if call % 2 else act.IGNORED
        noise = torch.randn(rows, 1, *model.noise_shape, generator=rng, dtype=torch.float64)
        uniform, drawn = torch.rand(rows, generator=rng), torch.randint(2, maximum + 1, (rows,), generator=rng)

        offered = act.offer(model, questions, labels, noise)
        minimum = act.minimum_steps(act_mode, maximum, 0.5, uniform, drawn)
        segment = act.run_segment(model, act.replace_halted(carry or offered, offered), minimum, maximum)
        losses, carry = act.segment_losses(segment, "stablemax"), segment.carry

        least = [
            maximum if act_mode == "off" else int(d) if u < 0.5 else 0 for u, d in zip(uniform, drawn, strict=True)
        ]
        data = zip(released_tokens(questions), released_tokens(labels), noise[:, 0], strict=True)
        offers = [(puzzle, label, *starts(model, start)) for puzzle, label, start in data]
        records = [place.call(*arguments) for place, *arguments in zip(places, offers, least, strict=True)]
        theirs = {name: torch.stack([torch.as_tensor(r[name]) for r in records]) for name in records[0]}

        assert released_tokens(carry.questions) == theirs["puzzle"].tolist()
        assert carry.steps.tolist() == theirs["steps"].tolist()
        assert carry.halted.tolist() == theirs["halted"].tolist()
        assert_close("target", segment.target_continue, theirs["target"])
        total = theirs["cells"].sum() + (theirs["halt"].sum() + theirs["continuing"].sum()) / 2
        for name in ("cells", "halt", "continuing"):
            assert_close(name, getattr(losses, name), theirs[name].sum())
        assert_close("total", losses.total, total)
        losses.total.backward()
        total.backward()
    assert_same_gradients(model, weights)


@pytest.mark.parametrize("act_mode", ["off", "explore"])
def test_rows_halt_by_themselves_only_where_they_may(act_mode: str) -> None:
    rng = torch.Generator().manual_seed(0)
    params = {"channels": 8, "heads": 1, "expansion": 1.0, "H_cycles": 1, "L_cycles": 1, "H_layers": 1, "L_layers": 1}
    kind = {"architecture": "hrm", "positions": "rope", "prefix": True, "initial_state": "per_token"}
    model = make_model(build(HrmParams, params | kind), rng)
    with torch.no_grad():
        model.halting.bias += torch.tensor([50.0, 0.0])
    questions = torch.randint(0, VOCABULARY, (2, CELLS), generator=rng)
    noise = torch.randn(2, 1, *model.noise_shape, generator=rng, dtype=torch.float64)
    offered = act.offer(model, questions, questions, noise)
    minimum = act.minimum_steps(act_mode, 4, 0.5, torch.tensor([0.4, 0.6]), torch.tensor([3, 3]))
    carry, halted = offered, []
    for _ in range(4):
        carry = act.run_segment(model, act.replace_halted(carry, offered), minimum, 4).carry
        halted.append(carry.halted.tolist())
    # Row 1 may halt from its third segment on, row 2 after every segment.
    explored = [[False, True], [False, True], [True, True], [False, True]]
    assert halted == (explored if act_mode == "explore" else [[False, False]] * 3 + [[True, True]])
