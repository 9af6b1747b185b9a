"""The models that are measured: those of the studies, at their sizes, with random weights."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import torch

from cvoting.models.base import RecurrentModel
from cvoting.models.registry import MODELS
from cvoting.params.network import NetworkParams
from cvoting.params.reading import read_study
from cvoting.params.study import Study
from cvoting.params.training import TrainingParams
from cvoting.tasks.base import Task
from cvoting.training.batches import Batch, make_batch
from harness import ROOT

#: Where the studies lie: the sizes of the paper, of the laptop, and of tests.
STUDIES = {"paper": "params/paper.yaml", "laptop": "params.yaml", "toy": "params/toy.yaml"}


@dataclass(frozen=True)
class Case:
    """A run of a study, with what is changed.

    Attributes:
        study: a key of `STUDIES`.
        run: a run of it.
        rows: puzzles that are rolled out, or trained on, at once.
        steps: None: those of its training.
        truncated: whether gradients are truncated as in the run.
    """

    study: str
    run: str
    rows: int
    steps: int | None = None
    truncated: bool = True

    @property
    def task(self) -> Task:
        """What the run solves."""
        study = _study(self.study)
        return study.datasets[study.runs[self.run].dataset].task

    @property
    def network(self) -> NetworkParams:
        """The run's network."""
        study = _study(self.study)
        return study.models[study.runs[self.run].model].network

    @property
    def training(self) -> TrainingParams:
        """The run's training, with the changes."""
        found = _study(self.study).training_of(self.run)
        detach_step = found.detach_step if self.truncated else None
        changes = {"T_train": self.steps or found.T_train, "detach_step": detach_step}
        return replace(found, batch=self.rows, accumulate=1, **changes)

    @property
    def name(self) -> str:
        """Study, architecture, width, board, steps and rows."""
        grid, training = self.task.grid, self.training
        about = f"{self.network.architecture} {self.network.channels}, {grid[0]}x{grid[1]}, T = {training.T_train}"
        return f"{self.study}: {about}, {self.rows} rows"

    def model(self) -> RecurrentModel:
        """The model, with random weights."""
        model = MODELS[self.network.architecture].for_task(self.network, self.task)
        model.initialise(torch.Generator().manual_seed(0))
        return model

    def batch(self, model: RecurrentModel) -> Batch:
        """Random tokens: what is computed does not depend on them."""
        rng, task = np.random.Generator(np.random.Philox(1)), self.task
        shape = (self.rows, task.cells)
        questions = rng.integers(task.vocabulary, size=shape).astype(np.uint8)
        answers = rng.integers(task.first_answer_token, task.first_answer_token + task.classes, size=shape)
        noise = rng.standard_normal((self.rows, 1, *model.noise_shape), dtype=np.float32)
        return make_batch(task, questions, answers, noise, model.first_token(task))


@cache
def _study(name: str) -> Study:
    return read_study(Path(ROOT / STUDIES[name]))
