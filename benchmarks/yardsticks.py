"""Known work that everything else is measured against, on as many threads as torch has."""

from functools import cache

import numpy as np
import torch

from cvoting.models.layers import linear
from harness import Settings, Work

#: Of the square matrices, and their rows in an image; numbers that are sorted; turns of the loop; bytes of a copy, far
#: more than any cache holds.
SIDE, ROWS, SORTED, TURNS, COPIED = 2048, 32, 2**20, 10**6, 2**28


def matrix_product(settings: Settings) -> Work:
    """torch.mm of two square matrices: the BLAS that PyTorch was built with."""
    left, right = _matrices(_side(settings))
    return Work("matrix product", lambda: torch.mm(left, right), 2 * len(left) ** 3 / 1e9, "GFLOP")


def linear_map(settings: Settings) -> Work:
    """The same product as the models compute their linear maps (`cvoting.models.layers.linear`).

    On the CPU by oneDNN, which uses AVX-512 where MKL does not: there it is the strongest rate that is known to be
    reached, and the yardstick to be judged by.  In images as those of a model: of a single large one PyTorch does not
    leave the product to oneDNN.
    """
    left, right = _matrices(_side(settings))
    images = left.unflatten(0, (-1, ROWS))
    run = torch.inference_mode()(lambda: linear(images, right))
    return Work("linear map", run, 2 * len(left) ** 3 / 1e9, "GFLOP")


def copying(settings: Settings) -> Work:
    """A copy of a large tensor: bytes read and written."""
    source, target = _large(COPIED // 256 if settings.quick else COPIED)
    return Work("copy", lambda: target.copy_(source), 2 * source.nbytes / 1e9, "GB")


def sorting(settings: Settings) -> Work:
    """numpy's sort of random numbers: what votes and estimators are made of."""
    numbers = _numbers(SORTED // 256 if settings.quick else SORTED)
    return Work("sort", lambda: np.sort(numbers), len(numbers) / 1e6, "M numbers")


def looping(settings: Settings) -> Work:
    """Turns of a loop of Python that adds."""
    turns = TURNS // 100 if settings.quick else TURNS

    def loop() -> int:
        total = 0
        for i in range(turns):
            total += i
        return total

    return Work("loop", loop, turns / 1e6, "M turns")


def _side(settings: Settings) -> int:
    return 64 if settings.quick else SIDE


@cache
def _matrices(side: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    left, right = (torch.randn(side, side, generator=rng) for _ in range(2))
    return left, right


@cache
def _large(nbytes: int) -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.ones(nbytes // 4)
    return source, torch.empty_like(source)


@cache
def _numbers(count: int) -> np.ndarray:
    return np.random.Generator(np.random.Philox(0)).random(count)
