"""Training of HRM by segments, with adaptive computation time (ACT): which rows go on and which are replaced.

A row is a place in the batch.  Each update runs one segment of every row; a row that has halted is taken by the same
row of the next batch offered.  All of it is a function of its arguments: what is kept between two updates is a `Carry`.
Source: released HRM; Wang et al. (2025), Section 2 (deep supervision, ACT).
"""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from cvoting.models.hrm import HRM, Tokens
from cvoting.precision import precise, widened
from cvoting.stablemax import log_stablemax

#: The label of a cell that is in no loss.
IGNORED = -100


class Carry(NamedTuple):
    """The rows between two segments: states of both modules, data in work, segments made, and who has halted."""

    z_H: Tokens
    z_L: Tokens
    questions: Int[Tensor, "puzzles cells"]
    labels: Int[Tensor, "puzzles cells"]
    steps: Int[Tensor, "puzzles"]
    halted: Bool[Tensor, "puzzles"]


class Segment(NamedTuple):
    """What a segment of every row gave; `carry` is for the next one, and the rest of it is about this one."""

    carry: Carry
    logits: Float[Tensor, "puzzles cells classes"]
    q_halt: Float[Tensor, "puzzles"]
    q_continue: Float[Tensor, "puzzles"]
    target_continue: Float[Tensor, "puzzles"]


class Losses(NamedTuple):
    """Sums over rows; `total` is what an update minimises, divided by the number of rows."""

    total: Float[Tensor, ""]
    cells: Float[Tensor, ""]
    halt: Float[Tensor, ""]
    continuing: Float[Tensor, ""]


def offer(
    model: HRM,
    questions: Int[Tensor, "puzzles cells"],
    labels: Int[Tensor, "puzzles cells"],
    noise: Float[Tensor, "puzzles 1 ..."],
) -> Carry:
    """A batch at its start, every row halted: before the first update, the first batch is the carry.

    Args:
        model: knows the initial states.
        questions: tokens.
        labels: classes, `IGNORED` where a cell is in no loss.
        noise: what the initial states are made of.
    """
    with torch.no_grad():
        z_H, z_L = model.initial_state(model.embed(questions), noise).hidden
    count = questions.new_zeros(len(questions))
    return Carry(z_H, z_L, questions, labels, count, torch.ones_like(count, dtype=torch.bool))


def replace_halted(carry: Carry, offered: Carry) -> Carry:
    """Every row that has halted is taken by the same row of the batch offered; none has halted then."""

    def taken(new: Tensor, old: Tensor) -> Tensor:
        return torch.where(carry.halted.view(-1, *(1,) * (new.ndim - 1)), new, old)

    rows = Carry(*(taken(new, old) for new, old in zip(offered, carry, strict=True)))
    return rows._replace(halted=torch.zeros_like(carry.halted))


def minimum_steps(
    act: Literal["off", "explore"],
    maximum: int,
    probability: float,
    uniform: Float[Tensor, "puzzles"],
    drawn: Int[Tensor, "puzzles"],
) -> Int[Tensor, "puzzles"]:
    """The segments that rows have to make before they may halt; drawn anew for every segment.

    Args:
        act: off: all there are, whatever the halting logits; explore: as follows.
        maximum: the most segments of a row.
        probability: of a minimum above 0, p (Table 2: 1.0).
        uniform: numbers from U(0, 1); a minimum is above 0 where they are below p.
        drawn: that minimum, from 2 to `maximum`, equally likely.
    """
    if act == "off":
        return torch.full_like(drawn, maximum)
    return torch.where(uniform < probability, drawn, 0)


def run_segment(model: HRM, carry: Carry, minimum: Int[Tensor, "puzzles"], maximum: int) -> Segment:
    """One segment of every row, with the gradient of its last updates.

    A row halts after `maximum` segments, or after at least `minimum` if q_halt > q_continue.
    target_continue = sigmoid(q'_halt if it was the last, else max(q'_halt, q'_continue)), q' being those of a segment
    more.

    Args:
        model: in training.
        carry: rows of which none has halted.
        minimum: what `minimum_steps` gives.
        maximum: the most segments of a row.
    """
    condition = model.embed(carry.questions)
    (state,) = model.trajectory(condition, model.state(carry.z_H, carry.z_L), 1)
    q_halt, q_continue = _halting_logits(state.halting)
    steps = carry.steps + 1
    last = steps >= maximum
    halted = last | ((q_halt > q_continue) & (steps >= minimum))
    with torch.no_grad():
        (following,) = model.trajectory(condition, state, 1)
        next_halt, next_continue = _halting_logits(following.halting)
        target = torch.where(last, next_halt, torch.maximum(next_halt, next_continue)).sigmoid()
    z_H, z_L = state.detach().hidden
    after = carry._replace(z_H=z_H, z_L=z_L, steps=steps, halted=halted)
    return Segment(after, model.readout(state).squeeze(1), q_halt, q_continue, target)


def right(segment: Segment) -> Bool[Tensor, "puzzles"]:
    """Whether all labelled cells of a row are right."""
    labels = segment.carry.labels
    return ((segment.logits.argmax(-1) == labels) | (labels == IGNORED)).all(-1)


def segment_losses(segment: Segment, probabilities: Literal["softmax", "stablemax"]) -> Losses:
    """Cross-entropy of the cells + (BCE(q_halt, right) + BCE(q_continue, target_continue)) / 2, summed over rows.

    The cross-entropy of a row is the mean over its labelled cells, in float64.

    Args:
        segment: what `run_segment` gives.
        probabilities: what makes them of the logits of the cells.
    """
    labels = segment.carry.labels
    labelled = labels != IGNORED
    losses = cell_losses(segment.logits, torch.where(labelled, labels, 0), probabilities)
    cells = (torch.where(labelled, losses, 0.0).sum(-1) / labelled.sum(-1).clamp(min=1)).sum()
    halt = _summed_bce(segment.q_halt, right(segment).to(segment.q_halt))
    continuing = _summed_bce(segment.q_continue, segment.target_continue)
    return Losses(cells + 0.5 * (halt + continuing), cells, halt, continuing)


def cell_losses(
    logits: Float[Tensor, "puzzles cells classes"],
    labels: Int[Tensor, "puzzles cells"],
    probabilities: Literal["softmax", "stablemax"],
) -> Float[Tensor, "puzzles cells"]:
    """-log P(label) of each cell, in nats and float64."""
    logits = precise(logits)
    log_p = log_stablemax(logits) if probabilities == "stablemax" else logits.log_softmax(-1)
    return -log_p.gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def _halting_logits(halting: Float[Tensor, "puzzles 1 2"] | None) -> tuple[Tensor, ...]:
    """Those to halt and those to continue."""
    assert halting is not None  # HRM always has them
    return widened(halting).squeeze(1).unbind(-1)


def _summed_bce(logits: Float[Tensor, "puzzles"], targets: Float[Tensor, "puzzles"]) -> Float[Tensor, ""]:
    return binary_cross_entropy_with_logits(logits, targets, reduction="sum")
