"""The processes that train a model together, each on its share of the rows of every batch (data parallelism).

All hold the same weights, add up the gradients of their shares, and make the same update.  Source of their number and
ranks: the environment variables that `torchrun` sets; without them there is one process.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.distributed as dist
from jaxtyping import Shaped
from torch import Tensor, nn

from cvoting.errors import CvotingError


@dataclass(frozen=True)
class Processes:
    """This process among all.

    Attributes:
        device: where it computes.
        rank: its number, from 0; the first one writes files and says how far the training is.
        count: how many there are.
    """

    device: torch.device
    rank: int = 0
    count: int = 1

    @property
    def writes(self) -> bool:
        """Whether this is the process that writes."""
        return self.rank == 0

    def rows(self, batch: int, parts: int) -> list[range]:
        """The rows of a batch that are this process's, in parts that are computed one after another.

        Raises:
            CvotingError: for more parts than rows.
        """
        pieces = self.count * parts
        if pieces > batch:
            raise CvotingError(
                f"batch = {batch}: expected at least {pieces} puzzles, one for each of {self.count} processes x "
                f"accumulate = {parts}: start fewer processes, or lower accumulate"
            )
        edges = [batch * piece // pieces for piece in range(self.rank * parts, (self.rank + 1) * parts + 1)]
        return [range(start, stop) for start, stop in pairwise(edges)]

    def add_gradients(self, model: nn.Module) -> None:
        """Make every gradient the sum over all processes."""
        if self.count > 1:
            gradients = [p.grad for p in model.parameters() if p.grad is not None]
            flat = torch.cat([gradient.flatten() for gradient in gradients])
            dist.all_reduce(flat)
            for gradient, summed in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
                gradient.copy_(summed.view_as(gradient))

    def sums(self, values: Mapping[str, float]) -> dict[str, float]:
        """The sums of some numbers over all processes."""
        if self.count == 1:
            return dict(values)
        flat = torch.tensor(list(values.values()), dtype=torch.float64, device=self.device)
        dist.all_reduce(flat)
        return dict(zip(values, flat.tolist(), strict=True))

    def any(self, here: bool) -> bool:
        """Whether it is so in any process."""
        return self.sums({"here": float(here)})["here"] > 0

    def joined(self, rows: Shaped[Tensor, "share *rest"]) -> Shaped[Tensor, "rows *rest"]:
        """The rows of all processes, in the order of their ranks."""
        if self.count == 1:
            return rows
        shares: list[Tensor | None] = [None] * self.count
        dist.all_gather_object(shares, rows.cpu())
        return torch.cat([share for share in shares if share is not None])


@contextmanager
def joined_processes(device: torch.device) -> Iterator[Processes]:
    """The processes that `torchrun` started, until the block ends; one where nobody started several.

    Args:
        device: where this process computes.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes(device)
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(device, dist.get_rank(), count)
    finally:
        dist.destroy_process_group()
