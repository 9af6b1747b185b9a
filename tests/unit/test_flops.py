"""Floating point operations against what torch counts, through the engine and the training loop, and by hand."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest
import torch
import yaml
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from cvoting.bank import BankHeader
from cvoting.data.puzzles import Puzzles
from cvoting.data.registry import SOURCES
from cvoting.errors import CvotingError
from cvoting.flops.base import NetworkFlops
from cvoting.flops.registry import FLOPS, network_flops
from cvoting.flops.rollouts import bank_flops, rollout_flops
from cvoting.flops.training import run_flops, training_flops
from cvoting.models.base import RecurrentModel
from cvoting.models.kuramoto import Oscillators
from cvoting.models.registry import MODELS
from cvoting.params.core import build
from cvoting.params.datasets import Splits
from cvoting.params.network import NetworkParams
from cvoting.params.rollouts import RolloutPlan
from cvoting.params.study import ModelParams, Study
from cvoting.params.training import TrainingParams
from cvoting.rollouts import roll_out
from cvoting.tasks.base import Task
from cvoting.training.loop import train
from cvoting.training.objective_registry import OBJECTIVES
from cvoting.training.processes import Processes

ROOT = Path(__file__).parents[2]
STUDIES = {
    name: build(Study, yaml.safe_load((ROOT / path).read_text()))
    for name, path in {"toy": "params/toy.yaml", "laptop": "params.yaml", "paper": "params/paper.yaml"}.items()
}
#: Splits of a few puzzles, of which the first two are trained on or rolled out.
FEW = Splits(train=4, validation=3, test=2)


class Case(NamedTuple):
    """A model of a study with one of the study's tasks."""

    network: NetworkParams
    training: TrainingParams
    task: Task
    dataset: tuple[str, str]


def cases(name: str) -> list[Any]:
    """Every model of a study on a Sudoku and on a maze; of toys with switches that no study turns."""
    study, made = STUDIES[name], []
    models = study.models | (variants() if name == "toy" else {})
    for dataset in ("sudoku", "maze_hard"):
        for model, block in models.items():
            case = Case(block.network, block.training, study.datasets[dataset].task, (name, dataset))
            marks = [pytest.mark.slow] if name == "laptop" or dataset == "maze_hard" else []
            made.append(pytest.param(case, id=f"{name}-{model}-{dataset}", marks=marks))
    return made


def variants() -> dict[str, ModelParams]:
    """Switches that change what is computed or differentiated."""
    models = STUDIES["toy"].models
    changes: dict[str, tuple[str, dict[str, Any]]] = {
        "akorn_layers": ("akorn", {"layers": 2, "omega": "none"}),
        "akorn_all_random": ("akorn", {"random_cells": "all"}),
        "itrsa_affine": ("itrsa", {"norm_affine": True, "gta": "fixed"}),
        "itrsa_linear_affine": ("itrsa_linear_mixing", {"norm_affine": True}),
        "hrm_learned": ("hrm", {"prefix": False, "positions": "learned", "initial_state": "per_row"}),
        "hrm_uneven": ("hrm", {"H_cycles": 1, "L_cycles": 3, "H_layers": 2, "probabilities": "softmax"}),
    }
    made = {
        name: replace(models[base], network=replace(models[base].network, **changed))
        for name, (base, changed) in changes.items()
    }
    akorn = models["akorn"]
    return made | {"akorn_truncated": replace(akorn, training=replace(akorn.training, detach_step=1))}


TOY_AND_LAPTOP = [*cases("toy"), *cases("laptop")]


