"""Memory of ItrSA++ and its ablations: see `models.itrsa`, `models.input_mixing`."""

from cvoting.memory.base import Device, NetworkMemory, attention_kept, attention_working
from cvoting.params.itrsa import CrossAttentionParams, ItrsaParams, SwiGluParams
from cvoting.tasks.base import Task


def count(params: ItrsaParams, task: Task, device: Device) -> NetworkMemory:
    """What is kept, per cell of N cells with C channels and h hidden ones, with S self-attentions.

    Every norm keeps its argument, C, a mean square, and its result, C; then

        cross-attention  3 C and attention's: queries before and behind GTA, the result behind it (linear mixing: none)
        self-attention   7 C and attention's, S times: also keys and values
        SwiGLU           4 h: gate, its SiLU, up, their product (feed-forward: 2 h)
        input            2 C, and keys and values before and behind GTA, 4 C

    Args:
        params: sizes and switches.
        task: cells, tokens and classes.
        device: what computes.
    """
    C, cells, S, hidden = params.channels, task.cells, params.self_attentions, params.feed_forward.hidden
    crossing = isinstance(params.input_mixing, CrossAttentionParams)
    gated = isinstance(params.feed_forward, SwiGluParams)
    rotations = 4 * 4 * cells * (C // params.heads // 2) if params.gta == "learnable" else 0
    attention, norms = 4 * C * C + rotations, 3 * C if params.norm_affine else 0
    mixing = attention if crossing else 2 * C * C
    maps = (3 if gated else 2) * C * hidden
    norm, attended = 2 * C + 1, attention_kept(cells, C, params.heads, device)
    crossed = norm + (3 * C + attended if crossing else 0)
    step = crossed + S * (norm + 7 * C + attended) + norm + (4 if gated else 2) * hidden
    memory = (2 if crossing else 1) * C
    attending = 6 * C + attention_working(cells, params.heads, device)
    return NetworkMemory(
        weights=(task.vocabulary + task.classes) * C + norms + mixing + attention + maps,
        noise=cells * C,
        condition=cells * memory,
        state=cells * C,
        latent=cells * C,
        working=cells * max(attending, C + (3 if gated else 2) * hidden),
        kept_once=cells * (2 * norm + (4 * C if crossing else 0)),
        kept=cells * step,
        logits=cells * task.classes,
    )
