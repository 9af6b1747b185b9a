"""Rollouts at the paper's widths beside what the machine can do: the share that each kind of work takes, and why.

A rollout is made as it is, beside the yardsticks, and with every operation timed, in turn with one whose operations are
not: of either the fastest one counts, as only what else the machine does makes it slower.  What the whole takes beyond
its operations is the interpreter's.  A kind of work is bound by arithmetic where its GFLOP/s are near
those of the linear map, and by memory where its GB/s are near those of the copy.
"""

import torch

from bench_rollouts import network_alone
from cases import Case
from cvoting.models.layers import linear
from harness import Row, Settings, Work, compare, seconds
from op_times import LINEAR, REST, OperationTimes, operation_times
from yardsticks import copying, linear_map, matrix_product

CASES = (
    Case("paper", "itrsa-sudoku_extreme", 16, steps=4, truncated=False),
    Case("paper", "hrm-sudoku_extreme", 16, steps=1),
    Case("paper", "akorn-sudoku", 16, steps=16),
)
QUICK = (Case("toy", "akorn-sudoku", 2),)
#: What the linear maps by themselves are called.
ALONE = "linear maps alone"
#: Rollouts whose operations are timed.
TIMED = 7


def measure(settings: Settings) -> list[Row]:
    """Of every case its rate, that of its linear maps alone at their shapes, and a row for every kind of work."""
    yardsticks = [linear_map(settings), matrix_product(settings), copying(settings)]
    rows = []
    for case in QUICK if settings.quick else CASES:
        whole = network_alone(case)
        whole.run()
        tries = [(seconds(whole.run), operation_times(whole.run)) for _ in range(1 if settings.quick else TIMED)]
        fastest = min(took for took, _ in tries)
        timed = min((times for _, times in tries), key=lambda times: times.seconds)
        rows += compare([whole, maps_alone(case, timed)], yardsticks, settings)
        rows += kinds(case, timed, fastest)
    return rows


def maps_alone(case: Case, times: OperationTimes) -> Work:
    """The linear maps of a rollout one after another, on random numbers.

    Args:
        case: names them.
        times: their shapes.
    """
    maps = [(torch.randn(x[0], x[3], x[1]), torch.randn(w[:2]), count) for (x, w), count in times.maps.items()]

    @torch.inference_mode()
    def run() -> None:
        for x, weight, count in maps:
            for _ in range(count):
                linear(x, weight)

    return Work(f"{case.name}: {ALONE}", run, times.spent[LINEAR].flops / 1e9, "GFLOP")


def kinds(case: Case, timed: OperationTimes, whole: float) -> list[Row]:
    """The share of each kind of work in the time of a rollout, in percent.

    Args:
        case: names them.
        timed: a rollout whose operations were timed.
        whole: seconds of a rollout whose operations were not.
    """
    rows = []
    for kind, spent in timed.spent.items():
        row = share(f"{case.name}: {kind}", spent.seconds, whole)
        row["GB/s"] = spent.nbytes / spent.seconds / 1e9 if spent.seconds else 0.0
        if spent.flops:
            row["GFLOP/s"] = spent.flops / spent.seconds / 1e9
        rows.append(row)
    return [*rows, share(f"{case.name}: {REST}", whole - timed.seconds, whole)]


def share(what: str, took: float, whole: float) -> Row:
    """A part of the time.

    Args:
        what: names it.
        took, whole: seconds.
    """
    return {"what": what, "value": 100 * took / whole, "unit": "% of the time", "seconds": took}
