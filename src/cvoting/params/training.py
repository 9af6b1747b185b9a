"""Parameters of a training run, the same for every model."""

from dataclasses import dataclass
from typing import Literal

from cvoting.params.core import ParameterError, key


@dataclass(frozen=True, kw_only=True)
class OptimizerParams:
    """The optimiser and its learning rate."""

    name: Literal["adam", "adamw"] = key("adam couples weight decay to the gradient, adamw does not")
    lr: float = key("learning rate after the warm-up", above=0)
    betas: tuple[float, float] = key("decay rates of the first and second moment", minimum=0, below=1)
    weight_decay: float = key("weight decay", minimum=0)
    warmup_updates: int = key(
        "updates over which the learning rate rises linearly from 0; constant afterwards", minimum=0
    )
    decayed: Literal["all", "maps"] = key(
        "parameters with weight decay: all, or linear maps and embeddings alone, which spares GTA's rotations, norms "
        "and biases (unstated)",
        default="all",
    )


@dataclass(frozen=True, kw_only=True)
class EmaParams:
    """Exponential moving average of the weights, as ema-pytorch computes it (see `training.ema`)."""

    decay: float = key("largest decay per averaging (Tables 1 and 3: 0.995)", minimum=0, below=1)
    after: int = key("updates until which the weights are copied (ema-pytorch: 100)", minimum=0)
    every: int = key("updates between two averagings (ema-pytorch: 10)", minimum=1)


@dataclass(frozen=True, kw_only=True)
class TrainingParams:
    """One training run: objective, optimiser, length, and what is watched."""

    T_train: int = key("recurrent steps in training (Table 3: 16)", minimum=1)
    detach_step: int | None = key(
        "gradient truncation: the step after which the state is detached, null for none (ItrSA++: 2 on Sudoku, 14 on "
        "Sudoku-extreme, 28 on mazes)",
        default=None,
        minimum=1,
    )
    updates: int = key("optimiser updates", minimum=1)
    batch: int = key("puzzles per update (Table 3: 100)", minimum=1)
    optimizer: OptimizerParams = key("optimiser")
    clip: float | None = key("largest norm of the gradient, null for none (Table 3: 1.0)", above=0)
    loss_positions: Literal["all", "predict"] = key(
        "cells in the loss: all (released AKOrN) or the positions to predict"
    )
    augmentation: str = key("symmetry group each training puzzle is drawn from anew; the task names its groups")
    ema: EmaParams = key("moving average of the weights; evaluation uses it")
    validate_every: int = key("updates between validations", minimum=1)
    checkpoint_every: int = key("updates between checkpoints to resume from", minimum=1)

    def __post_init__(self) -> None:
        problems = []
        if self.optimizer.warmup_updates >= self.updates:
            found = f"optimizer.warmup_updates = {self.optimizer.warmup_updates}"
            problems.append(f"{found}: expected less than updates = {self.updates}")
        if self.detach_step is not None and self.detach_step >= self.T_train:
            problems.append(f"detach_step = {self.detach_step}: expected less than T_train = {self.T_train}, or null")
        if problems:
            raise ParameterError(problems)
