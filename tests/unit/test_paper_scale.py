"""The study at the paper's scale: complete, and every model of it trains and rolls out at its full size."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from cvoting.bank import BankHeader
from cvoting.bank_file import read_banks
from cvoting.data.puzzles import Puzzles
from cvoting.data.registry import SOURCES
from cvoting.models.registry import MODELS
from cvoting.params.datasets import GeneratedMaze, GeneratedSudoku, Splits
from cvoting.params.reading import read_study
from cvoting.params.rollouts import RolloutPlan
from cvoting.rollouts import prepare_start, roll_out
from cvoting.training.loop import train
from cvoting.training.objective_registry import OBJECTIVES
from cvoting.training.processes import Processes

ROOT = Path(__file__).parents[2]
PAPER, LAPTOP = (read_study(ROOT / name) for name in ("params/paper.yaml", "params.yaml"))
CPU = torch.device("cpu")
#: One run for each model, task and number of steps.
RUNS = {
    (run.model, PAPER.datasets[run.dataset].task.name, PAPER.training_of(name).T_train): name
    for name, run in PAPER.runs.items()
}


def test_the_study_has_every_run_figure_and_table_that_the_laptop_study_has() -> None:
    assert PAPER.models.keys() == LAPTOP.models.keys()
    for block in ("runs", "banks", "figures", "tables"):
        assert set(getattr(LAPTOP, block)) - set(getattr(PAPER, block)) == set()


@pytest.fixture(scope="module")
def puzzles(tmp_path_factory):
    """A few generated puzzles of the size of a dataset of the study."""
    made: dict[str, Puzzles] = {}

    def of(dataset: str) -> Puzzles:
        task, splits = PAPER.datasets[dataset].task, Splits(train=2, validation=0, test=0)
        if task.name not in made:
            source = (
                GeneratedMaze(
                    kind="generated_maze", wall_fraction=(0.3, 0.4), path_cells=(20, 400), seed=0, splits=splits
                )
                if task.name == "maze"
                else GeneratedSudoku(kind="generated_sudoku", givens=(30, 40), seed=0, splits=splits)
            )
            made[task.name] = SOURCES[source.kind]("few", task, source, tmp_path_factory.mktemp("raw"))["train"]
        return made[task.name]

    return of


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS.values())
def test_a_model_of_the_papers_size_makes_an_update_and_rollouts(run: str, puzzles, tmp_path) -> None:
    block, training = PAPER.runs[run], PAPER.training_of(run)
    task, network = PAPER.datasets[block.dataset].task, PAPER.models[block.model].network
    batch = 1 if task.name == "maze" else 2
    few = puzzles(block.dataset)[:batch]
    optimizer = replace(training.optimizer, warmup_updates=0)
    training = replace(training, updates=1, batch=batch, accumulate=1, augmentation="none", optimizer=optimizer)
    if training.segments:
        training = replace(training, T_train=2)  # an update is one segment, whatever the most that a row makes
    model = MODELS[network.architecture].for_task(network, task)
    objective = OBJECTIVES[training.objective](model, training, 0)
    trained = train(objective, task, few, few, tmp_path / "state", Processes(CPU))
    (row,) = trained.log
    assert np.isfinite(list(row.values())).all()
    assert row["gradient_norm"] > 0
    bank = next(bank for bank in PAPER.banks.values() if bank.run == run)
    steps = min(bank.T_eval, 2)
    plan = RolloutPlan(T_eval=steps, candidates=min(bank.candidates, 2), chunk=2, precision=bank.precision)
    prepare_start(model, model.initial_state_kind, plan.candidates, False)
    header = BankHeader(run, block.model, block.dataset, "test", few.origin, few.source, steps, 0, 0)
    roll_out(model, task, few[:1], plan, header, tmp_path / "bank.parquet", tmp_path / "partial", CPU)
    (made,) = read_banks(tmp_path / "bank.parquet")
    assert made.scores["confidence"].shape == (1, plan.candidates)
    assert ((made.scores["confidence"] > 0) & (made.scores["confidence"] <= 1)).all()
