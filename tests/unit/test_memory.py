"""What networks and jobs keep in memory: against what torch keeps and allocates, and by hand."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd.profiler import profile
from torch.nn import functional

from cvoting.bank_size import bank_bytes
from cvoting.data.puzzles import Puzzles
from cvoting.errors import CvotingError
from cvoting.memory.base import Device, NetworkMemory
from cvoting.memory.jobs import (
    checkpoint_disk,
    fitting_accumulate,
    resume_disk,
    rollout_memory,
    training_memory,
)
from cvoting.memory.registry import MEMORY, network_memory
from cvoting.models import attention, kernels, kuramoto, layers, rotary, transformer
from cvoting.models.base import RecurrentModel
from cvoting.models.registry import MODELS
from cvoting.params.network import NetworkParams
from cvoting.params.reading import read_study
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.study import ModelParams
from cvoting.params.training import TrainingParams
from cvoting.rollouts import roll_out_candidates
from cvoting.tasks.base import Task
from cvoting.training.batches import Batch
from cvoting.training.objective import Objective
from cvoting.training.objective_registry import OBJECTIVES

ROOT = Path(__file__).parents[2]
STUDIES = {name: read_study(ROOT / f"{name}.yaml") for name in ("params", "params/toy", "params/paper")}
#: How far what is said may be from what torch keeps for a backward pass, and from what it allocates at its peak.
KEPT, PEAK_OF_TRAINING, PEAK_OF_ROLLOUTS = 0.02, 0.15, 0.3


class Case(NamedTuple):
    """A model with a task."""

    network: NetworkParams
    training: TrainingParams
    task: Task


def cases(study: str, *datasets: str) -> Iterator[Any]:
    """Every model of a study."""
    for dataset in datasets:
        for name, block in STUDIES[study].models.items():
            case = Case(block.network, block.training, STUDIES[study].datasets[dataset].task)
            yield pytest.param(case, id=f"{study}-{name}-{dataset}")


def variants() -> Iterator[Any]:
    """Switches that change what there is."""
    models = STUDIES["params/toy"].models
    changes: dict[str, tuple[str, dict[str, Any]]] = {
        "akorn_layers": ("akorn", {"layers": 2, "omega": "none"}),
        "akorn_per_pair": ("akorn", {"omega": "per_pair", "random_cells": "all"}),
        "itrsa_fixed": ("itrsa", {"gta": "fixed", "self_attentions": 3}),
        "itrsa_affine": ("itrsa", {"norm_affine": True}),
        "hrm_learned": ("hrm", {"prefix": False, "positions": "learned", "initial_state": "per_row"}),
        "hrm_uneven": ("hrm", {"H_layers": 2, "probabilities": "softmax"}),
    }
    for name, (base, changed) in changes.items():
        block: ModelParams = models[base]
        case = Case(replace(block.network, **changed), block.training, STUDIES["params/toy"].datasets["sudoku"].task)
        yield pytest.param(case, id=name)


LAPTOP = [*cases("params", "sudoku", "maze_hard")]


@pytest.fixture(params=["cpu", "gpu"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Device:
    """With linear maps and attention as on a GPU, where it is one: PyTorch's own."""
    if request.param == "gpu":
        for module in (attention, layers, kuramoto, rotary, transformer):
            if hasattr(module, "attend"):
                monkeypatch.setattr(module, "attend", kernels.fused_attention)
            if hasattr(module, "linear"):
                monkeypatch.setattr(module, "linear", functional.linear)
    return request.param


def make_model(case: Case) -> RecurrentModel:
    """With weights."""
    model = MODELS[case.network.architecture].for_task(case.network, case.task)
    model.initialise(torch.Generator().manual_seed(0))
    return model


def make_batch(case: Case, model: RecurrentModel, rows: int) -> Batch:
    """Any puzzles."""
    rng = torch.Generator().manual_seed(1)
    questions = torch.randint(0, case.task.vocabulary, (rows, case.task.cells), generator=rng)
    noise = torch.randn(rows, 1, *model.noise_shape, generator=rng)
    return Batch(questions, questions.clamp(max=case.task.classes - 1), torch.ones_like(questions).bool(), noise)


def loss(objective: Objective, batch: Batch) -> Tensor:
    """What an update minimises."""
    return objective.minimised(batch, range(len(batch.questions)), 1).loss


def kept(case: Case, rows: int) -> int:
    """Bytes of the storages that a forward pass keeps for the backward pass, but for the weights themselves."""
    model = make_model(case)
    objective, batch = OBJECTIVES[case.training.objective](model, case.training, 0), make_batch(case, model, rows)
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = loss(objective, batch)
    del result
    return sum(storages.values())


