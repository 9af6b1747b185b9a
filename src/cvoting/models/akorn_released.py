"""Weights of released AKOrN models, by name; training and rollouts do not need this module."""

from collections.abc import Mapping

from torch import Tensor

from cvoting.errors import CvotingError
from cvoting.models.akorn import AKOrN

#: Our name and the released one, of a parameter or the start of its name; those of layer l follow `layers.l.`.
MODEL_NAMES = {"embedding": "embedding.weight", "step_size": "gamma", "classifier.": "out.1."}
LAYER_NAMES = {
    "omega": "0.omg.omg_param",
    "attention.mat_": "0.connectivity.mat_",
    "attention.qkv.": "0.connectivity.W_qkv.",
    "attention.out.": "0.connectivity.W_o.",
    "readout.bias": "1.0.bias",
    "readout.components.": "1.0.invconv.",
    "readout.hidden.": "1.1.fn.fn.0.fn.2.",
    "readout.residual.": "1.1.fn.fn.1.fn.2.",
    "readout.out.": "1.2.fn.2.",
}
#: A parameter that no released forward pass reads.
UNUSED = "x0"


class WeightsMismatch(CvotingError):
    """Weights that are not those of this model."""


def released_name(name: str) -> str:
    """The released name of a parameter of `AKOrN`."""
    layer, rest, names = "", name, MODEL_NAMES
    if name.startswith("layers."):
        _, index, rest = name.split(".", 2)
        layer, names = f"layers.{index}.", LAYER_NAMES
    ours = next(start for start in names if rest.startswith(start))
    return layer + names[ours] + rest.removeprefix(ours)


def load_released(model: AKOrN, weights: Mapping[str, Tensor]) -> None:
    """Take over a released state dict: a renaming, and 1x1 convolutions lose their two axes of length 1.

    Args:
        model: made with the configuration that the weights were trained with; its own weights are replaced.
        weights: by released name, without a prefix; `x0` is ignored.

    Raises:
        WeightsMismatch: with the names that are missing or unexpected, or the shapes that differ.
    """
    own = {released_name(name): (name, parameter.shape) for name, parameter in model.state_dict().items()}
    given = {name: weight for name, weight in weights.items() if name != UNUSED}
    problems = [f"missing: {name}" for name in own if name not in given]
    problems += [f"unexpected: {name}" for name in given if name not in own]
    if not problems:
        given = {n: w.flatten(1) if n.endswith("weight") and w.shape[2:] == (1, 1) else w for n, w in given.items()}
        problems = [
            f"{name}: shape {tuple(weight.shape)}, expected {tuple(own[name][1])}"
            for name, weight in given.items()
            if weight.shape != own[name][1]
        ]
    if problems:
        raise WeightsMismatch(
            "not the weights of this AKOrN; compare channels, oscillator_dim, heads, layers, omega and the grid:\n"
            + "\n".join(f"  - {problem}" for problem in problems)
        )
    model.load_state_dict({own[name][0]: weight for name, weight in given.items()})
