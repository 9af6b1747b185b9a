"""Weights of released HRM models, by name; training and rollouts do not need this module.

Token and class 0 are padding there, and the last ones here.
"""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from cvoting.errors import CvotingError
from cvoting.models.hrm import HRM

#: What may stand before every name: of a compiled model, and of one inside its loss.
PREFIXES = ("_orig_mod.", "model.")
#: Our name and the released one, of whole parameters.
MODEL_NAMES = {
    "embedding": "inner.embed_tokens.embedding_weight",
    "positions": "inner.embed_pos.embedding_weight",
    "prefix": "inner.puzzle_emb.weights",
    "start_H": "inner.H_init",
    "start_L": "inner.L_init",
    "classifier.weight": "inner.lm_head.weight",
    "halting.weight": "inner.q_head.weight",
    "halting.bias": "inner.q_head.bias",
}
#: Those of block i of a module M, behind `M.blocks.i.` and `inner.M_level.layers.i.`; two of ours may be one of theirs.
BLOCK_NAMES = {
    "attention.qkv.weight": "self_attn.qkv_proj.weight",
    "attention.out.weight": "self_attn.o_proj.weight",
    "feed_forward.gate.weight": "mlp.gate_up_proj.weight",
    "feed_forward.up.weight": "mlp.gate_up_proj.weight",
    "feed_forward.down.weight": "mlp.down_proj.weight",
}


class WeightsMismatch(CvotingError):
    """Weights that are not those of this model."""


def released_name(name: str) -> str:
    """The released name of a parameter or buffer of `HRM`."""
    if name in MODEL_NAMES:
        return MODEL_NAMES[name]
    level, _, index, rest = name.split(".", 3)
    return f"inner.{level}_level.layers.{index}.{BLOCK_NAMES[rest]}"


def to_released(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors by our names, such as weights or gradients, as those of the released model."""
    released: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        theirs = released_name(name)
        if name in ("embedding", "classifier.weight"):
            tensor = tensor.roll(1, 0)
        elif name == "prefix":
            tensor = tensor.unsqueeze(0)
        # The gate comes before what it lets through, here and there.
        released[theirs] = torch.cat([released[theirs], tensor]) if theirs in released else tensor
    return released


def without_prefixes(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights by their names in the model itself."""
    return {_bare(name): tensor for name, tensor in weights.items()}


def load_released(model: HRM, weights: Mapping[str, Tensor]) -> None:
    """Take over a released state dict.

    Args:
        model: made with the configuration that the weights were trained with; its own weights are replaced.
        weights: by released name, perhaps behind `PREFIXES`.

    Raises:
        WeightsMismatch: with the names that are missing or unexpected, or the shapes that differ.
    """
    given, expected = without_prefixes(weights), to_released(model.state_dict())
    problems = [f"missing: {name}" for name in expected if name not in given]
    problems += [f"unexpected: {name}" for name in given if name not in expected]
    problems += [
        f"{name}: shape {tuple(given[name].shape)}, expected {tuple(tensor.shape)}"
        for name, tensor in expected.items()
        if name in given and given[name].shape != tensor.shape
    ]
    if problems:
        raise WeightsMismatch(
            "not the weights of this HRM; compare channels, expansion, H_layers, L_layers, positions, prefix and the "
            "grid:\n" + "\n".join(f"  - {problem}" for problem in problems)
        )
    model.load_state_dict(dict(_from_released(model, given)))


def _from_released(model: HRM, weights: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    for name in model.state_dict():
        tensor = weights[released_name(name)]
        if name in ("embedding", "classifier.weight"):
            tensor = tensor.roll(-1, 0)
        elif name == "prefix":
            tensor = tensor.squeeze(0)
        elif name.endswith(("gate.weight", "up.weight")):
            tensor = tensor.chunk(2)[name.endswith("up.weight")]
        yield name, tensor


def _bare(name: str) -> str:
    while name.startswith(PREFIXES):
        name = name.removeprefix(PREFIXES[0]).removeprefix(PREFIXES[1])
    return name
