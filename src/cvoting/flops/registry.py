"""The counts of floating point operations by architecture.  Only `__main__`, the rules and tests read this.

Library functions receive a `NetworkFlops`.
"""

from collections.abc import Callable
from typing import Any

from cvoting.errors import CvotingError
from cvoting.flops import akorn, hrm, itrsa, transformer
from cvoting.flops.base import NetworkFlops
from cvoting.tasks.base import Task

FLOPS: dict[str, Callable[[Any, Task], NetworkFlops]] = {
    "akorn": akorn.count,
    "hrm": hrm.count,
    "itrsa": itrsa.count,
    "transformer": transformer.count,
}


def network_flops(network: Any, task: Task) -> NetworkFlops:
    """What a network costs on a task.

    Args:
        network: the `NetworkParams` of an architecture.
        task: cells and tokens.

    Raises:
        CvotingError: with the choices, for an architecture that nobody counts.
    """
    if network.architecture not in FLOPS:
        choices = ", ".join(FLOPS)
        raise CvotingError(f"floating point operations of {network.architecture!r}: expected one of {choices}")
    return FLOPS[network.architecture](network, task)