def peak(run: Callable[[], object]) -> int:
    """The most bytes of tensors that a call allocates at once."""
    with profile(use_cpu=True, profile_memory=True) as profiled:
        run()
    events = [(e.start_ns(), e.nbytes()) for e in profiled.kineto_results.events() if e.name() == "[memory]"]
    return int(np.cumsum([size for _, size in sorted(events)]).max())


def test_every_architecture_is_counted() -> None:
    assert list(MEMORY) == list(MODELS)


@pytest.mark.parametrize("case", [*cases("params/paper", "sudoku", "maze_hard"), *LAPTOP, *variants()])
def test_a_checkpoint_has_as_many_numbers_as_said(case: Case) -> None:
    with torch.device("meta"):
        model = MODELS[case.network.architecture].for_task(case.network, case.task)
    numbers = sum(tensor.numel() for tensor in model.state_dict().values())
    assert network_memory(case.network, case.task, "gpu").weights == numbers


@pytest.mark.parametrize("case", [*LAPTOP, *variants()])
def test_a_row_keeps_for_its_backward_pass_what_is_said(case: Case, device: Device) -> None:
    memory, training = network_memory(case.network, case.task, device), case.training
    steps = 1 if training.segments else training.T_train - (training.detach_step or 0)
    # Of rows alone, so without what is derived from weights.
    found = kept(case, 4) - kept(case, 3)
    assert 4 * (memory.kept_once + steps * memory.kept) == pytest.approx(found, rel=KEPT + 0.1 * affine(case))


def affine(case: Case) -> bool:
    """Whether norms have gains: some kernels keep the argument of the gains too, and some do not."""
    return getattr(case.network, "norm_affine", False)


@pytest.mark.slow
@pytest.mark.parametrize("case", LAPTOP)
def test_an_update_allocates_at_its_peak_what_is_said(case: Case, device: Device) -> None:
    rows, model = 40, make_model(case)
    training = replace(case.training, batch=rows)
    objective, batch = OBJECTIVES[training.objective](model, training, 0), make_batch(case, model, rows)
    loss(objective, batch).backward()  # of segments, there are states from now on
    model.zero_grad(set_to_none=True)
    found = peak(lambda: loss(objective, batch).backward())
    memory = network_memory(case.network, case.task, device)
    # The rest is there before: weights, average, moments and noise; of segments, the states of the last one.
    before = 4 * memory.weights + rows * (memory.noise + bool(training.segments) * memory.state)
    assert training_memory(memory, training, 0) - 4 * before == pytest.approx(found, rel=PEAK_OF_TRAINING)


@pytest.mark.slow
@pytest.mark.parametrize("case", LAPTOP)
def test_rollouts_allocate_at_their_peak_what_is_said(case: Case, device: Device) -> None:
    model, T, at_once = make_model(case).eval(), case.training.T_train, 40
    plan = RolloutPlan(T_eval=T, candidates=at_once, chunk=2 * at_once)
    questions = make_batch(case, model, 2).questions.numpy().astype(np.uint8)
    puzzles = Puzzles(questions, questions, "generated", "any puzzles")
    found = peak(lambda: roll_out_candidates(model, case.task, puzzles, plan, 0, torch.device("cpu")))
    memory = network_memory(case.network, case.task, device)
    said = rollout_memory(memory, plan, case.task, case.network, len(puzzles))
    bank = sum(bank_bytes(plan, case.task, case.network, 2, 2 * case.task.cells).values())
    # Weights and the numpy array of noise are not allocated by torch there, nor is the bank.
    elsewhere = 4 * (memory.weights + 2 * at_once * memory.noise) + 2 * bank
    assert said - elsewhere == pytest.approx(found, rel=PEAK_OF_ROLLOUTS)


MADE_UP = NetworkMemory(
    weights=10**9,
    noise=100,
    condition=7,
    state=1000,
    latent=900,
    working=10_000,
    kept_once=100_000,
    kept=10**6,
    logits=3,
)


def test_a_training_by_hand() -> None:
    training = replace(STUDIES["params/toy"].models["itrsa"].training, T_train=5, detach_step=3, batch=6)
    stays = 6 * 10**9 + (6 + 4) * 100
    row = 7 + 100_000 + 2 * 10**6 + 3 + 10_000
    assert training_memory(MADE_UP, training, validation=4) == 4 * (stays + 6 * row)
    assert training_memory(MADE_UP, training, validation=4, accumulate=3) == 4 * (stays + 2 * row)
    # In parts of 2, 2, 1 and 1, or of 1.
    assert training_memory(MADE_UP, training, validation=4, accumulate=4) == 4 * (stays + 2 * row)
    assert training_memory(MADE_UP, training, validation=4, accumulate=6) == 4 * (stays + row)
    whole = replace(training, detach_step=None)
    assert training_memory(MADE_UP, whole, validation=4) - training_memory(MADE_UP, training, 4) == 4 * 6 * 3 * 10**6
    # Where little is kept, validation takes more: a step without gradient, of as many rows as there are.
    lean = replace(MADE_UP, kept=0, kept_once=0, state=10**5)
    assert training_memory(lean, training, validation=4, accumulate=6) == 4 * (stays + 4 * (7 + 2 * 10**5 + 10_000))


