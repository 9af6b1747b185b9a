"""Memory of the Transformer baseline: see `models.transformer`."""

from cvoting.memory.base import Device, NetworkMemory, attention_kept, attention_working
from cvoting.params.transformer import TransformerParams
from cvoting.tasks.base import Task


def count(params: TransformerParams, task: Task, device: Device) -> NetworkMemory:
    """What is kept, per cell of N cells with C channels and h hidden ones: of its one step, all blocks.

    A block keeps 7 C, attention's and 2 h: arguments and results of its norms (4), queries, keys and values (3); the
    hidden channels before and behind GELU.  Mix and readout keep 4 C: input, noise, argument and result of the norm.
    A norm also keeps a mean and a variance.

    Args:
        params: sizes.
        task: cells, tokens and classes.
        device: what computes.
    """
    C, hidden, cells, blocks = params.channels, params.hidden, task.cells, params.blocks
    block = 7 * C + attention_kept(cells, C, params.heads, device) + 2 * hidden + 4
    # Maps, biases of queries, values and outputs, two norms of a gain and a bias; the MLP.
    weights = 4 * C * C + 3 * C + 4 * C + 2 * C * hidden + hidden + C
    attending = 5 * C + attention_working(cells, params.heads, device)
    return NetworkMemory(
        weights=(task.vocabulary + cells + 2 * C + 1 + 2) * C + blocks * weights + (C + 1) * task.classes,
        noise=cells * C,
        condition=cells * C,
        state=cells * C,
        latent=cells * C,
        working=cells * max(attending, C + 2 * hidden),
        kept_once=cells * (4 * C + 2),
        kept=cells * blocks * block,
        logits=cells * task.classes,
    )
