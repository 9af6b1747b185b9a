"""The training stream: which puzzles, which symmetries and which noise belong to update u, as a function of u alone.

A training interrupted after any update therefore goes on exactly as if it had not been; no state of a random generator
has to be kept.

The seed alone keys every draw, not the name of the run: runs of one seed see the same puzzles in the same order with
the same noise, so that a variant differs from its original by what was changed and not by the draw.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from cvoting.data.augmentation import augment
from cvoting.data.puzzles import Puzzles
from cvoting.seeding import generator
from cvoting.tasks.base import Task


class Batch(NamedTuple):
    """Some puzzles as a model takes them, with the noise their rollouts start from."""

    questions: Int[Tensor, "puzzles cells"]
    targets: Int[Tensor, "puzzles cells"]
    to_predict: Bool[Tensor, "puzzles cells"]
    noise: Float[Tensor, "puzzles 1 ..."]

    def part(self, rows: range, device: torch.device) -> "Batch":
        """Some rows, on a device."""
        return Batch(*(t[rows.start : rows.stop].to(device) for t in self))


def make_batch(task: Task, questions: np.ndarray, answers: np.ndarray, noise: np.ndarray, first_token: int) -> Batch:
    """A batch from tokens and noise; `first_token` is the model's token of class 0."""
    return Batch(
        torch.from_numpy(questions.astype(np.int64)),
        torch.from_numpy(answers.astype(np.int64) - first_token),
        torch.from_numpy(task.positions_to_predict(questions)),
        torch.from_numpy(noise),
    )


def training_batch(
    task: Task,
    puzzles: Puzzles,
    update: int,
    size: int,
    group: str,
    noise_shape: tuple[int, ...],
    seed: int,
    first_token: int,
) -> Batch:
    """The batch of an update.

    Every puzzle is seen once per epoch, in a new order each epoch; a batch may span two epochs.

    Args:
        task: knows positions and symmetries.
        puzzles: the training set.
        update: index of the optimiser update, from 0.
        size: puzzles per batch.
        group: symmetry group each puzzle is transformed by, anew each time it is seen.
        noise_shape: shape of the noise of one rollout.
        seed: training seed.
        first_token: the model's token of class 0.
    """
    places = np.arange(update * size, (update + 1) * size)
    order = {
        e: generator("batch order", seed, counter=e).permutation(len(puzzles)) for e in set(places // len(puzzles))
    }
    chosen = np.array([order[p // len(puzzles)][p % len(puzzles)] for p in places])
    rng = generator("augmentation", seed, counter=update)
    questions, answers = augment(task, puzzles.questions[chosen], puzzles.answers[chosen], group, rng)
    rng = generator("training noise", seed, counter=update)
    noise = rng.standard_normal((size, 1, *noise_shape), dtype=np.float32)
    return make_batch(task, questions, answers, noise, first_token)


def validation_batches(
    task: Task, puzzles: Puzzles, size: int, noise_shape: tuple[int, ...], seed: int, first_token: int
) -> list[Batch]:
    """The validation set, each puzzle with one initial state that stays the same for the whole training."""
    batches = []
    for i, start in enumerate(range(0, len(puzzles), size)):
        part = puzzles[start : start + size]
        rng = generator("validation noise", seed, counter=i)
        noise = rng.standard_normal((len(part), 1, *noise_shape), dtype=np.float32)
        batches.append(make_batch(task, part.questions, part.answers, noise, first_token))
    return batches
