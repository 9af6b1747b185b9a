"""The verbs that turn a file of weights into a checkpoint, and a checkpoint into answers.

Imports wait until they are needed, as in `__main__`.
"""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from cvoting.command_inputs import choose, make_model, make_task, positive, read_setting
from cvoting.errors import CvotingError
from cvoting.params.imported import RELEASED

#: K of a solved puzzle.
CANDIDATES = 64


def import_checkpoint(args: argparse.Namespace) -> None:
    """Turn a file of weights of released code (torch or safetensors) into a checkpoint; pickled code is never run."""
    from cvoting.import_checkpoint import import_checkpoint
    from cvoting.models.released_file import read_config
    from cvoting.models.released_registry import FORMATS
    from cvoting.models.released_settings import Settings
    from cvoting.run_record import record_run

    form = choose("format", args.format, FORMATS)
    if args.out.exists() and args.out.samefile(args.file):
        raise CvotingError(f"{args.out}: expected another file than the one that is imported: name a new one")
    names = {"run": args.run_name or args.file.stem, "model": args.model or args.format}
    about = {**names, "training_seed": args.training_seed}
    with record_run(args.out, format=args.format, file=str(args.file), set=dict(args.set)):
        settings = Settings(dict(args.set), read_config(args.file))
        checkpoint, lines = import_checkpoint(args.format, form, args.file, settings, about)
        checkpoint.save(args.out)
    print(*lines, f"wrote {args.out}", sep="\n")


def import_run(args: argparse.Namespace) -> None:
    """Make the checkpoint of a run whose weights come from a file."""
    from cvoting.import_run import import_run
    from cvoting.models.released_registry import FORMATS
    from cvoting.run_record import record_run

    recipe = args.recipe
    released = recipe["imported"]["format"] == "released"
    form = choose("format of released weights", recipe["network"]["architecture"], FORMATS) if released else None
    with record_run(args.out, recipe=recipe, code=args.code):
        checkpoint, lines = import_run(recipe, args.file, form)
        checkpoint.load_into(make_model(recipe["network"], recipe["task"]))
        checkpoint.save(args.out)
    print(*lines, sep="\n")


def solve(args: argparse.Namespace) -> None:
    """Solve puzzles with a trained model: the most confident of K candidates, and how the candidates split."""
    from cvoting.checkpoint import Checkpoint
    from cvoting.data.questions import parse_question, read_questions
    from cvoting.devices import choose_device
    from cvoting.rollouts import prepare_start
    from cvoting.solve import default_steps, describe, solve

    checkpoint = Checkpoint.load(args.checkpoint)
    about = checkpoint.about
    task, model = make_task(about["task"]), make_model(about["network"], about["task"])
    checkpoint.load_into(model)
    steps, why = (args.steps, "as --steps says") if args.steps else default_steps(model, about)
    questions = read_questions(task, args.file) if args.file else [parse_question(task, args.puzzle, "the puzzle")]
    start = about.get("initial_state", model.initial_state_kind)
    candidates = args.k or (1 if start == "fixed" and not args.random_start_anyway else CANDIDATES)
    prepare_start(model, start, candidates, args.random_start_anyway)
    device = choose_device(args.threads)
    print(f"steps: {steps}, {why}" + ("" if args.steps else "; --steps changes them") + "\n")
    for number, question in enumerate(questions, start=1):
        if len(questions) > 1:
            print("\n" * (number > 1) + f"puzzle {number} of {len(questions)}\n")
        print(describe(task, solve(model, task, question, candidates, steps, args.seed, device)), flush=True)


def add_model_verbs(verb: Callable[..., argparse.ArgumentParser]) -> None:
    """Add these verbs to the command line, whose `verb` makes a parser of arguments."""
    sub = verb(import_checkpoint)
    sub.add_argument("--format", required=True, help=f"the released code that wrote the file: {' or '.join(RELEASED)}")
    sub.add_argument("file", type=Path, metavar="FILE", help="weights; all_config.yaml beside them is read too")
    sub.add_argument("out", type=Path, metavar="OUT", help="the checkpoint")
    sub.add_argument(
        "--set", type=read_setting, action="append", default=[], metavar="KEY=VALUE",
        help="what the weights do not tell, such as network.heads=8; once for each",
    )  # fmt: skip
    sub.add_argument("--run", dest="run_name", help="the run's name in tables and figures (default: FILE's)")
    sub.add_argument("--model", help="the model's name there (default: the format's)")
    sub.add_argument("--training-seed", type=int, default=0, help="the seed it was trained with, a column of tables")
    verb(import_run, "recipe", file=Path, out=Path, code=str)
    sub = verb(solve, checkpoint=Path)
    given = sub.add_mutually_exclusive_group(required=True)
    given.add_argument("--puzzle", help="a question, row by row, rows joined or separated by / or line breaks")
    given.add_argument("--file", type=Path, help="questions, one per line, or one row per line")
    sub.add_argument("--k", type=positive, help=f"candidates (default: {CANDIDATES}, or 1 from a fixed start)")
    sub.add_argument(
        "--steps",
        type=positive,
        help="recurrent steps (default: twice those of the training; of HRM and the Transformer those)",
    )
    sub.add_argument("--seed", type=int, default=0, help="seed of the initial states (default: 0)")
    sub.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="CPU threads (default: all)")
    sub.add_argument(
        "--random-start-anyway", action="store_true",
        help="start at random states a model that was trained from a fixed one: expect worse answers",
    )  # fmt: skip
