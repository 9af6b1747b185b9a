"""Floating point operations (FLOP) of a network's parts, from its parameters alone.

Convention: 2 per multiply-add of linear maps and of attention, as `torch.utils.flop_counter` counts them.  Work per
element is not counted (norms, activations, GTA's 2x2 matrices, RoPE, softmax, scores, optimiser), nor are sums over the
channels of an oscillator, though `models.kuramoto` writes them as matrix products.  What an attention kernel computes a
second time, as fused ones do in their backward pass, counts once.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NetworkFlops:
    """What the parts of a network cost on one task, in FLOP.

    Attributes:
        embed: all that depends on the question alone; once per puzzle.
        start: what a candidate costs before its first step, whatever the number of steps.
        step: a recurrent step of a candidate, with what it tells besides (halting logits).
        readout: the logits of a candidate's state.
        differentiated: the part of a step that a gradient flows through; all of it but in HRM.
        of_state: the linear maps of a step whose input is the state before it and nothing else that is trained.  Where
            that state is a constant, their weights have gradients and their input has none.
        starts_at_noise: whether z_0 is such a constant.
    """

    embed: int
    start: int = 0
    step: int
    readout: int
    differentiated: int
    of_state: int
    starts_at_noise: bool = True


def linear(inputs: int, outputs: int) -> int:
    """A linear map of one cell: 2 x inputs x outputs."""
    return 2 * inputs * outputs


def attention(keys: int, channels: int) -> int:
    """What one cell takes from `keys` cells, in all heads together: scores, and weights times values.

    Each is 2 x keys x channels, however the channels are divided into heads.
    """
    return 2 * 2 * keys * channels
