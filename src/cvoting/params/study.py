"""A whole study: the mirror of params.yaml, with the checks that concern more than one block."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from cvoting.params.akorn import AkornParams
from cvoting.params.core import ParameterError, build, key, plain
from cvoting.params.datasets import DatasetParams
from cvoting.params.training import TrainingParams
from cvoting.params.voting import VotingParams
from cvoting.voting import VOTES


@dataclass(frozen=True, kw_only=True)
class ModelParams:
    """A named model: its network and how it is trained."""

    network: AkornParams = key("architecture and sizes")
    training: TrainingParams = key("how every run of this model is trained")


@dataclass(frozen=True, kw_only=True)
class RunParams:
    """A model trained on a dataset, once per training seed."""

    model: str = key("name of a model")
    dataset: str = key("name of a dataset with a train and a validation split")
    training_seeds: tuple[int, ...] = key("one training per seed", minimum=0)
    training: Mapping[str, object] | None = key("keys that differ from the model's training block", default=None)


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


@dataclass(frozen=True, kw_only=True)
class AkornVotingFigure:
    """Figure 2: C-voting against E-voting in AKOrN, one panel per bank."""

    banks: tuple[str, ...] = key("one panel per bank, left to right")
    votes: tuple[str, ...] = key("selection rules drawn as curves")


@dataclass(frozen=True, kw_only=True)
class FiguresParams:
    """The figures of the study; an absent figure is not drawn."""

    fig2_akorn_voting: AkornVotingFigure | None = key("Figure 2", default=None)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.__dataclass_fields__ if getattr(self, name) is not None)


@dataclass(frozen=True, kw_only=True)
class Study:
    """Everything that decides what is computed."""

    study: str = key("name of the study; its products lie under results/<study>/")
    title: str = key("how figures and tables name the study")
    paper_scale: bool = key("whether sizes, data and K are the paper's, so that published values may stand beside ours")
    mirrors: tuple[str, ...] = key("folders searched for source files before their addresses", default=())
    threads: int = key("CPU threads of a training or rollout job", minimum=1)
    datasets: Mapping[str, DatasetParams] = key(
        "puzzle sets", affects=("data", "train", "rollouts", "voting", "figures")
    )
    models: Mapping[str, ModelParams] = key("models", affects=("train", "rollouts", "voting", "figures"))
    runs: Mapping[str, RunParams] = key("trainings", affects=("train", "rollouts", "voting", "figures"))
    banks: Mapping[str, BankParams] = key("rollouts", affects=("rollouts", "voting", "figures"))
    voting: VotingParams = key("voting tables", affects=("voting", "figures"))
    figures: FiguresParams = key("figures", affects=("figures",))

    def training_of(self, run: str) -> TrainingParams:
        """The training block of a run: its model's, with the run's own keys in their place."""
        block = self.runs[run]
        merged = _merge(plain(self.models[block.model].training), block.training or {})
        return build(TrainingParams, merged, f"runs.{run}.training")

    def __post_init__(self) -> None:
        problems = [p for check in (self._check_names, self._check_runs, self._check_banks, self._check_votes) for p in check()]
        if problems:
            raise ParameterError(problems)

    def _check_names(self) -> Iterator[str]:
        blocks = {"datasets": self.datasets, "models": self.models, "runs": self.runs, "banks": self.banks}
        names = [("study", self.study)] + [(f"{block} key", name) for block, entries in blocks.items() for name in entries]
        for where, name in names:
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
                yield f"{where} = {name!r}: expected letters, digits, '-' and '_' (it becomes part of a path)"

    def _check_runs(self) -> Iterator[str]:
        for name, run in self.runs.items():
            known = True
            for what, value, choices in (("model", run.model, self.models), ("dataset", run.dataset, self.datasets)):
                if value not in choices:
                    known = False
                    yield f"runs.{name}.{what} = {value!r}: expected one of {', '.join(choices)}"
            if not known:
                continue
            dataset = self.datasets[run.dataset]
            missing = {"train", "validation"} - set(dataset.source.splits.names)
            if missing:
                yield f"runs.{name}.dataset = {run.dataset!r}: it has no {' and no '.join(sorted(missing))} split"
            try:
                training = self.training_of(name)
            except ParameterError as error:
                yield from error.problems
                continue
            groups = dataset.task.symmetry_groups
            if training.augmentation not in groups:
                yield f"runs.{name}: augmentation = {training.augmentation!r}: expected one of {', '.join(groups)}"
            if training.batch > dataset.source.splits.train:
                yield (
                    f"runs.{name}: batch = {training.batch}: expected at most {dataset.source.splits.train}, "
                    f"the training puzzles of {run.dataset}"
                )

    def _check_banks(self) -> Iterator[str]:
        for name, bank in self.banks.items():
            if bank.run not in self.runs:
                yield f"banks.{name}.run = {bank.run!r}: expected one of {', '.join(self.runs)}"
            if bank.dataset not in self.datasets:
                yield f"banks.{name}.dataset = {bank.dataset!r}: expected one of {', '.join(self.datasets)}"
                continue
            if bank.split not in self.datasets[bank.dataset].source.splits.names:
                yield f"banks.{name}.split = {bank.split!r}: {bank.dataset} has no such split"
            trained = self.runs.get(bank.run)
            if trained and trained.dataset in self.datasets:
                tasks = self.datasets[trained.dataset].task, self.datasets[bank.dataset].task
                if tasks[0] != tasks[1]:
                    yield f"banks.{name}.dataset = {bank.dataset!r}: expected the task of {trained.dataset}, {tasks[0]}"
            if self.voting.K and self.voting.K[-1] > bank.candidates:
                yield f"voting.K = {list(self.voting.K)}: expected at most {bank.candidates}, the candidates of banks.{name}"

    def _check_votes(self) -> Iterator[str]:
        for vote in self.voting.votes:
            if vote not in VOTES:
                yield f"voting.votes: {vote!r}: expected some of {', '.join(VOTES)}"
        figure = self.figures.fig2_akorn_voting
        if figure is None:
            return
        for bank in figure.banks:
            if bank not in self.banks:
                yield f"figures.fig2_akorn_voting.banks: {bank!r}: expected some of {', '.join(self.banks)}"
        for vote in figure.votes:
            if vote not in self.voting.votes:
                yield f"figures.fig2_akorn_voting.votes: {vote!r}: expected some of voting.votes"


def _merge(base: Mapping, changes: Mapping) -> dict:
    """`base` with the keys of `changes` in their place, block by block."""
    merged = dict(base)
    for name, value in changes.items():
        inner = merged.get(name)
        merged[name] = _merge(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return merged
