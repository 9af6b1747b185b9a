"""Memory of HRM: see `models.hrm`, `models.hrm_level`."""

from cvoting.memory.base import Device, NetworkMemory, attention_kept, attention_working
from cvoting.params.hrm import HrmParams
from cvoting.tasks.base import Task


def count(params: HrmParams, task: Task, device: Device) -> NetworkMemory:
    """What is kept of a segment: its last update of each module (one-step gradient), so that cycles do not count.

    Per token, of N tokens (the cells, and the prefix), C channels and h hidden ones, a block keeps 7 C, attention's,
    4 h and two mean squares: its input (1), queries, keys and values (3), argument and result of the first norm (2),
    the argument of the second (1); gate, its SiLU, up, their product.

    Args:
        params: sizes.
        task: cells and tokens.
        device: what computes.
    """
    C, hidden, tokens = params.channels, params.hidden, task.cells + params.prefix
    blocks = params.H_layers + params.L_layers
    classes = max(task.vocabulary, task.first_answer_token + task.classes) + params.padding
    places = (tokens if params.positions == "learned" else 0) + params.prefix
    block = 7 * C + attention_kept(tokens, C, params.heads, device) + 2 + 4 * hidden
    starts = {"fixed": 0, "per_row": 2 * C, "per_token": 2 * tokens * C}
    attending = 7 * C + attention_working(tokens, params.heads, device)
    return NetworkMemory(
        # The start vectors, 2 C, are in every checkpoint.
        weights=(2 * classes + places + 2) * C + blocks * (4 * C * C + 3 * C * hidden) + 2 * (C + 1),
        noise=starts[params.initial_state],
        condition=tokens * C,
        state=2 * tokens * C,
        latent=tokens * C,
        working=tokens * max(attending, 2 * C + 3 * hidden),
        kept_once=tokens * C,
        kept=tokens * blocks * block,
        logits=task.cells * classes,
    )
