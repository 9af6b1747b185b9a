"""Floating point operations of AKOrN: see `models.akorn`, `models.kuramoto`."""

from cvoting.flops.base import NetworkFlops, attention, linear
from cvoting.params.akorn import AkornParams
from cvoting.tasks.base import Task


def count(params: AkornParams, task: Task) -> NetworkFlops:
    """A step is one of each layer; the layers below the last are read out once, whatever the number of steps.

    Per cell and layer, of N cells, C channels and oscillators of n channels: a step is four maps C -> C and attention,
    8 C^2 + 4 N C; a readout is a map C -> n C and three C -> C, 2 (n + 3) C^2.  The embedding is a table lookup, and
    the start depends on it.

    Args:
        params: sizes.
        task: cells and classes.
    """
    C = params.channels
    projection = task.cells * linear(C, C)
    step = 4 * projection + task.cells * attention(task.cells, C)
    readout = (params.oscillator_dim + 3) * projection
    return NetworkFlops(
        embed=0,
        start=(params.layers - 1) * readout,
        step=params.layers * step,
        readout=readout + task.cells * linear(C, task.classes),
        differentiated=params.layers * step,
        of_state=3 * projection,
        starts_at_noise=False,
    )
