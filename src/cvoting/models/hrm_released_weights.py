"""Weights of the released HRM by its names and by ours.

Token and class 0 are padding there, and the last ones here.
"""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from cvoting.models.hrm import HRM
from cvoting.models.released import check_weights

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


def load_released(model: HRM, weights: Mapping[str, Tensor], identifier: int = 0) -> None:
    """Take over a released state dict.

    Args:
        model: made with the configuration that the weights were trained with; its own weights are replaced.
        weights: by released name, without a prefix.
        identifier: the row of the puzzle embedding.

    Raises:
        WeightsMismatch: as of `check_weights`.
    """
    what = (
        "not the weights of this HRM; compare channels, expansion, H_layers, L_layers, positions, prefix and the grid"
    )
    given = {
        name: tensor[identifier:][:1] if name == MODEL_NAMES["prefix"] else tensor for name, tensor in weights.items()
    }
    check_weights(what, {name: tensor.shape for name, tensor in to_released(model.state_dict()).items()}, given)
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
