"""Floating point operations of ItrSA++ and its ablations: see `models.itrsa`, `models.input_mixing`."""

from cvoting.flops.base import NetworkFlops, attention, linear
from cvoting.params.itrsa import CrossAttentionParams, ItrsaParams, SwiGluParams
from cvoting.tasks.base import Task


def count(params: ItrsaParams, task: Task) -> NetworkFlops:
    """A step is a block; what every block reads of the input is computed once per puzzle.

    Per cell, of N cells, C channels, h hidden ones and S self-attentions:

        input   4 C^2 (keys and values of cross-attention), or 2 C^2 (linear mixing)
        block   4 C^2 + 4 N C (cross-attention), or 2 C^2 (linear mixing)
                + S (8 C^2 + 4 N C) + 6 C h (SwiGLU), or 4 C h (feed-forward)

    Args:
        params: sizes and switches.
        task: cells and classes.
    """
    C, cells = params.channels, task.cells
    projection, attended = cells * linear(C, C), cells * attention(cells, C)
    crossing = isinstance(params.input_mixing, CrossAttentionParams)
    mixing = 2 * projection + attended if crossing else projection
    maps = 3 if isinstance(params.feed_forward, SwiGluParams) else 2
    feed_forward = maps * cells * linear(C, params.feed_forward.hidden)
    step = mixing + params.self_attentions * (4 * projection + attended) + feed_forward
    return NetworkFlops(
        embed=2 * projection if crossing else projection,
        step=step,
        readout=cells * linear(C, task.classes),
        differentiated=step,
        # The gains of the norm before the map are trained, and need the gradient of its input.
        of_state=0 if params.norm_affine else projection,
    )
