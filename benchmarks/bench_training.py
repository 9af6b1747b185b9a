"""Training steps: forward and backward pass of a batch, clipping, and the optimiser's update."""

import math
from collections.abc import Callable

import torch
from torch import nn

from cases import Case
from cvoting.flops.registry import network_flops
from cvoting.flops.training import training_flops
from cvoting.training.objective_registry import OBJECTIVES
from harness import Row, Settings, Work, compare
from yardsticks import linear_map, matrix_product

CASES = (
    Case("paper", "akorn-sudoku", 16),
    Case("paper", "itrsa-sudoku_extreme", 16),
    Case("paper", "hrm-sudoku_extreme", 16),
    Case("paper", "transformer-sudoku", 16),
    Case("laptop", "akorn-sudoku", 100),
    Case("laptop", "itrsa-sudoku_extreme", 100),
    Case("laptop", "hrm-sudoku_extreme", 100),
    Case("laptop", "transformer-sudoku", 100),
)
QUICK = (Case("toy", "akorn-sudoku", 2),)


def measure(settings: Settings) -> list[Row]:
    """GFLOP/s of training steps, those of `cvoting.flops`; `kept` are the MiB that the forward pass keeps."""
    yardsticks = [linear_map(settings), matrix_product(settings)]
    rows = []
    for case in QUICK if settings.quick else CASES:
        step, forward = training_step(case)
        flops = training_flops(network_flops(case.network, case.task), case.training)
        detach_step = case.training.detach_step
        name = f"{case.name}, detached at {detach_step}" if detach_step else case.name
        (row,) = compare([Work(name, step, flops / 1e9, "GFLOP")], yardsticks, settings)
        rows.append(row | {"kept": kept_mib(forward)})
    return rows


def training_step(case: Case) -> tuple[Callable[[], object], Callable[[], object]]:
    """A whole step of a case, and its forward pass alone.

    Args:
        case: what is trained.
    """
    model = case.model().train()
    objective = OBJECTIVES[case.training.objective](model, case.training, seed=0)
    optimizer, batch = objective.make_optimizer(), case.batch(model)

    def forward() -> torch.Tensor:
        return objective.minimised(batch, range(case.rows), 0).loss

    def step() -> None:
        loss = forward()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), case.training.clip or math.inf)
        optimizer.step()

    return step, forward


def kept_mib(forward: Callable[[], object]) -> float:
    """Memory of the tensors that a forward pass keeps for the backward pass, in MiB.

    Args:
        forward: returns what is differentiated.
    """
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        # An output that the graph keeps as it is would hold the graph that holds it, and never be freed.
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = forward()
    del result
    return sum(kept.values()) / 2**20
