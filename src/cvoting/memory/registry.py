"""Memory by architecture.  Only `__main__`, the rules and tests read this.

Library functions receive a `NetworkMemory`.
"""

from collections.abc import Callable
from typing import Any

from cvoting.errors import CvotingError
from cvoting.memory import akorn, hrm, itrsa, transformer
from cvoting.memory.base import Device, NetworkMemory
from cvoting.tasks.base import Task

MEMORY: dict[str, Callable[[Any, Task, Device], NetworkMemory]] = {
    "akorn": akorn.count,
    "hrm": hrm.count,
    "itrsa": itrsa.count,
    "transformer": transformer.count,
}


def network_memory(network: Any, task: Task, device: Device) -> NetworkMemory:
    """What a network keeps in memory on a task.

    Args:
        network: the `NetworkParams` of an architecture.
        task: cells and tokens.
        device: what computes.

    Raises:
        CvotingError: with the choices, for an architecture that nobody counts.
    """
    if network.architecture not in MEMORY:
        raise CvotingError(f"memory of {network.architecture!r}: expected one of {', '.join(MEMORY)}")
    return MEMORY[network.architecture](network, task, device)
