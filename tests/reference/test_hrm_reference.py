"""HRM reproduces what the released code computed: one case per `hrm_*.npz` in the directory CVOTING_REFERENCE.

A file holds a configuration, weights by released name and what the released model made of them in float32; one with
`loss` is a training reference: consecutive segments of a batch under ACT, with fixed weights, and the gradients of the
first one.  Agreement: max |ours - reference| <= 1e-4 max |reference| for every array.  Run with `-s` to see the errors.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from cvoting.models.hrm import HRM
from cvoting.models.hrm_released_weights import load_released, to_released
from cvoting.models.released import without_wrappers
from cvoting.params.core import build
from cvoting.params.hrm import HrmParams
from cvoting.training import act

DIRECTORY = Path(os.environ.get("CVOTING_REFERENCE", Path(__file__).parent / "data"))
REFERENCES = sorted(DIRECTORY.glob("hrm_*.npz"))
TOLERANCE = 1e-4
TRAINING = (
    *("halted", "steps", "current_inputs", "current_labels", "q_halt_logits", "q_continue_logits"),
    *("target_q_continue", "seq_correct", "loss", "lm_loss", "q_halt_loss", "q_continue_loss"),
)


def read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a reference."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def model_of(reference: dict[str, np.ndarray], config: dict) -> HRM:
    """The model of a reference's configuration and weights."""
    weights = {n.removeprefix("weight/"): torch.from_numpy(a) for n, a in reference.items() if n.startswith("weight/")}
    same = ("expansion", "H_cycles", "L_cycles", "H_layers", "L_layers")
    named = {
        "architecture": "hrm",
        "channels": config["hidden_size"],
        "heads": config["num_heads"],
        "positions": config["pos_encodings"],
        "prefix": config["puzzle_emb_ndim"] > 0,
        "initial_state": "fixed",
    }
    params = build(HrmParams, named | {name: config[name] for name in same})
    cells = reference["inputs" if "inputs" in reference else "batch_inputs"].shape[-1]
    bare = without_wrappers(weights)
    vocabulary, classes = (len(bare[f"inner.{name}"]) for name in ("embed_tokens.embedding_weight", "lm_head.weight"))
    model = HRM(params, (1, cells), vocabulary, classes)
    load_released(model, bare)
    return model


def ours(tokens: np.ndarray, padding: int) -> Tensor:
    """Released tokens or labels as ours: padding, 0 there, comes last here."""
    tokens = torch.from_numpy(tokens).long()
    return torch.where(tokens < 0, tokens, torch.where(tokens == 0, padding, tokens - 1))


def theirs(tokens: Tensor, padding: int) -> Tensor:
    """The inverse of `ours`."""
    return torch.where(tokens < 0, tokens, (tokens + 1) % (padding + 1))


@torch.no_grad()
def rollout(model: HRM, reference: dict[str, np.ndarray], segments: int) -> dict[str, Tensor]:
    """One candidate per puzzle, in the axes of the reference."""
    condition = model.embed(ours(reference["inputs"], len(model.embedding) - 1))
    start = model.initial_state(condition, torch.empty(len(condition), 1, *model.noise_shape))
    states = list(model.trajectory(condition, start, segments))
    z_H, z_L = states[-1].hidden
    return {
        "logits": torch.stack([model.readout(state).squeeze(1).roll(1, -1) for state in states]),
        "q_logits": torch.stack([state.halting.squeeze(1) for state in states]),
        "z_H": z_H.squeeze(1),
        "z_L": z_L.squeeze(1),
    }


def training(model: HRM, reference: dict[str, np.ndarray], config: dict) -> dict[str, Tensor]:
    """Consecutive segments with fixed weights, and the gradients of the first."""
    padding, maximum = len(model.embedding) - 1, config["halt_max_steps"]
    offers = [
        act.offer(model, ours(inputs, padding), ours(labels, padding), torch.empty(len(inputs), 1, *model.noise_shape))
        for inputs, labels in zip(reference["batch_inputs"], reference["batch_labels"], strict=True)
    ]
    uniform, drawn = (torch.from_numpy(reference[name]) for name in ("uniform_draws", "min_steps_draws"))
    carry, records, gradients = offers[0], defaultdict(list), {}
    for call, offered in enumerate(offers):
        minimum = act.minimum_steps("explore", maximum, config["halt_exploration_prob"], uniform[call], drawn[call])
        segment = act.run_segment(model, act.replace_halted(carry, offered), minimum, maximum)
        losses = act.segment_losses(segment, model.params.probabilities)
        if call == 0:
            losses.total.backward()
            gradients = {name: p.grad for name, p in model.named_parameters() if name != "prefix"}
        carry = segment.carry
        tokens = (theirs(t, padding) for t in (carry.questions, carry.labels))
        values = (
            *(carry.halted, carry.steps, *tokens, segment.q_halt, segment.q_continue),
            *(segment.target_continue, act.right(segment), *losses),
        )
        for name, value in zip(TRAINING, values, strict=True):
            records[name].append(value.detach())
    arrays = {name: torch.stack(values) for name, values in records.items()}
    return arrays | {f"grad_call0/{name}": gradient for name, gradient in to_released(gradients).items()}


def assert_agreement(found: dict[str, Tensor], expected: dict[str, np.ndarray]) -> None:
    """Every array agrees, those of whole numbers and truths exactly; all errors are printed."""
    assert found.keys() == expected.keys()
    worst = {}
    for name, reference in expected.items():
        assert found[name].shape == reference.shape, name
        difference = np.abs(found[name].detach().double().numpy() - reference.astype(np.float64)).max()
        worst[name] = difference / (np.abs(reference).astype(np.float64).max() or 1.0)
        print(f"  {name:<60} largest relative error {worst[name]:.1e}")
    limits = {name: TOLERANCE if array.dtype.kind == "f" else 0.0 for name, array in expected.items()}
    failed = {name: f"{error:.1e}" for name, error in worst.items() if not error <= limits[name]}
    assert not failed, f"relative errors above {TOLERANCE:.0e}: the model no longer computes what was released"


def test_there_are_references() -> None:
    assert REFERENCES, f"no hrm_*.npz in {DIRECTORY}: set CVOTING_REFERENCE to the directory that holds them"


@pytest.mark.parametrize("path", REFERENCES, ids=lambda path: path.stem)
def test_hrm_reproduces_the_released_code(path: Path) -> None:
    reference = read(path)
    config = json.loads(str(reference["config_json"]))
    model = model_of(reference, config)
    print(f"\n{path.stem}: {config}")
    if "loss" in reference:
        given = ("batch_inputs", "batch_labels", "uniform_draws", "min_steps_draws")
        found = training(model, reference, config)
    else:
        given = ("inputs",)
        found = rollout(model, reference, config["segments"])
    outputs = [n for n in reference if n != "config_json" and n not in given and not n.startswith("weight/")]
    assert_agreement(found, {n: reference[n] for n in outputs})