def test_a_training_by_segments_by_hand() -> None:
    training = replace(STUDIES["params/toy"].models["hrm"].training, batch=6)
    stays = 6 * 10**9 + (6 + 4) * 100 + 6 * 1000
    row = 7 + 100_000 + 10**6 + 10 * 3 + 2 * 1000 + 10_000
    assert training_memory(MADE_UP, training, validation=4, accumulate=2) == 4 * (stays + 3 * row)
    assert resume_disk(MADE_UP, training) == 4 * (4 * 10**9 + 6 * 1000)


def test_rollouts_by_hand() -> None:
    study = STUDIES["params/toy"]
    task, network = study.datasets["sudoku"].task, study.models["itrsa"].network
    row = 2 * 100 + 7 + 1000 + 10_000 + 4 * 900 + (4 + 10) * 3
    for plan, rows, part in (
        (RolloutPlan(T_eval=9, candidates=5, chunk=12), 2 * 5, 32),
        (RolloutPlan(T_eval=9, candidates=50, chunk=12), 12, 32),
        (RolloutPlan(T_eval=9, candidates=1, chunk=200, shards=2), 200, 200),
    ):
        bank = sum(bank_bytes(plan, task, network, part, part * 16).values())
        assert rollout_memory(MADE_UP, plan, task, network, 400) == 4 * (2 * 10**9 + rows * row) + 2 * bank
    once = RolloutPlan(T_eval=1, candidates=5, chunk=5)
    bank = sum(bank_bytes(once, task, network, 3, 3 * 16).values())
    row = 2 * 100 + 7 + 1000 + 10_000 + 900 + (1 + 10) * 3
    assert rollout_memory(MADE_UP, once, task, network, 3) == 4 * (2 * 10**9 + 5 * row) + 2 * bank


def test_a_checkpoint_holds_raw_and_averaged_weights_and_a_state_also_two_moments() -> None:
    assert checkpoint_disk(MADE_UP) == 8 * 10**9
    assert resume_disk(MADE_UP, STUDIES["params/toy"].models["itrsa"].training) == 16 * 10**9


def test_a_batch_is_divided_into_the_fewest_parts_that_fit() -> None:
    training = replace(STUDIES["params/toy"].models["itrsa"].training, batch=6)
    sizes = [training_memory(MADE_UP, training, 4, parts) for parts in range(1, 7)]
    assert fitting_accumulate(MADE_UP, training, 4, sizes[0]) == 1
    assert fitting_accumulate(MADE_UP, training, 4, sizes[0] - 1) == 2
    assert fitting_accumulate(MADE_UP, training, 4, sizes[2]) == 3
    assert fitting_accumulate(MADE_UP, training, 4, sizes[5] - 1) is None


def test_attention_of_a_gpu_keeps_no_array_of_cells_by_cells() -> None:
    """HRM of the paper's size on its mazes, 901 tokens: two times 4 blocks of 8 heads with 901 powers per token."""
    network, task = STUDIES["params/paper"].models["hrm"].network, STUDIES["params/paper"].datasets["maze_hard"].task
    on_cpu, on_gpu = (network_memory(network, task, device) for device in ("cpu", "gpu"))
    # 512 channels, 1536 hidden ones; per block 8 C, a sum per head, two mean squares, 4 hidden.
    assert on_gpu.kept == 901 * 8 * (8 * 512 + 8 + 2 + 4 * 1536)
    assert on_cpu.kept - on_gpu.kept == 901 * 8 * (8 * 901 + 512)


def test_an_architecture_that_nobody_counts_is_refused_with_the_choices() -> None:
    @dataclass(frozen=True)
    class Unknown(NetworkParams):
        architecture: str = "mean_field"

    with pytest.raises(CvotingError, match="memory of 'mean_field': expected one of akorn, hrm, itrsa, transformer"):
        network_memory(Unknown(), STUDIES["params"].datasets["sudoku"].task, "gpu")


def test_counting_imports_no_torch() -> None:
    code = (
        "import sys, cvoting.memory.registry, cvoting.memory.jobs, cvoting.estimate_jobs; "
        "sys.exit(' '.join({'torch', 'numba', 'scipy'} & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
