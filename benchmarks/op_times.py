"""Where the time of a forward pass goes, by kind of work: every operation of torch, timed, with its FLOP and bytes."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from cvoting.models.kuramoto import BLOCK

LINEAR, PRODUCTS, SOFTMAX, TURNS = "linear maps", "products of attention", "softmax", "GTA, RoPE"
NORMS, ELEMENTWISE, COPIES, REST = "norms", "gates, residuals, activations", "copies", "Python and dispatch"
KINDS = (LINEAR, PRODUCTS, SOFTMAX, TURNS, NORMS, ELEMENTWISE, COPIES)
#: The kinds of operations that are of one kind whatever they act on.
OF_KIND = {
    PRODUCTS: ("bmm", "baddbmm"),
    SOFTMAX: ("exp2_", "aminmax", "amax", "sub_", "div_", "ge", "le"),
    NORMS: ("rms_norm", "rsqrt"),
    COPIES: ("contiguous", "clone", "copy_", "repeat", "cat", "index", "stack"),
}
KIND = {name: kind for kind, names in OF_KIND.items() for name in names}


@dataclass
class Spent:
    """What operations of a kind took and did: seconds, FLOP as `cvoting.flops` counts them, bytes read and written."""

    seconds: float = 0.0
    flops: int = 0
    nbytes: int = 0


class OperationTimes(TorchDispatchMode):
    """While active, times every operation, as the innermost mode.

    Views cost nothing here: their time counts as what is outside of operations, like that of the interpreter.

    Attributes:
        spent: by kind.
        maps: input and weight of every distinct shape of a linear map, and how often it was.
    """

    def __init__(self) -> None:
        super().__init__()
        self.spent = {kind: Spent() for kind in KINDS}
        self.maps: dict[tuple[torch.Size, torch.Size], int] = {}

    @property
    def seconds(self) -> float:
        """Of all operations."""
        return sum(spent.seconds for spent in self.spent.values())

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run an operation and take its time."""
        start = time.perf_counter()
        result = func(*args, **(kwargs or {}))
        took = time.perf_counter() - start
        given = [arg for arg in args if isinstance(arg, Tensor)]
        made = [part for part in (result if isinstance(result, tuple) else (result,)) if isinstance(part, Tensor)]
        name = func.__name__.partition(".")[0]
        in_place = name.endswith("_")
        if made and given and not in_place and _is_view(made[0], given[0]):
            return result
        spent = self.spent[_kind(name, given)]
        spent.seconds += took
        spent.nbytes += sum(tensor.nbytes for tensor in (*given, *made))
        spent.flops += _flops(name, given, made)
        if name == "conv2d" and not _sums_oscillators(given):
            shapes = given[0].shape, given[1].shape
            self.maps[shapes] = self.maps.get(shapes, 0) + 1
        return result


def operation_times(run: Callable[[], object]) -> OperationTimes:
    """The operations of one call.

    Args:
        run: what is called, without gradients.
    """
    with torch.inference_mode(), OperationTimes() as times:
        run()
    return times


def _kind(name: str, given: Sequence[Tensor]) -> str:
    """The kind of an operation; sums are those of softmax, by the shape of what is summed."""
    if name == "conv2d":
        return NORMS if _sums_oscillators(given) else LINEAR
    if any(tensor.is_complex() for tensor in given):
        return TURNS
    if name == "sum" and given[0].ndim == 3 and given[0].shape[1] == given[0].shape[2]:
        return SOFTMAX
    return KIND.get(name, ELEMENTWISE)


def _sums_oscillators(given: Sequence[Tensor]) -> bool:
    """Whether a linear map is that of `cvoting.models.kuramoto.Oscillators.sums`."""
    return given[1].shape[0] <= BLOCK and given[1].shape[0] == given[1].shape[1]


def _is_view(made: Tensor, given: Tensor) -> bool:
    return made.untyped_storage().data_ptr() == given.untyped_storage().data_ptr()


def _flops(name: str, given: Sequence[Tensor], made: Sequence[Tensor]) -> int:
    """2 per multiply-add of linear maps and of attention."""
    if name == "conv2d" and not _sums_oscillators(given):
        return 2 * made[0].numel() * given[1].shape[1]
    if name in OF_KIND[PRODUCTS]:
        return 2 * made[0].numel() * given[-2].shape[-1]
    return 0
