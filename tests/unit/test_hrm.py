"""HRM: sizes, its start, initial weights, what its gradient costs, importing, and the count of operations."""

import pytest
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from cvoting.models.hrm import HRM
from cvoting.models.hrm_released_weights import load_released, to_released
from cvoting.models.released import WeightsMismatch, without_wrappers
from cvoting.params.core import ParameterError, build
from cvoting.params.hrm import HrmParams
from cvoting.tasks.maze import Maze
from cvoting.tasks.sudoku import Sudoku

PAPER = {
    "architecture": "hrm",
    "channels": 512,
    "heads": 8,
    "expansion": 4,
    "H_cycles": 2,
    "L_cycles": 2,
    "H_layers": 4,
    "L_layers": 4,
    "positions": "rope",
    "prefix": True,
    "initial_state": "fixed",
}
SMALL = PAPER | {"channels": 16, "heads": 2, "expansion": 1, "H_layers": 1, "L_layers": 2}
SUDOKU = Sudoku(name="sudoku", box=(3, 3))


def make_model(**changes: object) -> HRM:
    """An initialised model of 2x3 boards."""
    model = HRM(build(HrmParams, SMALL | changes), (2, 3), 5, 5)
    model.initialise(torch.Generator().manual_seed(0))
    return model


def questions(puzzles: int = 2) -> Tensor:
    return torch.randint(0, 5, (puzzles, 6), generator=torch.Generator().manual_seed(1))


def noise(model: HRM, puzzles: int = 2, candidates: int = 3) -> Tensor:
    return torch.randn(puzzles, candidates, *model.noise_shape, generator=torch.Generator().manual_seed(2))


def test_the_network_of_the_paper_has_as_many_parameters_as_the_released_one() -> None:
    with torch.device("meta"):
        model = HRM.for_task(build(HrmParams, PAPER), SUDOKU)
    assert model.params.hidden == 1536
    assert sum(p.numel() for name, p in model.named_parameters() if name != "prefix") == 27_275_266


@pytest.mark.parametrize(
    ("task", "classes"), [(SUDOKU, 11), (Sudoku(name="sudoku", box=(2, 2)), 6), (Maze(name="maze", grid=(5, 5)), 6)]
)
def test_classes_are_the_tokens_of_questions_and_answers_and_padding(task: Sudoku | Maze, classes: int) -> None:
    model = HRM.for_task(build(HrmParams, SMALL), task)
    assert len(model.embedding) == model.classifier.out_features == classes
    assert HRM.first_token(task) == 0


def test_all_candidates_start_from_the_fixed_state() -> None:
    model = make_model()
    condition = model.embed(questions())
    z_H, z_L = model.initial_state(condition, noise(model)).hidden
    assert z_H.shape == z_L.shape == (2, 3, 7, 16)
    assert (z_H == model.start_H).all()
    assert (z_L == model.start_L).all()
    assert model.initial_state_kind == "fixed"


def test_random_starts_differ_between_candidates_and_perhaps_between_tokens() -> None:
    for kind in ("per_row", "per_token"):
        model = make_model(initial_state=kind)
        z_H, z_L = model.initial_state(model.embed(questions()), noise(model)).hidden
        different = torch.cat([z_H, z_L]).flatten(0, 1).unique(dim=0)
        assert len(different) == 12
        assert (z_H == z_H[:, :, :1]).all() == (kind == "per_row")
        assert model.initial_state_kind == "random"


def test_a_model_of_fixed_starts_starts_at_its_noise_when_told_to() -> None:
    model, told = make_model(), make_model(initial_state="per_token")
    model.start_at_random()
    assert model.noise_shape == told.noise_shape == (2, 7, 16)
    assert model.initial_state_kind == "random"
    condition, start = model.embed(questions()), noise(model)
    z_H, z_L = model.initial_state(condition, start).hidden
    assert torch.equal(z_H, start[:, :, 0])
    assert torch.equal(z_L, start[:, :, 1])
    assert torch.equal(model(questions(), start, 2), told(questions(), start, 2))


@pytest.mark.parametrize("kind", ["per_row", "per_token"])
def test_a_model_of_random_starts_stays_as_it_is(kind: str) -> None:
    model = make_model(initial_state=kind)
    model.start_at_random()
    assert model.noise_shape == make_model(initial_state=kind).noise_shape


