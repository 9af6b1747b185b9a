"""Scores of candidates: numbers, in float64, by which a vote may prefer one to another; larger is better."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from cvoting.stablemax import log_stablemax


def double(values: Tensor) -> Tensor:
    """In float64, on the CPU where the device (MPS) has no such numbers."""
    return (values.cpu() if values.device.type == "mps" else values).double()


def mean_over_positions(
    values: Float[Tensor, "puzzles candidates cells"], positions: Bool[Tensor, "puzzles cells"]
) -> Float[Tensor, "puzzles candidates"]:
    """Mean over the positions to predict."""
    weights = positions.to(values)[:, None]
    return (values * weights).sum(-1) / weights.sum(-1)


def probability_scores(
    logits: Float[Tensor, "puzzles candidates cells classes"],
    positions: Bool[Tensor, "puzzles cells"],
    temperatures: Sequence[float] = (),
) -> dict[str, Float[Tensor, "puzzles candidates"]]:
    """Scores of the softmax probabilities P of each cell's classes, averaged over the positions to predict.

    confidence = mean max_j P (Section 4), negative_entropy = mean sum_j P log P and log_probability = mean max_j log P
    (ablation appendix).

    Args:
        logits: one per class.
        positions: the cells to predict.
        temperatures: confidence is also given for softmax(logits / temperature), as confidence_at_<temperature>
            (Section 6.5).
    """
    logits = double(logits)
    log_p = torch.log_softmax(logits, dim=-1)
    best = log_p.amax(-1)
    positions = positions.to(log_p.device)
    tempered = {t: torch.log_softmax(logits / t, dim=-1).amax(-1).exp() for t in temperatures}
    return {
        "confidence": mean_over_positions(best.exp(), positions),
        "negative_entropy": mean_over_positions((log_p.exp() * log_p).sum(-1), positions),
        "log_probability": mean_over_positions(best, positions),
        **{f"confidence_at_{t:g}": mean_over_positions(p, positions) for t, p in tempered.items()},
    }


def stablemax_confidence(
    logits: Float[Tensor, "puzzles candidates cells classes"], positions: Bool[Tensor, "puzzles cells"]
) -> Float[Tensor, "puzzles candidates"]:
    """Confidence, mean max_j P, with the stablemax probabilities P; arguments as those of `probability_scores`."""
    best = log_stablemax(double(logits)).amax(-1).exp()
    return mean_over_positions(best, positions.to(best.device))


def change(
    now: Float[Tensor, "puzzles candidates cells features"],
    before: Float[Tensor, "puzzles candidates cells features"],
    positions: Bool[Tensor, "puzzles cells"],
) -> Float[Tensor, "puzzles candidates"]:
    """Euclidean length of the change of each cell's features, averaged over the positions to predict."""
    length = double(torch.linalg.vector_norm(now - before, dim=-1))
    return mean_over_positions(length, positions.to(length.device))
