"""Parameters of the rollouts, and how they are cut into pieces."""

from dataclasses import dataclass, fields
from typing import Literal

from cvoting.params.core import ParameterError, key

#: Puzzles that make one row group of a bank and are kept at once when a job is interrupted.
PART_PUZZLES = 32


@dataclass(frozen=True, kw_only=True)
class RolloutPlan:
    """What is rolled out, in which pieces; a shard is a union of chunks, so that no result depends on shards."""

    T_eval: int = key("recurrent steps", minimum=1)
    candidates: int = key("rollouts per puzzle", minimum=1)
    chunk: int = key("rollouts computed at once: some whole puzzles, or a slice of one puzzle's candidates", minimum=1)
    shards: int = key("files a bank is divided into", default=1, minimum=1)
    shard: int = key("which of them, from 0", default=0, minimum=0)
    temperatures: tuple[float, ...] = key("temperatures at which confidence is kept too", default=(), above=0)
    read_at: tuple[int, ...] = key("steps at which candidates are read out too, increasing", default=(), minimum=1)
    read_candidates: int | None = key(
        "candidates per puzzle that are read out there, from the first; null: all", default=None, minimum=1
    )
    weights: Literal["average", "raw"] = key(
        "the moving average of the weights, or those of the last update (Table 4, w/o EMA)", default="average"
    )
    random_start_anyway: bool = key(
        "start at random states a model that was trained from a fixed one: expect worse answers", default=False
    )

    def __post_init__(self) -> None:
        problems = reading_problems(self)
        if self.shard >= self.shards:
            problems.append(f"shard = {self.shard}: expected less than shards = {self.shards}")
        if problems:
            raise ParameterError(problems)

    @property
    def candidates_read(self) -> int:
        """Candidates per puzzle that are read out at the listed steps."""
        return self.candidates if self.read_candidates is None else self.read_candidates

    @property
    def puzzles_at_once(self) -> int:
        """Puzzles of a chunk."""
        return max(1, self.chunk // self.candidates)

    def groups(self, puzzles: int) -> int:
        """The number of groups of `puzzles_at_once` puzzles, the most shards that `puzzles` puzzles can be cut into."""
        return -(-puzzles // self.puzzles_at_once)

    def parts(self, puzzles: int) -> list[range]:
        """The puzzles of this shard, in parts of whole chunks."""
        groups, at_once = self.groups(puzzles), self.puzzles_at_once
        first, last = (min(shard * groups // self.shards * at_once, puzzles) for shard in (self.shard, self.shard + 1))
        step = max(1, PART_PUZZLES // at_once) * at_once
        return [range(start, min(start + step, last)) for start in range(first, last, step)]


@dataclass(frozen=True, kw_only=True)
class BankParams:
    """All rollouts of a run's checkpoints on one split of a dataset."""

    run: str = key("name of a run")
    dataset: str = key("name of a dataset")
    split: Literal["validation", "test"] = key("split of the dataset", default="test")
    T_eval: int = key("recurrent steps at test time (released AKOrN: 128)", minimum=1)
    candidates: int = key("rollouts per puzzle, the largest K (paper: 4096)", minimum=1)
    inference_seeds: tuple[int, ...] = key("one bank per seed of the initial states", minimum=0)
    chunk: int = key("rollouts computed at once: bounds the memory, changes no candidate's initial state", minimum=1)
    shards: int = key("files a bank is written in, each made by a job of its own", minimum=1)
    temperatures: tuple[float, ...] = key("temperatures at which confidence is kept too", default=(), above=0)
    read_at: tuple[int, ...] = key(
        "steps at which candidates are read out too, increasing: accuracy against T from one pass (Figure 8)",
        default=(),
        minimum=1,
    )
    read_candidates: int | None = key(
        "candidates per puzzle that are read out there, from the first; null: all", default=None, minimum=1
    )
    weights: Literal["average", "raw"] = key(
        "the moving average of the weights, or those of the last update (Table 4, w/o EMA)", default="average"
    )
    random_start_anyway: bool = key(
        "start at random states a model that was trained from a fixed one: expect worse answers", default=False
    )

    def __post_init__(self) -> None:
        if problems := reading_problems(self):
            raise ParameterError(problems)

    def plan(self, shard: int = 0) -> RolloutPlan:
        """The pieces of one shard."""
        names = {field.name for field in fields(RolloutPlan)} - {"shard"}
        return RolloutPlan(**{name: getattr(self, name) for name in names}, shard=shard)

    def scores(self, extra: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the scores that candidates get; `extra`: the network's `extra_scores`."""
        residuals = ("latent_residual", "logit_residual") if self.T_eval > 1 else ()
        tempered = tuple(f"confidence_at_{t:g}" for t in self.temperatures)
        return (*self.step_scores(extra), *residuals, *tempered)

    def step_scores(self, extra: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the scores that candidates get at the steps of `read_at`."""
        return ("confidence", "negative_entropy", "log_probability", *extra)


def reading_problems(block: RolloutPlan | BankParams) -> list[str]:
    """What is wrong with the steps at which candidates are read out."""
    problems = []
    if block.read_candidates is not None and not block.read_at:
        problems.append(f"read_candidates = {block.read_candidates}: expected null where read_at lists no step")
    if list(block.read_at) != sorted(block.read_at) or (block.read_at and block.read_at[-1] > block.T_eval):
        problems.append(f"read_at = {list(block.read_at)}: expected increasing steps up to T_eval = {block.T_eval}")
    if block.read_candidates is not None and block.read_candidates > block.candidates:
        problems.append(f"read_candidates = {block.read_candidates}: expected at most candidates = {block.candidates}")
    return problems
