"""Bookkeeping and losses of the training by segments, by hand."""

import math

import pytest
import torch
from torch import Tensor

from cvoting.training.act import IGNORED, Carry, Segment, minimum_steps, replace_halted, right, segment_losses


def carry(start: int, steps: list[int], halted: list[bool]) -> Carry:
    """Rows of one cell that are told apart by the number in all their places."""
    number = torch.arange(start, start + len(steps))
    z = number.float().view(-1, 1, 1, 1)
    return Carry(z, z + 0.5, number[:, None], number[:, None] + 100, torch.tensor(steps), torch.tensor(halted))


def segment(logits: Tensor, labels: list[list[int]], q_halt: list[float], q_continue: list[float], target: list[float]):
    """A segment that gave these."""
    rows = Carry(*[torch.zeros(len(labels), 1, 1, 1)] * 2, *[torch.tensor(labels)] * 2, *carry(0, [1], [False])[4:])
    return Segment(rows, logits, *map(torch.tensor, (q_halt, q_continue, target)))


def test_halted_rows_are_taken_by_the_same_rows_of_the_batch_offered() -> None:
    rows = replace_halted(carry(0, [3, 16, 1], [False, True, True]), carry(10, [0, 0, 0], [True] * 3))
    assert rows.questions[:, 0].tolist() == [0, 11, 12]
    assert rows.labels[:, 0].tolist() == [100, 111, 112]
    assert rows.z_H.flatten().tolist() == [0, 11, 12]
    assert rows.z_L.flatten().tolist() == [0.5, 11.5, 12.5]
    assert rows.steps.tolist() == [3, 0, 0]
    assert not rows.halted.any()


def test_minimum_steps_are_drawn_with_a_probability_and_all_there_are_without_act() -> None:
    uniform, drawn = torch.tensor([0.0, 0.29, 0.3, 0.9]), torch.tensor([2, 16, 5, 3])
    assert minimum_steps("explore", 16, 0.3, uniform, drawn).tolist() == [2, 16, 0, 0]
    assert minimum_steps("explore", 16, 1.0, uniform, drawn).tolist() == [2, 16, 5, 3]
    assert minimum_steps("off", 16, 1.0, uniform, drawn).tolist() == [16] * 4


def test_losses_by_hand() -> None:
    # Stablemax of (1, 0) is (2/3, 1/3), of (-1, 0) it is (1/3, 2/3); row 1 has labels 0 and none, row 2 has 0 and 1.
    logits = torch.tensor([[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [-1.0, 0.0]]])
    found = segment(logits, [[0, IGNORED], [1, 1]], [0.0, math.log(3)], [math.log(3), 0.0], [1.0, 0.5])
    losses = segment_losses(found, "stablemax")
    assert right(found).tolist() == [True, False]
    cells = -math.log(2 / 3) - (math.log(1 / 3) + math.log(2 / 3)) / 2
    # The logistic function of log 3 is 3/4; row 2 is not right.
    halt = math.log(2) - math.log(1 / 4)
    continuing = -math.log(3 / 4) + math.log(2)
    assert losses.cells.item() == pytest.approx(cells)
    assert losses.cells.dtype == torch.float64
    assert losses.halt.item() == pytest.approx(halt, rel=1e-6)
    assert losses.continuing.item() == pytest.approx(continuing, rel=1e-6)
    assert losses.total.item() == pytest.approx(cells + (halt + continuing) / 2, rel=1e-6)


def test_a_softmax_in_place_of_stablemax() -> None:
    found = segment(torch.tensor([[[math.log(3), 0.0]]]), [[0]], [0.0], [0.0], [0.5])
    assert segment_losses(found, "softmax").cells.item() == pytest.approx(-math.log(3 / 4))


def test_a_row_without_labels_costs_nothing_and_counts_as_right() -> None:
    found = segment(torch.randn(1, 2, 3), [[IGNORED, IGNORED]], [0.0], [0.0], [0.5])
    assert segment_losses(found, "stablemax").cells.item() == 0.0
    assert right(found).tolist() == [True]
