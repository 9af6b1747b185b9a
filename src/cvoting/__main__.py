"""`python -m cvoting <verb>`: every step of the pipeline, without Snakemake.

Verbs import what they need when they run: `voting` and `figure` work without torch, none waits for another's imports.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cvoting.command_cost import add_cost_verbs
from cvoting.command_inputs import choose, make_model, make_task, read_puzzles, read_recipe
from cvoting.command_models import add_model_verbs
from cvoting.command_pages import add_page_verbs
from cvoting.command_tables import add_table_verbs
from cvoting.errors import CvotingError, message


def fetch(args: argparse.Namespace) -> None:
    """Bring a source file from a mirror or its address."""
    from cvoting.data.download import fetch
    from cvoting.data.sources import source_file

    fetch(source_file(args.name).accepting(args.sha256), args.mirror, args.out)


def data(args: argparse.Namespace) -> None:
    """Build a dataset."""
    from cvoting.data.registry import SOURCES
    from cvoting.params.core import build
    from cvoting.params.datasets import DatasetParams
    from cvoting.run_record import record_run

    name = str(args.recipe["dataset"])
    params = build(DatasetParams, {k: v for k, v in args.recipe.items() if k != "dataset"}, f"datasets.{name}")
    with record_run(args.out / name, recipe=args.recipe):
        splits = SOURCES[params.source.kind](name, params.task, params.source, args.raw)
        for split, puzzles in splits.items():
            puzzles.save(args.out / f"{split}.npz")


def audit(args: argparse.Namespace) -> None:
    """Audit sets of puzzles: sound puzzles, duplicates, overlap; exit status 1 when there are defects."""
    from contextlib import nullcontext

    from cvoting.data.audit import audit
    from cvoting.data.audit_files import read_sets
    from cvoting.data.audit_registry import AUDITORS
    from cvoting.data.audit_report import text, write_csv, write_json
    from cvoting.run_record import record_run

    task = make_task(args.task)
    auditor = choose("task with an audit", task.name, AUDITORS)(task)
    sets, refused = read_sets(args.files, task)
    against, also_refused = read_sets(args.against, task)
    with record_run(args.json, task=args.task) if args.json else nullcontext():
        found = audit(auditor, sets, against, refused | also_refused)
        print(text(found, args.strict), flush=True)
        if args.csv:
            write_csv(found, args.csv)
        if args.json:
            write_json(found, args.json, args.strict)
        if defects := found.defects(args.strict):
            raise CvotingError("\n  ".join(["defects, of which the report says more:", *defects]))


def train(args: argparse.Namespace) -> None:
    """Train a model with one seed; in CVOTING_PROCESSES processes, where that is set and nobody started them."""
    _start_processes(os.environ.get("CVOTING_PROCESSES", "1"))
    import pandas as pd

    from cvoting.atomic import atomic_path
    from cvoting.checkpoint import Checkpoint
    from cvoting.devices import choose_device
    from cvoting.params.core import build
    from cvoting.params.training import TrainingParams
    from cvoting.preemption import sigterm_noticed
    from cvoting.run_record import content_key, record_run
    from cvoting.training.loop import train
    from cvoting.training.objective_registry import OBJECTIVES
    from cvoting.training.processes import joined_processes

    recipe = args.recipe
    task, model = make_task(recipe["task"]), make_model(recipe["network"], recipe["task"])
    params = build(TrainingParams, recipe["training"], "training")
    puzzles, validation = (read_puzzles(path, task) for path in (args.train, args.validation))
    resume = args.partial / f"{content_key(json.dumps(recipe), args.code, args.train, args.validation)}.safetensors"
    device = choose_device(args.threads)
    label = f"{recipe['run']} seed {recipe['training_seed']}"
    objective = OBJECTIVES[params.objective](model, params, recipe["training_seed"])
    with joined_processes(device) as processes, sigterm_noticed() as stopping:
        details = {"device": str(device), "threads": args.threads, "processes": processes.count}
        with record_run(args.out, processes.writes, recipe=recipe, code=args.code, **details):
            trained = train(objective, task, puzzles, validation, resume, processes, label, stopping)
            if processes.writes:
                about = {**recipe, "initial_state": model.initial_state_kind}
                Checkpoint(about, trained.average.state_dict(), trained.model.state_dict()).save(args.out)
                with atomic_path(args.curves) as temporary:
                    pd.DataFrame(trained.log).to_csv(temporary, index=False)
                resume.unlink(missing_ok=True)


def _start_processes(wanted: str) -> None:
    """Become `torchrun`, which starts this command in several processes; in those, and for one, do nothing.

    Raises:
        CvotingError: for what is no number of processes.
    """
    if not wanted.isdecimal() or int(wanted) < 1:
        raise CvotingError(f"CVOTING_PROCESSES = {wanted!r}: expected a number of processes, 1 or more")
    if int(wanted) > 1 and "WORLD_SIZE" not in os.environ:
        command = ("-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={wanted}", "-m", "cvoting")
        os.execv(sys.executable, [sys.executable, *command, *sys.argv[1:]])


def rollouts(args: argparse.Namespace) -> None:
    """Roll out one shard of a bank."""
    from cvoting.bank import BankHeader
    from cvoting.checkpoint import Checkpoint
    from cvoting.devices import choose_device
    from cvoting.params.core import build
    from cvoting.params.rollouts import RolloutPlan
    from cvoting.rollouts import prepare_start, roll_out
    from cvoting.run_record import content_key, record_run

    recipe, checkpoint = args.recipe, Checkpoint.load(args.checkpoint)
    about = checkpoint.about
    task, model = make_task(about["task"]), make_model(about["network"], about["task"])
    plan = build(RolloutPlan, recipe["plan"], "plan")
    checkpoint.load_into(model, plan.weights)
    prepare_start(
        model, about.get("initial_state", model.initial_state_kind), plan.candidates, plan.random_start_anyway
    )
    puzzles = read_puzzles(args.puzzles, task)
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


def provenance(args: argparse.Namespace) -> None:
    """Say what made a file, up the chain to puzzles and seeds; with --verify, whether all of it is still so."""
    from cvoting.provenance_chain import ProvenanceError, chain, described, verify

    links = chain(args.output)
    print(described(links))
    if args.verify:
        here = [link for link in links if Path(link.path).exists()]
        if problems := verify(links):
            raise ProvenanceError("\n  ".join(["not as the lock file says:", *problems]))
        print(f"verified: {len(here)} of {len(links)} files are here, with the contents that the lock file says")


def recipe(args: argparse.Namespace) -> None:
    """Print the recipe of a job of a study."""
    from cvoting import recipes
    from cvoting.params.reading import read_study

    stages = {
        "data": (),
        "audit": (),
        "strata": (),
        "train": ("training seed",),
        "import_run": ("training seed",),
        "rollouts": ("inference seed", "shard"),
        "voting": (),
        "by_difficulty": (),
        "steps": (),
        "adaptive": (),
        "scaling": (),
        "calibration": (),
        "discrimination": (),
        "trajectories": (),
        "solved_board": (),
        "figure": (),
        "table": (),
        "summary": (),
        "claims": (),
    }
    wanted = choose("stage", args.stage, stages)
    if len(args.numbers) != len(wanted):
        raise CvotingError(f"{args.stage} {args.numbers}: expected {', '.join(wanted) or 'no number'} after the name")
    study = read_study(args.configfile)
    blocks = {
        "data": study.datasets,
        "audit": study.datasets,
        "strata": recipes.tested(study),
        "train": {name: run for name, run in study.runs.items() if not run.imported},
        "import_run": {name: run for name, run in study.runs.items() if run.imported},
        "rollouts": study.banks,
        "by_difficulty": study.banks,
        "figure": dict(study.figures.items()),
        "table": dict(study.tables.items()),
        "summary": {study.study: study},
        "claims": {study.study: study},
    }
    made = {name: bank for name, bank in study.banks.items() if args.stage in study.tables_of(name)}
    choose(args.stage, args.name, dict(blocks.get(args.stage, made)))
    of = () if args.stage in ("summary", "claims") else (args.name, *args.numbers)
    print(getattr(recipes, args.stage)(study, *of))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    main_parser = argparse.ArgumentParser(prog="python -m cvoting", description=__doc__)
    verbs = main_parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(run: Callable[[argparse.Namespace], None], *positional: str, **options: Any) -> argparse.ArgumentParser:
        sub = verbs.add_parser(run.__name__.replace("_", "-"), help=run.__doc__, description=run.__doc__)
        sub.set_defaults(run=run)
        for name in positional:
            sub.add_argument(name, type=read_recipe if name == "recipe" else str)
        for name, kind in options.items():
            sub.add_argument(f"--{name.replace('_', '-')}", type=kind, required=True)
        return sub

    sub = verb(fetch, "name", out=Path)
    sub.add_argument("--mirror", type=Path, nargs="*", default=[], help="folders searched first")
    sub.add_argument("--sha256", help="checksum of a re-exported file that you trust in place of ours")
    verb(data, "recipe", raw=Path, out=Path)
    sub = verb(audit)
    sub.add_argument("files", type=Path, nargs="+", metavar="FILE", help="built sets (.npz) or published CSV files")
    sub.add_argument("--against", type=Path, nargs="*", default=[], help="sets to compare with, not audited themselves")
    sub.add_argument("--task", type=read_recipe, default='{"name": "sudoku", "box": [3, 3]}', help="a task's block")
    sub.add_argument("--strict", action="store_true", help="equality up to symmetry is a defect")
    sub.add_argument("--csv", type=Path, help="write a table with one row per set")
    sub.add_argument("--json", type=Path, help="write everything")
    resumable = {"partial": Path, "code": str, "threads": int}
    verb(train, "recipe", train=Path, validation=Path, out=Path, curves=Path, **resumable)
    verb(rollouts, "recipe", checkpoint=Path, puzzles=Path, out=Path, **resumable)
    add_model_verbs(verb)
    add_table_verbs(verb)
    sub = verb(provenance, "output")
    sub.add_argument("--verify", action="store_true", help="compare the contents of every file with the lock file")
    add_cost_verbs(verb)
    add_page_verbs(verb)
    sub = verb(recipe, "stage", "name")
    sub.add_argument("numbers", nargs="*", type=int, help="training seed, or inference seed and shard")
    sub.add_argument("--configfile", type=Path, default=Path("params.yaml"))
    return main_parser


def main() -> int:
    """Run a verb; a problem with input, files or the machine is one message and exit status 1.

    Ctrl-C is 130, and what SIGTERM ended in order 143, as shells say it.
    """
    # The shells of jobs ignore it, and what they start would too.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    args = parser().parse_args()
    try:
        args.run(args)
    except (Exception, KeyboardInterrupt) as error:
        if (text := message(error)) is None:
            raise
        print(f"cvoting {args.verb}: {text}", file=sys.stderr)
        return 130 if isinstance(error, KeyboardInterrupt) else getattr(error, "status", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
