"""What must hold between the blocks of a study: names that exist, sizes that fit."""

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from cvoting.params.core import ParameterError
from cvoting.params.datasets import checksum_conflicts
from cvoting.params.paper_tables import HyperparameterTable
from cvoting.voting import VOTES, available

if TYPE_CHECKING:
    from cvoting.params.study import Study


def problems(study: "Study") -> Iterator[str]:
    """Everything that does not fit together, one line each: the key, the value, what is allowed."""
    for check in (_names, _lists, _runs, _banks, _votes, _figures, _tables):
        yield from check(study)
    yield from checksum_conflicts(study.datasets)


def _unknown(key: str, value: str, choices: Collection[str]) -> Iterator[str]:
    """The problem of a name that is not among the choices."""
    if value not in choices:
        yield f"{key} = {value!r}: expected one of {', '.join(choices) or '(there are none)'}"


def _names(study: "Study") -> Iterator[str]:
    blocks = ("datasets", "models", "runs", "banks")
    names = [("study", study.study), *((f"{block} key", name) for block in blocks for name in getattr(study, block))]
    for where, name in names:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
            yield f"{where} = {name!r}: expected letters, digits, '-' and '_' (it becomes part of a path)"
    if study.study == "raw":
        yield "study = 'raw': expected another name: data/raw is the folder of the source files"


def _lists(study: "Study") -> Iterator[str]:
    lists: dict[str, tuple] = {f"runs.{name}.training_seeds": run.training_seeds for name, run in study.runs.items()}
    lists |= {f"banks.{name}.inference_seeds": bank.inference_seeds for name, bank in study.banks.items()}
    for name, figure in study.figures.items():
        lists |= {f"figures.{name}.banks": figure.banks, f"figures.{name}.votes": figure.votes}
    yield from (f"{key} = []: expected at least one" for key, values in lists.items() if not values)


def _runs(study: "Study") -> Iterator[str]:
    for name, run in study.runs.items():
        yield from _unknown(f"runs.{name}.model", run.model, study.models)
        yield from _unknown(f"runs.{name}.dataset", run.dataset, study.datasets)
        if run.model not in study.models or run.dataset not in study.datasets:
            continue
        dataset = study.datasets[run.dataset]
        splits = dataset.source.splits
        missing = sorted({"train", "validation"} - set(splits.names))
        if missing:
            yield f"runs.{name}.dataset = {run.dataset!r}: it has no {' and no '.join(missing)} split"
        try:
            training = study.training_of(name)
        except ParameterError as error:
            yield from error.problems
            continue
        network = study.models[run.model].network
        steps = network.step_problems(training.T_train, training.detach_step)
        yield from (f"runs.{name}: T_train: {problem}" for problem in steps)
        yield from _unknown(f"runs.{name}: augmentation", training.augmentation, dataset.task.symmetry_groups)
        if training.batch > splits.train:
            yield (
                f"runs.{name}: batch = {training.batch}: expected at most {splits.train}, "
                f"the training puzzles of {run.dataset}"
            )


def _banks(study: "Study") -> Iterator[str]:
    for name, bank in study.banks.items():
        yield from _unknown(f"banks.{name}.run", bank.run, study.runs)
        yield from _unknown(f"banks.{name}.dataset", bank.dataset, study.datasets)
        if bank.dataset not in study.datasets:
            continue
        dataset = study.datasets[bank.dataset]
        puzzles = getattr(dataset.source.splits, bank.split)
        if not puzzles:
            yield f"banks.{name}.split = {bank.split!r}: {bank.dataset} has no such split"
        elif bank.shards > bank.plan().groups(puzzles):
            most = bank.plan().groups(puzzles)
            yield f"banks.{name}.shards = {bank.shards}: expected at most {most}, a chunk of {puzzles} puzzles each"
        run = study.runs.get(bank.run)
        if run and run.model in study.models:
            steps = study.models[run.model].network.step_problems(bank.T_eval)
            yield from (f"banks.{name}.T_eval: {problem}" for problem in steps)
        if run and run.dataset in study.datasets and study.datasets[run.dataset].task != dataset.task:
            task = study.datasets[run.dataset].task
            yield f"banks.{name}.dataset = {bank.dataset!r}: expected the task of {run.dataset}, {task}"


def _votes(study: "Study") -> Iterator[str]:
    most = max((bank.candidates for bank in study.banks.values()), default=study.voting.K[-1])
    if study.voting.K[-1] > most:
        yield f"voting.K = {list(study.voting.K)}: expected at most {most}, the most candidates that a bank has"
    for vote in study.voting.votes:
        yield from _unknown("voting.votes", vote, VOTES)
    for name, bank in study.banks.items():
        if study.voting.K[0] > bank.candidates:
            yield f"banks.{name}.candidates = {bank.candidates}: expected at least {study.voting.K[0]}, the least K"
        offered = _offered(study, name, "voting")
        if offered is not None and not offered:
            yield f"voting.votes = {list(study.voting.votes)}: expected at least one that banks.{name} has scores for"


def _figures(study: "Study") -> Iterator[str]:
    for name, figure in study.figures.items():
        for vote in figure.votes:
            yield from _unknown(f"figures.{name}.votes", vote, study.voting.votes)
        for bank in figure.banks:
            yield from _unknown(f"figures.{name}.banks", bank, study.banks)
            offered = _offered(study, bank, figure.table)
            if figure.table == "steps" and bank in study.banks and not study.banks[bank].read_at:
                yield f"figures.{name}.banks = {bank!r}: expected a bank with `read_at`, the steps that are shown"
            elif offered is not None and not set(figure.votes) & set(offered):
                yield (
                    f"figures.{name}.votes = {list(figure.votes)}: expected one that banks.{bank} can hold: "
                    f"{', '.join(offered) or '(there are none)'}"
                )


def _tables(study: "Study") -> Iterator[str]:
    for name, table in study.tables.items():
        for bank in table.banks:
            yield from _unknown(f"tables.{name}", bank, study.banks)
        if isinstance(table, HyperparameterTable):
            yield from _unknown(f"tables.{name}.run", table.run, study.runs)
        elif "confidence" not in study.voting.votes:
            yield f"tables.{name}: expected 'confidence' among voting.votes, {list(study.voting.votes)}"


def _offered(study: "Study", name: str, table: str) -> Collection[str] | None:
    """The votes in a bank's table; None where the study's names do not say."""
    bank = study.banks.get(name)
    run = study.runs.get(bank.run) if bank else None
    if bank is None or run is None or run.model not in study.models:
        return None
    energy = study.models[run.model].network.has_energy
    known = [vote for vote in study.voting.votes if vote in VOTES]
    if table == "steps":
        return available(known, bank.step_scores(energy), answers=False)
    return available(known, bank.scores(energy))
