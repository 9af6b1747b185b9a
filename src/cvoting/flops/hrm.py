"""Floating point operations of HRM: see `models.hrm`, `models.hrm_level`."""

from cvoting.flops.base import NetworkFlops, attention, linear
from cvoting.params.hrm import HrmParams
from cvoting.tasks.base import Task


def count(params: HrmParams, task: Task) -> NetworkFlops:
    """A step is a segment: H_cycles x (L_cycles updates of L, one of H), and two halting logits at one token.

    Per token, of N tokens (the cells, and the prefix), C channels and h hidden ones, a block of either module is
    8 C^2 + 4 N C + 6 C h.  A gradient flows through the last update of each module (one-step gradient), whose inputs
    hold the trained embedding, a table lookup.  The classes of a cell are the task's tokens and padding.

    Args:
        params: sizes.
        task: cells and tokens.
    """
    C, tokens = params.channels, task.cells + params.prefix
    block = tokens * (4 * linear(C, C) + attention(tokens, C) + 3 * linear(C, params.hidden))
    H, L, halting = params.H_layers * block, params.L_layers * block, linear(C, 2)
    classes = max(task.vocabulary, task.first_answer_token + task.classes) + params.padding
    return NetworkFlops(
        embed=0,
        step=params.H_cycles * (params.L_cycles * L + H) + halting,
        readout=task.cells * linear(C, classes),
        differentiated=L + H + halting,
        of_state=0,
    )
