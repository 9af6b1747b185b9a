"""The Transformer baseline: PyTorch's blocks as oracle, positions, and that it makes one pass."""

import math

import pytest
import torch
from torch import Tensor, nn

from cvoting.models.transformer import Block, Transformer, sinusoid
from cvoting.params.core import ParameterError, build
from cvoting.params.transformer import TransformerParams

SMALL = {"architecture": "transformer", "channels": 16, "heads": 2, "blocks": 3, "hidden": 24}
GRID = (3, 4)


def make_model(**changes: object) -> Transformer:
    """An initialised model of 3x4 boards."""
    model = Transformer(build(TransformerParams, SMALL | changes), GRID, vocabulary=5, classes=4)
    model.initialise(torch.Generator().manual_seed(0))
    return model


def normal(*shape: int) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def questions(puzzles: int) -> Tensor:
    """Random tokens."""
    return torch.randint(0, 5, (puzzles, 12), generator=torch.Generator().manual_seed(2))


def test_a_block_is_pytorch_s_pre_norm_encoder_layer() -> None:
    block = Block(channels=16, heads=2, hidden=24)
    block.initialise(torch.Generator().manual_seed(0))
    oracle = nn.TransformerEncoderLayer(16, 2, 24, dropout=0.0, activation="gelu", norm_first=True)
    ours = block.state_dict()
    with torch.no_grad():
        for name in ("weight", "bias"):
            parts = [ours.get(f"{part}.{name}", torch.zeros(16)) for part in ("query", "key", "value")]
            getattr(oracle.self_attn, f"in_proj_{name}").copy_(torch.cat(parts))
            getattr(oracle.self_attn.out_proj, name).copy_(ours[f"out.{name}"])
            getattr(oracle.linear1, name).copy_(ours[f"mlp.up.{name}"])
            getattr(oracle.linear2, name).copy_(ours[f"mlp.down.{name}"])
    x = normal(12, 5, 16)  # [cells, rows, channels] is PyTorch's default order too
    torch.testing.assert_close(block(x), oracle(x))


def test_the_state_and_the_embedded_input_are_mixed_by_one_linear_map() -> None:
    model, question, noise = make_model(), questions(2), normal(2, 3, 12, 16)
    x = (model.embedding[question] + model.positions).unsqueeze(1).expand_as(noise)
    mixed = nn.functional.linear(torch.cat([x, noise], dim=-1), model.mixing.weight, model.mixing.bias)
    condition = model.embed(question)
    (state,) = model.trajectory(condition, model.initial_state(condition, noise), 1)
    rows = mixed.permute(2, 0, 1, 3).flatten(1, 2)
    expected = model.blocks(rows).unflatten(1, (2, 3)).permute(1, 2, 0, 3)
    torch.testing.assert_close(state.latent, expected)
    logits = nn.functional.linear(model.norm_out(expected), model.classifier.weight, model.classifier.bias)
    torch.testing.assert_close(model(question, noise, 1), logits)


def test_positions_start_as_sines_and_cosines_of_row_and_column() -> None:
    # 8 channels, frequencies 1 and 0.01; the cell in row 2, column 1 of a 3x4 grid.
    expected = [
        f(x) for x in (2.0, 1.0) for f, x in ((math.sin, x), (math.sin, x / 100), (math.cos, x), (math.cos, x / 100))
    ]
    torch.testing.assert_close(sinusoid((3, 4), 8)[2 * 4 + 1], torch.tensor(expected))
    assert torch.equal(make_model().positions, sinusoid(GRID, 16))
    assert len(sinusoid((6, 6), 16).unique(dim=0)) == 36


@pytest.mark.parametrize("steps", [2, 16])
def test_more_than_one_step_is_refused(steps: int) -> None:
    model = make_model()
    condition = model.embed(questions(1))
    with pytest.raises(ParameterError, match=f"{steps} steps: expected 1, a transformer is no recurrent model"):
        next(model.trajectory(condition, model.initial_state(condition, normal(1, 1, 12, 16)), steps))
    with pytest.raises(ParameterError, match=f"{steps} steps: expected 1"):
        model(questions(1), normal(1, 1, 12, 16), steps)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"channels": 18}, "channels = 18: expected a multiple of 4"),
        ({"heads": 3}, "heads = 3: expected a divisor of channels = 16"),
        ({"blocks": 0}, "blocks = 0: expected at least 1"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        build(TransformerParams, SMALL | changes)
