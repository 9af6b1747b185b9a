"""Parameters of the rollouts, and how they are cut into pieces."""

from dataclasses import dataclass, fields, replace
from typing import Literal

from cvoting.params.core import ParameterError, key
from cvoting.params.precision import Precision

#: At most so many puzzles, with at most so many candidates, make one row group of a bank, are in memory until it is
#: written, and are kept when a job is interrupted.
PART_PUZZLES, PART_CANDIDATES = 32, 2**14
#: Last steps over which residuals are averaged; they and the step before them are read out.
RESIDUAL_STEPS = 3


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is rolled out, and what is kept of it."""

    T_eval: int = key("recurrent steps at test time (released AKOrN: 128)", minimum=1)
    candidates: int = key("rollouts per puzzle, the largest K (paper: 4096)", minimum=1)
    chunk: int = key(
        "rollouts computed at once, some whole puzzles or a slice of one puzzle's candidates: bounds the memory, "
        "changes no candidate's initial state",
        minimum=1,
    )
    shards: int = key("files a bank is written in, each made by a job of its own", minimum=1)
    temperatures: tuple[float, ...] = key("temperatures at which confidence is kept too", default=(), above=0)
    read_at: tuple[int, ...] = key(
        "steps at which candidates are read out too, increasing, with the first inference seed only: accuracy and "
        "confidence against the step, from one pass (Figures 7 and 8)",
        default=(),
        minimum=1,
    )
    read_candidates: int | None = key(
        "candidates per puzzle that are read out there, from the first; null: all", default=None, minimum=1
    )
    logit_candidates: int = key(
        "candidates per puzzle whose logits are kept at the end, from the first, with the first inference seed only: "
        "for calibration (Figure 5: 16)",
        default=0,
        minimum=0,
    )
    weights: Literal["average", "raw"] = key(
        "the moving average of the weights, or those of the last update (Table 4, w/o EMA)", default="average"
    )
    random_start_anyway: bool = key(
        "start at random states a model that was trained from a fixed one: expect worse answers", default=False
    )
    precision: Precision = key(
        "float32, or bfloat16 for the factors of linear maps and, on GPUs, of attention: changes some answers",
        default="float32",
    )
    boards: bool = key(
        "whether a bank keeps questions, labels and answers; without them it can be handed on where its puzzles "
        "cannot, and holds every vote but those that compose an answer",
        default=True,
    )
    compile: bool = key("compile the steps with torch.compile: faster on GPUs, other rounding", default=False)

    def __post_init__(self) -> None:
        if problems := self.problems():
            raise ParameterError(problems)

    def problems(self) -> list[str]:
        """What does not fit together."""
        read, kept, steps = self.read_candidates, self.logit_candidates, list(self.read_at)
        problems = []
        if read is not None and not steps:
            problems.append(f"read_candidates = {read}: expected null where read_at lists no step")
        if steps != sorted(steps) or (steps and steps[-1] > self.T_eval):
            problems.append(f"read_at = {steps}: expected increasing steps up to T_eval = {self.T_eval}")
        if read is not None and read > self.candidates:
            problems.append(f"read_candidates = {read}: expected at most candidates = {self.candidates}")
        if kept > self.candidates:
            problems.append(f"logit_candidates = {kept}: expected at most candidates = {self.candidates}")
        return problems

    @property
    def candidates_read(self) -> int:
        """Candidates per puzzle that are read out at the listed steps."""
        return self.candidates if self.read_candidates is None else self.read_candidates

    def scores(self, extra: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the scores that candidates get; `extra`: the network's `extra_scores`."""
        residuals = ("latent_residual", "logit_residual") if self.T_eval > 1 else ()
        tempered = tuple(f"confidence_at_{t:g}" for t in self.temperatures)
        return (*self.step_scores(extra), *residuals, *tempered)

    def step_scores(self, extra: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the scores that candidates get at the steps of `read_at`."""
        return ("confidence", "negative_entropy", "log_probability", *extra)


@dataclass(frozen=True, kw_only=True)
class RolloutPlan(Extent):
    """What is rolled out, in which pieces; a shard is a union of chunks, so that no result depends on shards."""

    shards: int = key("files a bank is divided into", default=1, minimum=1)
    shard: int = key("which of them, from 0", default=0, minimum=0)

    def problems(self) -> list[str]:
        """What does not fit together."""
        beyond = [f"shard = {self.shard}: expected less than shards = {self.shards}"] * (self.shard >= self.shards)
        return super().problems() + beyond

    @property
    def puzzles_at_once(self) -> int:
        """Puzzles of a chunk."""
        return max(1, self.chunk // self.candidates)

    def groups(self, puzzles: int) -> int:
        """The number of groups of `puzzles_at_once` puzzles, the most shards that `puzzles` puzzles can be cut into."""
        return -(-puzzles // self.puzzles_at_once)

    def own(self, puzzles: int) -> slice:
        """Which of `puzzles` puzzles are those of this shard."""
        groups, at_once = self.groups(puzzles), self.puzzles_at_once
        first, last = (min(shard * groups // self.shards * at_once, puzzles) for shard in (self.shard, self.shard + 1))
        return slice(first, last)

    def parts(self, puzzles: int) -> list[range]:
        """The puzzles of this shard, in parts of whole chunks."""
        own = self.own(puzzles)
        puzzles_of_part = min(PART_PUZZLES, PART_CANDIDATES // self.candidates)
        step = max(1, puzzles_of_part // self.puzzles_at_once) * self.puzzles_at_once
        return [range(start, min(start + step, own.stop)) for start in range(own.start, own.stop, step)]


@dataclass(frozen=True, kw_only=True)
class BankParams(Extent):
    """All rollouts of a run's checkpoints on one split of a dataset."""

    run: str = key("name of a run")
    dataset: str = key("name of a dataset")
    split: Literal["validation", "test"] = key("split of the dataset", default="test")
    inference_seeds: tuple[int, ...] = key("one bank per seed of the initial states", minimum=0)

    def plan(self, shard: int = 0, inference_seed: int | None = None) -> RolloutPlan:
        """The pieces of one shard, with an inference seed (None: the first)."""
        plan = RolloutPlan(**{field.name: getattr(self, field.name) for field in fields(Extent)}, shard=shard)
        if inference_seed in (None, *self.inference_seeds[:1]):
            return plan
        return replace(plan, read_at=(), read_candidates=None, logit_candidates=0)

    @property
    def tables(self) -> tuple[str, ...]:
        """The kinds of tables that are made of it."""
        read = ("steps", "trajectories", "scaling") if self.read_at else ()
        kept = ("calibration", "reliability", "risk") if self.logit_candidates else ()
        compared = ("adaptive", "discrimination") if self.candidates > 1 else ()
        return "voting", *read, *kept, *compared
