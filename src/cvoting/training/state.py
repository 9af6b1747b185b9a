"""The state of a training between two updates, kept where an interrupted job finds it again."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cvoting.checkpoint import CheckpointError, load_tensors, mismatch, save_tensors
from cvoting.models.base import RecurrentModel
from cvoting.training.objective import Objective
from cvoting.training.processes import Processes


@dataclass
class TrainingState:
    """Everything that changes during training; randomness does not, being a function of the update.

    Attributes:
        objective: what is minimised, with the weights that are optimised.
        processes: those that train together; all have the same state, but for the rows of `Objective.state`.
        average: a second model that holds their moving average.
        optimizer: with its moments.
        update: updates made.
        log: the rows of the training log.
        window: sums of what was watched since the log's last row, with the number of updates summed.
    """

    objective: Objective
    processes: Processes
    average: RecurrentModel
    optimizer: torch.optim.Optimizer
    update: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)
    window: dict[str, float] = field(default_factory=dict)

    @property
    def model(self) -> RecurrentModel:
        """The weights that are optimised."""
        return self.objective.model

    def watch(self, values: dict[str, float]) -> None:
        """Add what an update reported to the current window of the log."""
        for name, value in ({"updates": 1.0} | values).items():
            self.window[name] = self.window.get(name, 0.0) + value

    def end_window(self) -> dict[str, Any]:
        """The means since the last row of the log, for the next one."""
        updates = self.window.pop("updates")
        means = {name: total / updates for name, total in self.window.items()}
        self.window.clear()
        return {"update": self.update, **means}

    def is_finite(self) -> bool:
        """Whether every weight is a number, also those of the average."""
        weights = (*self.model.parameters(), *self.average.parameters())
        return all(bool(torch.isfinite(weight).all()) for weight in weights)

    def save(self, path: Path) -> None:
        """Write the state atomically, in the first process: the file is always that of a whole update."""
        rows = {name: self.processes.joined(of_here) for name, of_here in self.objective.state().items()}
        if not self.processes.writes:
            return
        tensors = {f"model/{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"average/{k}": v for k, v in self.average.state_dict().items()}
        tensors |= {f"objective/{k}": v for k, v in rows.items()}
        moments = self.optimizer.state_dict()["state"]
        tensors |= {f"optimizer/{i}/{k}": v for i, entry in moments.items() for k, v in entry.items()}
        save_tensors(path, tensors, {"update": self.update, "log": self.log, "window": self.window})

    def load(self, path: Path) -> None:
        """Continue from what `save` wrote.

        Raises:
            CheckpointError: when the file is damaged or of another model.
        """
        tensors, about = load_tensors(path)
        moments: dict[int, dict[str, Tensor]] = {}
        try:
            for name in [n for n in tensors if n.startswith("optimizer/")]:
                _, index, key = name.split("/")
                moments.setdefault(int(index), {})[key] = tensors[name]
            self.model.load_state_dict(_group(tensors, "model"))
            self.average.load_state_dict(_group(tensors, "average"))
            self.objective.restore(_group(tensors, "objective"))
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
            self.update, self.log, self.window = about["update"], about["log"], about["window"]
        except (RuntimeError, ValueError, KeyError) as error:
            problem = mismatch(error) if isinstance(error, RuntimeError) else "it is no state of a training"
            raise CheckpointError(
                f"{path}: the state of another training ({problem}): delete it, and the training starts anew"
            ) from error


def _group(tensors: dict[str, Tensor], group: str) -> dict[str, Tensor]:
    return {n.removeprefix(f"{group}/"): t for n, t in tensors.items() if n.startswith(f"{group}/")}
