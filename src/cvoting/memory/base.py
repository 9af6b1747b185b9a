"""What a network keeps in memory, from its parameters alone.

Counted are float32 numbers of four bytes.  On GPUs attention is fused and keeps no [cells, cells] array; on CPUs
`models.kernels` keeps one per head.  Left out are token numbers, and numbers per cell of which there is one or two.
"""

from dataclasses import dataclass
from typing import Literal

Device = Literal["gpu", "cpu"]


@dataclass(frozen=True, kw_only=True)
class NetworkMemory:
    """Numbers that a network keeps on one task; all but the weights are per row, a candidate of a puzzle.

    Attributes:
        weights: those of a checkpoint.
        noise: what a row starts from.
        condition: what every step reads of the question.
        state: what a step hands to the next one.
        latent: the part of it that is read out, and kept at the last steps for residuals.
        working: the most that is there at once within a step besides, where nothing is kept for a backward pass.
        kept_once: what the forward pass keeps for the backward pass of embedding, start and readout.
        kept: what it keeps for that of a step.
        logits: those of every cell.
    """

    weights: int
    noise: int
    condition: int
    state: int
    latent: int
    working: int
    kept_once: int
    kept: int
    logits: int


def attention_kept(cells: int, channels: int, heads: int, device: Device) -> int:
    """What attention keeps per cell besides queries, keys and values: its result C and a sum per head.

    On CPUs also a power per head and cell that is attended to, and the result in a second order.
    """
    return channels + heads if device == "gpu" else 2 * channels + heads * (cells + 1)


def attention_working(cells: int, heads: int, device: Device) -> int:
    """Numbers per cell within attention alone, besides its arguments and its result: powers, on CPUs."""
    return 0 if device == "gpu" else heads * cells
