"""Memory of AKOrN: see `models.akorn`, `models.kuramoto`."""

from cvoting.memory.base import Device, NetworkMemory, attention_kept, attention_working
from cvoting.params.akorn import AkornParams
from cvoting.tasks.base import Task


def count(params: AkornParams, task: Task, device: Device) -> NetworkMemory:
    """What is kept, per cell of N cells with C channels and oscillators of n channels.

        step     13 C and attention's: queries, keys and values before and behind GTA (6), attention's result behind it
                 (1), y (1), <x, y> at every channel (1), the motion (1), its sum with the state (1), the inverse norm
                 of that (1), the next state (1); on CPUs 2 C more, inputs of sums over oscillators
        start    3 C: noise, inverse norms, state (CPU: 1 more)
        readout  (n + 5) C, once per layer

    Args:
        params: sizes.
        task: cells, tokens and classes.
        device: what computes.
    """
    C, n, cells, layers = params.channels, params.oscillator_dim, task.cells, params.layers
    on_cpu = device == "cpu"
    frequencies = {"none": 0, "global": 2, "per_pair": C}[params.omega]
    rotations = 4 * 4 * cells * (C // params.heads // 2)
    attention = 4 * (C * C + C) + rotations
    readout = C + n * C * (C + 1) + 3 * (C * C + C)
    step = 13 * C + 2 * C * on_cpu + attention_kept(cells, C, params.heads, device)
    return NetworkMemory(
        weights=task.vocabulary * C + 1 + layers * (attention + frequencies + readout) + (C + 1) * task.classes,
        noise=cells * C,
        condition=cells * C,
        state=cells * C,
        latent=cells * C,
        working=cells * (6 * C + attention_working(cells, params.heads, device)),
        kept_once=cells * ((3 + on_cpu) * C + layers * (n + 5) * C),
        kept=layers * cells * step,
        logits=cells * task.classes,
    )
