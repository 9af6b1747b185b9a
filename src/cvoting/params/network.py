"""What the other blocks of a study ask of a network's parameters."""

from typing import ClassVar


class NetworkParams:
    """The base of every architecture's parameters, with what most have in common."""

    #: Scores of its candidates beyond those of every model.
    extra_scores: ClassVar[tuple[str, ...]] = ()
    #: Whether it has a class for padding, beyond those of the task's tokens.
    padding: ClassVar[bool] = False
    #: What its training minimises: the name of a training objective.
    objective: ClassVar[str] = "unrolled"

    @property
    def stepwise(self) -> bool:
        """Whether the state after step t ends a rollout of t steps."""
        return True

    @property
    def fixed_start(self) -> bool:
        """Whether every rollout starts from one and the same state."""
        return False

    def step_problems(self, steps: int, detach_step: int | None = None) -> list[str]:
        """What is wrong with a number of recurrent steps, or with detaching the state after one of them."""
        return []