@pytest.fixture(autouse=True)
def sums_are_no_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over an oscillator as sums: by convention they count nothing, and `Oscillators` writes them as products."""

    def sums(self: Oscillators, x: Tensor, offset: Tensor | None = None) -> Tensor:
        totals = (x.unflatten(-1, (-1, 1, len(self.ones))) * self.ones).sum(-1)
        return (totals if offset is None else totals + offset).flatten(-2)

    monkeypatch.setattr(Oscillators, "sums", sums)


@pytest.fixture(scope="module")
def few_puzzles(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], dict[str, Puzzles]]:
    """A few puzzles of each dataset, generated once."""
    made: dict[tuple[str, str], dict[str, Puzzles]] = {}

    def few(case: Case) -> dict[str, Puzzles]:
        if case.dataset not in made:
            study, name = case.dataset
            source = replace(STUDIES[study].datasets[name].source, splits=FEW)
            made[case.dataset] = SOURCES[source.kind](name, case.task, source, tmp_path_factory.mktemp("raw"))
        return made[case.dataset]

    return few


def make_model(case: Case) -> RecurrentModel:
    """With weights."""
    model = MODELS[case.network.architecture].for_task(case.network, case.task)
    model.initialise(torch.Generator().manual_seed(0))
    return model


class NoModules:
    """In place of a tracker of modules, whose hooks ask for gradients where the engine has none."""

    parents: ClassVar[set[str]] = {"Global"}

    def __enter__(self) -> None: ...

    def __exit__(self) -> None: ...


def counted(run: Callable[[], object]) -> int:
    """What torch counts in a call."""
    counter = FlopCounterMode(display=False)
    counter.mod_tracker = NoModules()
    with counter:
        run()
    return counter.get_total_flops()


def plans(network: NetworkParams) -> list[RolloutPlan]:
    """Few and many steps and candidates, in one slice and in several, some read out on the way."""
    if network.step_problems(2):
        return [RolloutPlan(T_eval=1, candidates=3, chunk=2)]
    if network.fixed_start:
        return [RolloutPlan(T_eval=5, candidates=1, chunk=4, read_at=(1, 5))]
    read = RolloutPlan(T_eval=5, candidates=3, chunk=2, read_at=(1, 2, 5), read_candidates=2, logit_candidates=3)
    return [read, RolloutPlan(T_eval=2, candidates=2, chunk=4, temperatures=(0.5,))]


def test_every_architecture_is_counted() -> None:
    assert list(FLOPS) == list(MODELS)


@pytest.mark.parametrize("case", TOY_AND_LAPTOP)
def test_the_engine_computes_what_a_bank_is_said_to_cost(case: Case, few_puzzles, tmp_path) -> None:
    model, puzzles = make_model(case), few_puzzles(case)["test"]
    header = BankHeader("run", "model", "dataset", "test", "generated", "a generator", 0, 0, 0)
    for number, plan in enumerate(plans(case.network)):
        path, partial, device = tmp_path / f"{number}.parquet", tmp_path / "partial", torch.device("cpu")
        total = counted(lambda: roll_out(model, case.task, puzzles, plan, header, path, partial, device))  # noqa: B023
        assert total == len(puzzles) * bank_flops(network_flops(case.network, case.task), plan)


@pytest.mark.parametrize("case", TOY_AND_LAPTOP)
def test_the_training_loop_computes_what_a_run_is_said_to_cost(case: Case, few_puzzles, tmp_path) -> None:
    puzzles, model = few_puzzles(case), make_model(case)
    optimizer = replace(case.training.optimizer, warmup_updates=0)
    training = replace(case.training, updates=3, batch=2, validate_every=2, augmentation="none", optimizer=optimizer)
    objective = OBJECTIVES[training.objective](model, training, 0)
    resume, processes = tmp_path / "state", Processes(torch.device("cpu"))
    total = counted(lambda: train(objective, case.task, puzzles["train"], puzzles["validation"], resume, processes))
    network = network_flops(case.network, case.task)
    assert total == run_flops(network, training, validation=3)
    assert total == 3 * training_flops(network, training) + 2 * 3 * rollout_flops(network, training.T_train, 1)


@pytest.mark.parametrize("case", cases("paper"))
def test_models_of_the_papers_size_cost_what_torch_counts_without_computing_it(
    case: Case,
) -> None:
    """Tensors of the device `meta` have a shape and no numbers: linear maps and attention take the path of a GPU."""
    with torch.device("meta"):
        model = MODELS[case.network.architecture].for_task(case.network, case.task)
        questions = torch.zeros(2, case.task.cells, dtype=torch.long)
        noise = torch.empty(2, 3, *model.noise_shape)
    steps = 1 if case.network.step_problems(2) else 2
    total = counted(lambda: model(questions, noise, steps))
    assert total == 2 * rollout_flops(network_flops(case.network, case.task), steps, 3)


def test_a_bank_by_hand() -> None:
    network = NetworkFlops(embed=10_000_000, start=100_000, step=1000, readout=1, differentiated=1000, of_state=0)
    assert rollout_flops(network, steps=6, candidates=5) == 10_000_000 + 5 * (100_000 + 6 * 1000 + 1)
    plan = RolloutPlan(T_eval=6, candidates=5, chunk=2, read_at=(1, 2, 4, 6), read_candidates=3)
    # Slices of 2, 2 and 1; all are read out at steps 3 to 6, and three candidates at steps 1 and 2 too.
    assert bank_flops(network, plan) == 3 * 10_000_000 + 5 * (100_000 + 6 * 1000) + 5 * 4 + 3 * 2


def test_an_update_by_hand() -> None:
    training = replace(STUDIES["toy"].models["itrsa"].training, T_train=5, detach_step=3, batch=7)
    network = NetworkFlops(embed=10**7, start=10**5, step=1000, readout=1, differentiated=1000, of_state=30)
    # All forward, and twice as much backward but for the three steps before, and for one gradient of a constant state.
    assert training_flops(network, training) == 7 * (3 * (10**7 + 10**5 + 5 * 1000 + 1) - 2 * 3 * 1000 - 30)
    whole = replace(training, detach_step=None)
    learned_start = replace(network, starts_at_noise=False)
    assert training_flops(network, whole) == 7 * (3 * (10**7 + 10**5 + 5 * 1000 + 1) - 30)
    assert training_flops(learned_start, whole) == 7 * 3 * (10**7 + 10**5 + 5 * 1000 + 1)
    assert training_flops(learned_start, training) == training_flops(network, training)


def test_an_update_by_segments_by_hand() -> None:
    training = replace(STUDIES["toy"].models["hrm"].training, batch=7)
    network = NetworkFlops(embed=0, step=6000, readout=1, differentiated=2000, of_state=0)
    assert training_flops(network, training) == 7 * (2 * 6000 + 1 + 2 * (2000 + 1))


def test_akorn_of_the_papers_size_by_hand() -> None:
    network = network_flops(STUDIES["paper"].models["akorn"].network, STUDIES["paper"].datasets["sudoku"].task)
    # 81 cells of 512 channels: per cell four maps of 2 x 512 x 512, and attention of 4 x 81 x 512.
    assert network.step == 81 * (4 * 524_288 + 165_888) == 183_306_240
    # Oscillators of 4 channels, 9 classes: maps to 4 x 512 channels and three to 512, then 2 x 512 x 9.
    assert network.readout == 81 * (7 * 524_288 + 9_216) == 298_017_792


def test_an_architecture_that_nobody_counts_is_refused_with_the_choices() -> None:
    @dataclass(frozen=True)
    class Unknown(NetworkParams):
        architecture: str = "mean_field"

    expected = "operations of 'mean_field': expected one of akorn, hrm, itrsa, transformer"
    with pytest.raises(CvotingError, match=expected):
        network_flops(Unknown(), STUDIES["toy"].datasets["sudoku"].task)


def test_counting_imports_no_torch() -> None:
    code = (
        "import sys, cvoting.flops.registry, cvoting.flops.rollouts, cvoting.flops.training; "
        "sys.exit(' '.join({'torch', 'numba', 'pandas', 'scipy'} & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_count_is_a_whole_number() -> None:
    for study in STUDIES.values():
        for model in study.models.values():
            network = network_flops(model.network, study.datasets["maze_hard"].task)
            assert all(isinstance(getattr(network, field.name), int) for field in fields(network))
