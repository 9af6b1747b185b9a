"""What must hold between the blocks of a study: names that exist, sizes that fit."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cvoting.params.core import ParameterError, plain
from cvoting.params.datasets import checksum_conflicts
from cvoting.params.figures import CalibrationFigure, ConfidenceFigure
from cvoting.params.hrm import HrmParams
from cvoting.params.imported import RELEASED, ImportedParams
from cvoting.params.names import unknown
from cvoting.params.shown import figure_problems, table_problems, vote_problems

if TYPE_CHECKING:
    from cvoting.params.study import RunParams, Study


def problems(study: "Study") -> Iterator[str]:
    """Everything that does not fit together, one line each: the key, the value, what is allowed."""
    for check in (_names, _lists, _runs, _banks, vote_problems, figure_problems, table_problems):
        yield from check(study)
    yield from checksum_conflicts(study.datasets)
    yield from (f"adaptive.{problem}" for problem in study.adaptive.problems(study.voting.K))


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
        lists[f"figures.{name}.banks"] = figure.banks
        if not isinstance(figure, ConfidenceFigure):
            lists[f"figures.{name}.votes"] = figure.votes
        if isinstance(figure, CalibrationFigure):
            lists[f"figures.{name}.temperatures"] = figure.temperatures
    yield from (f"{key} = []: expected at least one" for key, values in lists.items() if not values)


def _runs(study: "Study") -> Iterator[str]:
    for name, run in study.runs.items():
        yield from unknown(f"runs.{name}.model", run.model, study.models)
        yield from unknown(f"runs.{name}.dataset", run.dataset, study.datasets)
        if run.model not in study.models or run.dataset not in study.datasets:
            continue
        if run.imported:
            yield from _imported(study, name, run, run.imported)
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
        if network.objective != training.objective:
            has = "a block" if network.objective == "segments" else "null"
            yield f"runs.{name}: training.segments: expected {has}, the architecture is {network.architecture}"
        steps = network.step_problems(training.T_train, training.detach_step)
        yield from (f"runs.{name}: T_train: {problem}" for problem in steps)
        yield from unknown(f"runs.{name}: augmentation", training.augmentation, dataset.task.symmetry_groups)
        if training.batch > splits.train:
            yield (
                f"runs.{name}: batch = {training.batch}: expected at most {splits.train}, "
                f"the training puzzles of {run.dataset}"
            )


def _imported(study: "Study", name: str, run: "RunParams", block: ImportedParams) -> Iterator[str]:
    """What is wrong with a run whose weights come from a file."""
    network, where = study.models[run.model].network, f"runs.{name}.imported"
    if len(run.training_seeds) > 1:
        seeds = f"runs.{name}.training_seeds = {list(run.training_seeds)}"
        yield f"{seeds}: expected one, the imported file is of one training"
    if block.format == "released" and network.architecture not in RELEASED:
        found = f"{where}.format = 'released', and {run.model} is of the architecture {network.architecture}"
        yield f"{found}: expected 'checkpoint'; released weights can be read of {' and '.join(RELEASED)}"
    released_hrm = block.format == "released" and isinstance(network, HrmParams)
    if released_hrm and not network.fixed_start:
        found = f"models.{run.model}.network.initial_state = {plain(network)['initial_state']!r}"
        yield f"{found}: expected 'fixed' for runs.{name}, as every released HRM was trained from its fixed state"
    if block.puzzle_identifier is not None and not released_hrm:
        yield f"{where}.puzzle_identifier = {block.puzzle_identifier}: expected null but for a released HRM"


def _banks(study: "Study") -> Iterator[str]:
    for name, bank in study.banks.items():
        yield from unknown(f"banks.{name}.run", bank.run, study.runs)
        yield from unknown(f"banks.{name}.dataset", bank.dataset, study.datasets)
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
            network = study.models[run.model].network
            yield from (f"banks.{name}.T_eval: {problem}" for problem in network.step_problems(bank.T_eval))
            if bank.candidates > 1 and network.fixed_start and not bank.random_start_anyway:
                found = f"banks.{name}.candidates = {bank.candidates}: expected 1 from {run.model}'s fixed start"
                yield f"{found} (random_start_anyway: true draws others, which it was not trained for)"
            if bank.random_start_anyway and not network.fixed_start:
                yield f"banks.{name}.random_start_anyway = True: expected false, {run.model} starts at random anyway"
            released = run.imported and run.imported.format == "released"
            if bank.weights == "raw" and released and isinstance(network, HrmParams):
                yield f"banks.{name}.weights = 'raw': expected 'average', all that a released HRM file holds"
            if bank.read_at and not network.stepwise:
                yield f"banks.{name}.read_at = {list(bank.read_at)}: expected [], {run.model} cannot be cut into steps"
        if run and run.dataset in study.datasets and study.datasets[run.dataset].task != dataset.task:
            task = study.datasets[run.dataset].task
            yield f"banks.{name}.dataset = {bank.dataset!r}: expected the task of {run.dataset}, {task}"