def test_weights_of_one_kind_of_start_are_weights_of_another() -> None:
    fixed, random = make_model(), make_model(initial_state="per_token")
    random.load_state_dict(fixed.state_dict())
    start = torch.stack([fixed.start_H, fixed.start_L]).unsqueeze(1).expand(2, 1, 2, 7, 16)
    torch.testing.assert_close(random(questions(), start, 2), fixed(questions(), torch.empty(2, 1, 0), 2))


def test_initial_weights_have_the_released_spread() -> None:
    model = HRM(build(HrmParams, PAPER | {"H_layers": 1, "L_layers": 1, "positions": "learned"}), (9, 9), 11, 11)
    model.initialise(torch.Generator().manual_seed(0))
    block = model.H.blocks[0]
    for tensor, std in (
        (block.attention.qkv.weight, 512**-0.5),
        (block.feed_forward.down.weight, 1536**-0.5),
        (model.embedding, 512**-0.5),
        (model.positions, 512**-0.5),
        (torch.cat([model.start_H, model.start_L]), 1.0),
    ):
        assert tensor.std().item() == pytest.approx(std, rel=0.05)
        assert tensor.abs().max() <= 2 * std / 0.8796 * 1.001, "cut off at two standard deviations of the uncut"
    assert not model.prefix.any()
    assert not model.halting.weight.any()
    assert model.halting.bias.tolist() == [-5.0, -5.0]


def test_cells_and_segments_before_the_last_updates_keep_nothing_for_the_backward_pass() -> None:
    def kept(steps: int, cycles: int) -> int:
        model, sizes = make_model(H_cycles=cycles, L_cycles=cycles), []
        with saved_tensors_hooks(lambda t: sizes.append(t.nbytes) or t, lambda t: t):
            condition = model.embed(questions())
            state = model.initial_state(condition, noise(model))
            for _ in range(steps):
                (state,) = model.trajectory(condition, state.detach(), 1)
                embedded = sum(sizes)
                sizes.clear()
            model.readout(state)
        return embedded

    assert kept(1, 1) > 0
    assert kept(2, 1) == kept(2, 2) == kept(3, 3)


def test_the_state_before_a_segment_gets_no_gradient() -> None:
    model = make_model(H_cycles=1, L_cycles=1, initial_state="per_token")
    start = noise(model).requires_grad_()
    assert not torch.autograd.grad(model(questions(), start, 1).square().sum(), start, allow_unused=True)[0]


@pytest.mark.parametrize("prefix", ["", "model.", "_orig_mod.", "_orig_mod.model.", "model._orig_mod."])
@pytest.mark.parametrize("changes", [{}, {"prefix": False, "positions": "learned"}])
def test_released_weights_are_taken_over(prefix: str, changes: dict) -> None:
    theirs, ours = make_model(**changes), make_model(**changes)
    ours.initialise(torch.Generator().manual_seed(1))
    released = {prefix + name: tensor for name, tensor in to_released(theirs.state_dict()).items()}
    load_released(ours, without_wrappers(released))
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(ours.state_dict()[name], tensor), name
    assert torch.equal(released[f"{prefix}inner.embed_tokens.embedding_weight"][0], theirs.embedding[-1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inner.H_init": None}, "missing: inner.H_init"),
        ({"inner.more": torch.zeros(1)}, "unexpected: inner.more"),
        ({"inner.lm_head.weight": torch.zeros(4, 16)}, r"inner.lm_head.weight: shape \[4, 16\], expected \[5, 16\]"),
    ],
)
def test_weights_of_another_model_are_refused(change: dict, message: str) -> None:
    released = {n: t for n, t in (to_released(make_model().state_dict()) | change).items() if t is not None}
    with pytest.raises(WeightsMismatch, match=message):
        load_released(make_model(), released)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 3}, "heads = 3: expected channels / heads to be an even number, got 16 / 3"),
        ({"channels": 15, "heads": 5}, "heads = 5: expected channels / heads to be an even number, got 15 / 5"),
        ({"heads": 3, "positions": "learned"}, "heads = 3: expected channels / heads to be a whole number, got 16 / 3"),
        ({"initial_state": "random"}, "initial_state = 'random': expected one of 'fixed', 'per_row', 'per_token'"),
        ({"H_cycles": 0}, "H_cycles = 0: expected at least 1"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        build(HrmParams, SMALL | changes)
