"""Parameters of a training run, the same for every model."""

from dataclasses import dataclass
from typing import Literal

from cvoting.params.core import ParameterError, key
from cvoting.params.precision import Precision


@dataclass(frozen=True, kw_only=True)
class OptimizerParams:
    """The optimiser and its learning rate."""

    name: Literal["adam", "adamw", "adam_atan2"] = key(
        "adam couples weight decay to the gradient, adamw does not; adam_atan2 has no epsilon, and is HRM's (Table 2)"
    )
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
class SegmentsParams:
    """HRM's training: an update per segment, with adaptive computation time (ACT; see `training.act`)."""

    act: Literal["off", "explore"] = key(
        "explore: a row halts before its last segment where its halting logits say so, after a number of segments that "
        "is drawn (released code); off: never (Section 6.4: ACT is not actually used)"
    )
    exploration: float = key(
        "probability that this number is drawn from 2 to T_train, where else it is 0 (Table 2: 1.0; released HRM: 0.1)",
        minimum=0,
        maximum=1,
    )
    prefix_lr: float = key(
        "learning rate of the puzzle embedding, along the sign of its gradient (released code: 1e-4)", above=0
    )
    prefix_weight_decay: float = key("weight decay of the puzzle embedding (released code: 1.0)", minimum=0)


@dataclass(frozen=True, kw_only=True)
class TrainingParams:
    """One training run: objective, optimiser, length, and what is watched."""

    T_train: int = key("recurrent steps in training (Table 3: 16); of HRM the most segments of a row", minimum=1)
    detach_step: int | None = key(
        "gradient truncation: the step after which the state is detached, null for none (ItrSA++: 2 on Sudoku, 14 on "
        "Sudoku-extreme, 28 on mazes)",
        default=None,
        minimum=1,
    )
    segments: SegmentsParams | None = key(
        "HRM's training by segments; null: every puzzle is rolled out anew for T_train steps", default=None
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
    accumulate: int = key(
        "parts of a batch that are computed one after another, their gradients summed: bounds the memory, changes "
        "nothing but rounding",
        default=1,
        minimum=1,
    )
    precision: Precision = key(
        "float32, or bfloat16 for the factors of linear maps and, on GPUs, of attention (released HRM: bfloat16)",
        default="float32",
    )
    compile: bool = key("compile the steps with torch.compile: faster on GPUs, other rounding", default=False)

    @property
    def objective(self) -> str:
        """What is minimised: the name of a training objective."""
        return "segments" if self.segments else "unrolled"

    def __post_init__(self) -> None:
        problems = []
        if self.optimizer.warmup_updates >= self.updates:
            found = f"optimizer.warmup_updates = {self.optimizer.warmup_updates}"
            problems.append(f"{found}: expected less than updates = {self.updates}")
        if self.detach_step is not None and self.detach_step >= self.T_train:
            problems.append(f"detach_step = {self.detach_step}: expected less than T_train = {self.T_train}, or null")
        if self.segments and self.detach_step is not None:
            problems.append(f"detach_step = {self.detach_step}: expected null, segments have a one-step gradient")
        if self.accumulate > self.batch:
            problems.append(f"accumulate = {self.accumulate}: expected at most batch = {self.batch}")
        if bool(self.segments) != (self.optimizer.name == "adam_atan2"):
            expected = "adam_atan2, as segments is given" if self.segments else "adam or adamw, as segments is null"
            problems.append(f"optimizer.name = {self.optimizer.name!r}: expected {expected}")
        if problems:
            raise ParameterError(problems)
