"""Speed of the models beside that of the machine's matrix product: `make bench`.

Rates are floating point operations per second in float32: 2 per multiply-add of linear maps and attention, the backward
pass counting twice the forward pass of the steps that it goes through.  The yardstick is the product of two 2048 x 2048
matrices on the same threads, measured in turn with the model in the same process, so that what else the machine does
weighs on both.  It is no upper bound: on some processors oneDNN, which computes our linear maps, is faster than the
BLAS of `torch.mm`.
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

from cvoting.models.base import RecurrentModel
from cvoting.models.registry import MODELS
from cvoting.params.core import build
from cvoting.params.training import TrainingParams
from cvoting.training.batches import Batch
from cvoting.training.objective import Objective
from cvoting.training.objective_registry import OBJECTIVES

REPETITIONS = 5
SIDE = 2048


@dataclass(frozen=True)
class Case:
    """A model and a board, with how many puzzles are rolled out at once and trained on at once.

    Training on ItrSA++ is truncated: of `steps`, those after `detach_step` have gradients.  Steps of HRM are segments,
    of which a training step makes two, the second without gradients for the targets of the first.
    """

    architecture: str
    channels: int
    side: int
    steps: int
    rollouts: int
    batch: int
    detach_step: int | None = None


CASES = (
    Case("akorn", 512, 9, 16, 16, 16),
    Case("akorn", 128, 9, 16, 32, 64),
    Case("akorn", 64, 9, 16, 32, 100),
    Case("akorn", 64, 6, 16, 100, 100),
    Case("itrsa", 384, 9, 16, 16, 16, 14),
    Case("itrsa", 384, 9, 16, 16, 16),
    Case("itrsa", 64, 6, 8, 100, 100, 6),
    Case("itrsa", 64, 6, 8, 100, 100),
    Case("hrm", 512, 9, 2, 16, 16),
    Case("hrm", 64, 6, 2, 100, 100),
    Case("transformer", 512, 9, 1, 16, 16),
    Case("transformer", 64, 6, 1, 100, 100),
)


@dataclass(frozen=True)
class Result:
    """Median rates in GFLOP/s, the median time of a training step, and what its forward pass keeps for the backward."""

    case: Case
    matrix_product: float
    rollout: float
    training: float
    training_seconds: float
    kept_mib: float


def network(case: Case) -> dict[str, object]:
    """The parameters of the paper and the released code, but for the width."""
    common = {"architecture": case.architecture, "channels": case.channels, "heads": 8}
    akorn = {"oscillator_dim": 4, "layers": 1, "step_size": 1.0}
    akorn |= {"omega": "global", "omega_initial": 0.5, "omega_learnable": True}
    itrsa = {"self_attentions": 4, "gta": "learnable", "norm_affine": False, "norm_eps": 1e-6}
    itrsa |= {"input_mixing": {"kind": "cross_attention"}}
    itrsa |= {"feed_forward": {"kind": "swiglu", "hidden": 4 * case.channels}}
    transformer = {"blocks": 8, "hidden": 2 * case.channels}
    layers = 4 if case.channels == 512 else 2
    hrm = {"expansion": 4, "H_cycles": 2, "L_cycles": 2, "H_layers": layers, "L_layers": layers, "prefix": True}
    hrm |= {"positions": "rope", "initial_state": "per_token"}
    of = {"akorn": akorn, "hrm": hrm, "itrsa": itrsa, "transformer": transformer}
    return common | of[case.architecture]


def make_model(case: Case, **changes: object) -> RecurrentModel:
    """The model of a case, with random weights; keyword arguments change its network."""
    kind = MODELS[case.architecture]
    params = build(kind.Params, network(case) | changes)
    tokens = case.side + (2 if case.architecture == "hrm" else 1)
    classes = tokens if case.architecture == "hrm" else case.side
    model = kind(params, (case.side, case.side), vocabulary=tokens, classes=classes)
    model.initialise(torch.Generator().manual_seed(0))
    return model


def objective(case: Case, model: RecurrentModel) -> Objective:
    """What a training step of a case minimises."""
    by_segments = case.architecture == "hrm"
    segments = {"act": "off", "exploration": 0.0, "prefix_lr": 1e-4, "prefix_weight_decay": 0.0}
    name = "adam_atan2" if by_segments else "adam"
    training = {
        "T_train": case.steps,
        "detach_step": case.detach_step,
        "segments": segments if by_segments else None,
        "updates": 1,
        "batch": case.batch,
        "optimizer": {"name": name, "lr": 1e-4, "betas": [0.9, 0.95], "weight_decay": 0.0, "warmup_updates": 0},
        "clip": None,
        "loss_positions": "all",
        "augmentation": "none",
        "ema": {"decay": 0.0, "after": 0, "every": 1},
        "validate_every": 1,
        "checkpoint_every": 1,
    }
    params = build(TrainingParams, training)
    return OBJECTIVES[params.objective](model, params, seed=0)


def training_flops(case: Case, model: RecurrentModel) -> int:
    """Operations of a training step for one puzzle; of HRM, one update of each module is differentiated."""
    if case.architecture == "hrm":
        differentiated = make_model(case, H_cycles=1, L_cycles=1).flops(1)
    else:
        differentiated = model.flops(case.steps - (case.detach_step or 0))
    return model.flops(case.steps) + 2 * differentiated


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

    rollouts, trained = inputs(case.rollouts), objective(case, model)
    questions, noise = inputs(case.batch)
    everywhere = torch.ones_like(questions, dtype=torch.bool)
    batch = Batch(questions, questions.clamp(max=case.side - 1), everywhere, noise)

    @torch.inference_mode()
    def roll_out() -> None:
        model(*rollouts, case.steps)

    def train() -> None:
        model.zero_grad(set_to_none=True)
        trained.minimised(batch, 0).loss.backward()

    work = [
        (lambda: torch.mm(left, right), 2 * SIDE**3),
        (roll_out, model.flops(case.steps) * case.rollouts),
        (train, training_flops(case, model) * case.batch),
    ]
    for run, _ in work:
        run()
    times = [[seconds(run) for run, _ in work] for _ in range(REPETITIONS)]
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    rates = (flops / median / 1e9 for (_, flops), median in zip(work, medians, strict=True))
    return Result(case, *rates, medians[-1], kept_mib(lambda: trained.minimised(batch, 0).loss))


def kept_mib(forward: Callable[[], object]) -> float:
    """Memory of the tensors that a forward pass keeps for the backward pass, in MiB."""
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = forward()
    del result
    return sum(kept.values()) / 2**20


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
    print(f"{machine}; torch {torch.__version__}, {arguments.threads} threads; float32, GFLOP/s")
    print("model           C  cells  steps  matrix product        rollouts     training steps         kept")
    results = []
    for case in CASES:
        result = measure(case)
        results.append(asdict(result))
        rates = [f"{r:8.1f} {r / result.matrix_product:6.0%}" for r in (result.rollout, result.training)]
        steps = f"{case.steps}-{case.detach_step}" if case.detach_step else f"{case.steps}"
        print(
            f"{case.architecture:<11} {case.channels:>5} {case.side**2:>6} {steps:>6} {result.matrix_product:>15.1f} "
            f"{rates[0]:>15} {rates[1]:>18} {result.training_seconds:5.2f} s {result.kept_mib:7.0f} MiB",
            flush=True,
        )
    if arguments.json:
        about = {"machine": machine, "torch": torch.__version__, "threads": arguments.threads}
        arguments.json.write_text(json.dumps(about | {"results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
