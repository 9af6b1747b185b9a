"""`python -m cvoting <verb>`: every step of the pipeline, without Snakemake.

Verbs import what they need when they run: `voting` and `figure` work without torch, none waits for another's imports.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cvoting.errors import CvotingError


def fetch(args: argparse.Namespace) -> None:
    """Bring a source file from a mirror."""
    from cvoting.data import sources

    sources.fetch(sources.source_file(args.name), args.mirror, args.out)


def data(args: argparse.Namespace) -> None:
    """Build a dataset."""
    from cvoting.data.registry import SOURCES
    from cvoting.params.core import build
    from cvoting.params.datasets import DatasetParams
    from cvoting.run_record import record_run

    name = args.recipe["dataset"]
    params = build(DatasetParams, {k: v for k, v in args.recipe.items() if k != "dataset"}, f"datasets.{name}")
    with record_run(args.out / name, recipe=args.recipe):
        splits = SOURCES[params.source.kind](name, params.task, params.source, args.raw)
        for split, puzzles in splits.items():
            puzzles.save(args.out / f"{split}.npz")


def train(args: argparse.Namespace) -> None:
    """Train a model with one seed."""
    import pandas as pd

    from cvoting.atomic import atomic_path
    from cvoting.checkpoint import Checkpoint
    from cvoting.devices import choose_device
    from cvoting.params.core import build
    from cvoting.params.training import TrainingParams
    from cvoting.run_record import content_key, record_run
    from cvoting.training.loop import train

    recipe = args.recipe
    task, model = make_task(recipe["task"]), make_model(recipe["network"], recipe["task"])
    params = build(TrainingParams, recipe["training"], "training")
    puzzles, validation = (read_puzzles(path, task) for path in (args.train, args.validation))
    resume = args.partial / f"{content_key(json.dumps(recipe), args.code, args.train, args.validation)}.safetensors"
    device = choose_device(args.threads)
    label = f"{recipe['run']} seed {recipe['training_seed']}"
    with record_run(args.out, recipe=recipe, code=args.code, device=str(device), threads=args.threads):
        trained = train(model, task, puzzles, validation, params, recipe["training_seed"], resume, device, label)
        about = {**recipe, "initial_state": model.initial_state_kind}
        Checkpoint(about, trained.average.state_dict(), trained.model.state_dict()).save(args.out)
        with atomic_path(args.log) as temporary:
            pd.DataFrame(trained.log).to_csv(temporary, index=False)
    resume.unlink(missing_ok=True)


def rollouts(args: argparse.Namespace) -> None:
    """Roll out one shard of a bank."""
    from cvoting.bank import BankHeader
    from cvoting.checkpoint import Checkpoint
    from cvoting.devices import choose_device
    from cvoting.params.core import build
    from cvoting.params.rollouts import RolloutPlan
    from cvoting.rollouts import roll_out
    from cvoting.run_record import content_key, record_run

    recipe, checkpoint = args.recipe, Checkpoint.load(args.checkpoint)
    about = checkpoint.about
    task, model = make_task(about["task"]), make_model(about["network"], about["task"])
    checkpoint.load_into(model)
    puzzles = read_puzzles(args.puzzles, task)
    plan = build(RolloutPlan, recipe["plan"], "plan")
    header = BankHeader(
        run=about["run"],
        model=about["model"],
        dataset=recipe["dataset"],
        split=recipe["split"],
        origin=puzzles.origin,
        source=puzzles.source,
        T_eval=plan.T_eval,
        training_seed=about["training_seed"],
        inference_seed=recipe["inference_seed"],
        shards=plan.shards,
        shard=plan.shard,
    )
    partial = args.partial / content_key(json.dumps(recipe), args.code, args.checkpoint, args.puzzles)
    device = choose_device(args.threads)
    with record_run(args.out, recipe=recipe, code=args.code, device=str(device), threads=args.threads):
        roll_out(model, task, puzzles, plan, header, args.out, partial, device)


def voting(args: argparse.Namespace) -> None:
    """Compute the voting tables of a bank."""
    from cvoting.params.core import build
    from cvoting.params.voting import VotingParams
    from cvoting.run_record import record_run
    from cvoting.tables import write_voting

    recipe = args.recipe
    params, task = build(VotingParams, recipe["voting"], "voting"), make_task(recipe["task"])
    with record_run(args.out, recipe=recipe):
        write_voting(args.shards, params, task, recipe["study"], args.out, args.paired)


def figure(args: argparse.Namespace) -> None:
    """Draw a figure."""
    from cvoting.figures.registry import FIGURES
    from cvoting.run_record import record_run

    name = args.recipe["figure"]
    module = choose("figure", name, FIGURES)
    with record_run(args.out_dir / name, recipe=args.recipe):
        module.write(args.recipe, args.tables, args.published, args.out_dir)


def schema(args: argparse.Namespace) -> None:
    """Write the schema of params.yaml, or check that it is up to date."""
    from cvoting.params.schema import study_schema

    text = study_schema()
    if not args.check:
        args.file.write_text(text)
    elif args.file.read_text() != text:
        raise CvotingError(f"{args.file} is not that of the classes in cvoting.params: run `python -m cvoting schema`")


def recipe(args: argparse.Namespace) -> None:
    """Print the recipe of a job of a study."""
    import yaml

    from cvoting import recipes
    from cvoting.params.core import build
    from cvoting.params.study import Study

    stages = {
        "data": (),
        "train": ("training seed",),
        "rollouts": ("inference seed", "shard"),
        "voting": (),
        "figure": (),
    }
    wanted = choose("stage", args.stage, stages)
    if len(args.numbers) != len(wanted):
        raise CvotingError(f"{args.stage} {args.numbers}: expected {', '.join(wanted) or 'no number'} after the name")
    study = build(Study, yaml.safe_load(args.params.read_text()))
    blocks = {"data": study.datasets, "train": study.runs, "figure": list(study.figures)}
    choose(args.stage, args.name, dict.fromkeys(blocks.get(args.stage, study.banks)))
    print(getattr(recipes, args.stage)(study, args.name, *args.numbers))


def choose(what: str, name: str, choices: dict[str, Any]) -> Any:
    """An entry of a registry.

    Raises:
        CvotingError: with the choices, for an unknown name.
    """
    if name not in choices:
        raise CvotingError(f"unknown {what} {name!r}: expected one of {', '.join(choices)}")
    return choices[name]


def make_task(block: dict[str, Any]) -> Any:
    """The task of a parameter block."""
    from cvoting.params.core import build
    from cvoting.tasks.registry import TASKS

    return build(choose("task", block["name"], TASKS), block, "task")


def make_model(network: dict[str, Any], task: dict[str, Any]) -> Any:
    """The untrained model of a parameter block, sized for a task."""
    from cvoting.models.registry import MODELS
    from cvoting.params.core import build

    model, sized = choose("model", network["architecture"], MODELS), make_task(task)
    return model(build(model.Params, network, "network"), sized.grid, sized.vocabulary, sized.classes)


def read_puzzles(path: Path, task: Any) -> Any:
    """The puzzles of a file.

    Raises:
        DataError: when they are not of the task.
    """
    from cvoting.data.puzzles import DataError, Puzzles

    puzzles = Puzzles.load(path)
    cells = puzzles.questions.shape[1]
    if cells != task.cells:
        raise DataError(f"{path}: puzzles of {cells} cells, expected the {task.cells} of {task}")
    return puzzles


class Recipe(dict[str, Any]):
    """A job's parameters; a missing one is the user's mistake."""

    def __missing__(self, name: str) -> Any:
        raise CvotingError(f"the recipe has no {name!r}, only {', '.join(self) or 'nothing'}: see `cvoting recipe`")


def read_recipe(text: str) -> Recipe:
    """A recipe from JSON text, or from a JSON file where the text is a file's name."""
    try:
        content = text if text.lstrip().startswith("{") else Path(text).read_text()
        return json.loads(content, object_hook=Recipe)
    except (OSError, json.JSONDecodeError) as error:
        raise argparse.ArgumentTypeError(f"expected JSON or the name of a JSON file: {error}") from error


