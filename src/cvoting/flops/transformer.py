"""Floating point operations of the Transformer baseline: see `models.transformer`."""

from cvoting.flops.base import NetworkFlops, attention, linear
from cvoting.params.transformer import TransformerParams
from cvoting.tasks.base import Task


def count(params: TransformerParams, task: Task) -> NetworkFlops:
    """Its one step is the state's part of the mix, and all blocks; the input's part is computed once per puzzle.

    Per cell, of N cells, C channels and h hidden ones: each part of the mix is 2 C^2, a block 8 C^2 + 4 N C + 4 C h.

    Args:
        params: sizes.
        task: cells and classes.
    """
    C, cells = params.channels, task.cells
    projection = cells * linear(C, C)
    mlp = cells * (linear(C, params.hidden) + linear(params.hidden, C))
    step = projection + params.blocks * (4 * projection + cells * attention(cells, C) + mlp)
    return NetworkFlops(
        embed=projection,
        step=step,
        readout=cells * linear(C, task.classes),
        differentiated=step,
        of_state=projection,
    )
