"""Speed of the models beside that of the machine's matrix product: `make bench`.

Rates are floating point operations per second in float32: 2 per multiply-add of linear maps and attention, the backward
pass counting twice the forward pass.  The yardstick is the product of two 2048 x 2048 matrices on the same threads,
measured in turn with the model in the same process, so that what else the machine does weighs on both.  It is no upper
bound: on some processors oneDNN, which computes our linear maps, is faster than the BLAS of `torch.mm`.
"""

import argparse
import json
import os
import platform
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from cvoting.models.akorn import AKOrN
from cvoting.params.akorn import AkornParams

STEPS = 16
REPETITIONS = 5
SIDE = 2048


@dataclass(frozen=True)
class Case:
    """A width and a board, with how many puzzles are rolled out at once and trained on at once."""

    channels: int
    side: int
    rollouts: int
    batch: int


CASES = (Case(512, 9, 16, 16), Case(128, 9, 32, 64), Case(64, 9, 32, 100), Case(64, 6, 100, 100))


@dataclass(frozen=True)
class Result:
    """Median rates in GFLOP/s."""

    case: Case
    matrix_product: float
    rollout: float
    training: float


def make_model(case: Case) -> AKOrN:
    """AKOrN as in Table 3, but for its width."""
    params = AkornParams(
        architecture="akorn",
        channels=case.channels,
        oscillator_dim=4,
        heads=8,
        layers=1,
        step_size=1.0,
        omega="global",
        omega_initial=0.5,
        omega_learnable=True,
    )
    model = AKOrN(params, (case.side, case.side), vocabulary=case.side + 1, classes=case.side)
    model.initialise(torch.Generator().manual_seed(0))
    return model


def seconds(run: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure(case: Case) -> Result:
    """Matrix product, rollouts and training steps in turn, `REPETITIONS` times."""
    rng = torch.Generator().manual_seed(1)
    model = make_model(case)
    left, right = (torch.randn(SIDE, SIDE, generator=rng) for _ in range(2))

    def inputs(puzzles: int) -> tuple[torch.Tensor, torch.Tensor]:
        questions = torch.randint(0, case.side + 1, (puzzles, case.side**2), generator=rng)
        return questions, torch.randn(puzzles, 1, *model.noise_shape, generator=rng)

    rollouts, batch = inputs(case.rollouts), inputs(case.batch)

    @torch.inference_mode()
    def roll_out() -> None:
        model(*rollouts, STEPS)

    def train() -> None:
        model.zero_grad(set_to_none=True)
        model(*batch, STEPS).logsumexp(-1).mean().backward()

    work = [
        (lambda: torch.mm(left, right), 2 * SIDE**3),
        (roll_out, model.flops(STEPS) * case.rollouts),
        (train, 3 * model.flops(STEPS) * case.batch),
    ]
    for run, _ in work:
        run()
    times = [[seconds(run) for run, _ in work] for _ in range(REPETITIONS)]
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    return Result(case, *(flops / median / 1e9 for (_, flops), median in zip(work, medians, strict=True)))


def processor() -> str:
    """The processor's name, where the system tells."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return named[1] if named else platform.processor() or platform.machine()


def main() -> None:
    """Measure every case and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="CPU threads (default: torch's)")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    machine = f"{processor()}, {os.cpu_count()} cores"
    print(f"{machine}; torch {torch.__version__}, {arguments.threads} threads; AKOrN, T = {STEPS}, float32, GFLOP/s")
    print(f"{'C':>5} {'cells':>6} {'matrix product':>15} {'rollouts':>18} {'training steps':>18}")
    results = []
    for case in CASES:
        result = measure(case)
        results.append(asdict(result))
        rates = [f"{r:8.1f} {r / result.matrix_product:8.0%}" for r in (result.rollout, result.training)]
        print(
            f"{case.channels:>5} {case.side**2:>6} {result.matrix_product:>15.1f} {rates[0]:>18} {rates[1]:>18}",
            flush=True,
        )
    if arguments.json:
        about = {"machine": machine, "torch": torch.__version__, "threads": arguments.threads, "steps": STEPS}
        arguments.json.write_text(json.dumps(about | {"results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