def parser() -> argparse.ArgumentParser:
    """The command line."""
    main_parser = argparse.ArgumentParser(prog="python -m cvoting", description=__doc__)
    verbs = main_parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(run: Callable[[argparse.Namespace], None], *positional: str, **options: Any) -> argparse.ArgumentParser:
        sub = verbs.add_parser(run.__name__, help=run.__doc__, description=run.__doc__)
        sub.set_defaults(run=run)
        for name in positional:
            sub.add_argument(name, type=read_recipe if name == "recipe" else str)
        for name, kind in options.items():
            sub.add_argument(f"--{name.replace('_', '-')}", type=kind, required=True)
        return sub

    sub = verb(fetch, "name", out=Path)
    sub.add_argument("--mirror", type=Path, nargs="*", default=[], help="folders searched first")
    verb(data, "recipe", raw=Path, out=Path)
    resumable = {"partial": Path, "code": str, "threads": int}
    verb(train, "recipe", train=Path, validation=Path, out=Path, log=Path, **resumable)
    verb(rollouts, "recipe", checkpoint=Path, puzzles=Path, out=Path, **resumable)
    verb(voting, "recipe", out=Path, paired=Path).add_argument("shards", type=Path, nargs="+")
    verb(figure, "recipe", published=Path, out_dir=Path).add_argument("tables", type=Path, nargs="+")
    sub = verb(schema)
    sub.add_argument("--file", type=Path, default=Path("workflow/schemas/params.schema.yaml"))
    sub.add_argument("--check", action="store_true", help="fail when the file is not up to date")
    sub = verb(recipe, "stage", "name")
    sub.add_argument("numbers", nargs="*", type=int, help="training seed, or inference seed and shard")
    sub.add_argument("--params", type=Path, default=Path("params.yaml"))
    return main_parser


def main() -> int:
    """Run a verb; a problem with the input, or with a file, is one message and exit status 1."""
    args = parser().parse_args()
    try:
        args.run(args)
    except (CvotingError, OSError) as error:
        print(f"cvoting {args.verb}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
